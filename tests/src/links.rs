//! The links between the parts of a world, where a test may break them.

use crate::{database::Database, fault_proxy::FaultProxy, sandbox::Sandbox};
use std::net::Ipv4Addr;

/// A fault proxy on each link of one origin.
#[derive(Debug)]
pub struct Links {
    /// From its edges.
    pub to_origin: FaultProxy,
    /// To Postgres.
    pub to_store: FaultProxy,
    /// To the provider.
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
