//! The links between the parts of a world, where a test may break them.

use crate::{database::Database, fault_proxy::FaultProxy, sandbox::Sandbox};
use std::net::Ipv4Addr;

/// A fault proxy on each link of the first edge and the first origin.
#[derive(Debug)]
pub struct Links {
    /// From the first edge to the first origin.
    pub to_origin: FaultProxy,
    /// From all origins to Postgres.
    pub to_store: FaultProxy,
    /// From all origins to the provider.
    pub to_provider: FaultProxy,
}

impl Links {
    pub(crate) async fn start(database: &Database, sandbox: &Sandbox, origin_port: u16) -> Self {
        Self {
            to_origin: FaultProxy::start((Ipv4Addr::LOCALHOST, origin_port).into()).await,
            to_store: FaultProxy::start(database.server_address()).await,
            to_provider: FaultProxy::start(sandbox.address()).await,
        }
    }
}
