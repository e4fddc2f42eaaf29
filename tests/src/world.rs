//! A whole system for one test: database, provider, origins and edges, each of them real.

mod builder;

pub use builder::Builder;

use crate::{
    answer::Answer,
    client::{Client, ORDER},
    database::Database,
    edge::Edge,
    eventually::eventually,
    folder::Folder,
    links::Links,
    origin::Origin,
    postgres::Postgres,
    sandbox::Sandbox,
    upstream::Upstream,
};
use std::time::Duration;
use tokio::task::JoinHandle;

/// The keys of the signed hop, on both sides: `new` signs, `old` is still taken.
pub const EDGE_KEYS: &str =
    "new:bmV3IGtleSBvZiB0aGUgc2lnbmVkIGhvcA==,old:b2xkIGtleSBvZiB0aGUgc2lnbmVkIGhvcA==";

/// The parts, in the order in which they end.
#[derive(Debug)]
pub struct World {
    /// Each with a lock of its own; the n-th calls the n-th origin.
    pub edges: Vec<Edge>,
    /// All on one database.
    pub origins: Vec<Origin>,
    /// Between the parts, for each origin, where the test has asked for it.
    pub links: Vec<Links>,
    /// Who is charged.
    pub sandbox: Sandbox,
    /// Behind the gateway, where the test has asked for it.
    upstream: Option<Upstream>,
    /// What is written down.
    pub database: Database,
    /// The server, where the test has one of its own.
    pub postgres: Option<Postgres>,
    folder: Folder,
}

impl World {
    /// One edge, one origin, a signed hop.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// For anything else.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A client of the first edge.
    pub fn client(&self) -> Client {
        self.edges[0].client()
    }

    /// The first origin's fault proxies of [`Builder::faulty_links`].
    pub fn links(&self) -> &Links {
        self.links.first().expect("a world with faulty links")
    }

    /// The server of [`Builder::own_postgres`].
    pub fn postgres(&mut self) -> &mut Postgres {
        self.postgres
            .as_mut()
            .expect("a world with a Postgres of its own")
    }

    /// The upstream of [`Builder::gateway`].
    pub fn upstream(&mut self) -> &mut Upstream {
        self.upstream.as_mut().expect("a world with a gateway")
    }

    /// Places [`ORDER`] at the first edge and returns while it is being charged, which takes
    /// `delay_ms`.
    pub async fn begin_order(
        &self,
        key: &str,
        delay_ms: u32,
    ) -> JoinHandle<reqwest::Result<Answer>> {
        self.sandbox.delay(delay_ms).await;
        let placed = tokio::spawn(Answer::to(self.client().order(key, ORDER)));
        let charging = async || self.sandbox.is_busy().await;
        eventually("a charge that runs", Duration::from_secs(10), charging).await;
        placed
    }

    /// Fails unless exactly `count` orders exist, each with one succeeded charge and one row of
    /// each event.
    pub async fn assert_orders(&self, count: i64) {
        let charges = self.sandbox.charges().await;
        let paid = charges
            .iter()
            .filter(|charge| charge.status == "succeeded")
            .count();
        assert_eq!(i64::try_from(paid), Ok(count), "{charges:?}");
        assert_eq!(self.database.orders().await, count, "orders");
        for event in ["payment.succeeded", "order.created"] {
            assert_eq!(self.database.events(event).await, count, "{event}");
        }
    }
}
