//! A whole system for one test: database, provider, origins and edges, each of them real.

use crate::{
    answer::Answer,
    client::{Client, ORDER},
    database::Database,
    edge::{self, Edge},
    eventually::eventually,
    folder::Folder,
    links::Links,
    origin::{self, Origin},
    port,
    postgres::Postgres,
    sandbox::Sandbox,
};
use std::{fs, path::PathBuf, time::Duration};
use tokio::task::JoinHandle;
use xtask::artifacts::default_policy;

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
    /// Between the parts, where the test has asked for it.
    links: Option<Links>,
    /// Who is charged.
    pub sandbox: Sandbox,
    /// What is written down.
    pub database: Database,
    /// The server, where the test has one of its own.
    postgres: Option<Postgres>,
    _folder: Folder,
}

/// What a test wants that differs from one edge, one origin and a signed hop.
#[derive(Debug)]
#[must_use = "nothing starts by itself"]
pub struct Builder {
    edges: usize,
    origins: usize,
    edge_keys: Option<String>,
    origin_keys: Option<String>,
    own_postgres: bool,
    faulty_links: bool,
    policy: Option<String>,
    lease_seconds: u32,
    database_connections: u32,
    fail_at: Option<String>,
    lock_shards: u32,
    staged: bool,
}

impl World {
    /// One edge, one origin, a signed hop.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// For anything else.
    pub fn builder() -> Builder {
        Builder {
            edges: 1,
            origins: 1,
            edge_keys: Some(EDGE_KEYS.to_owned()),
            origin_keys: Some(EDGE_KEYS.to_owned()),
            own_postgres: false,
            faulty_links: false,
            policy: None,
            lease_seconds: 15,
            database_connections: 16,
            fail_at: None,
            lock_shards: 16,
            staged: false,
        }
    }

    /// A client of the first edge.
    pub fn client(&self) -> Client {
        self.edges[0].client()
    }

    /// The fault proxies of [`Builder::faulty_links`].
    pub fn links(&self) -> &Links {
        self.links.as_ref().expect("a world with faulty links")
    }

    /// The server of [`Builder::own_postgres`].
    pub fn postgres(&mut self) -> &mut Postgres {
        self.postgres
            .as_mut()
            .expect("a world with a Postgres of its own")
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

impl Builder {
    /// So many edges, none of which knows another.
    pub fn edges(self, edges: usize) -> Self {
        Self { edges, ..self }
    }

    /// So many origins on one database.
    pub fn origins(self, origins: usize) -> Self {
        Self { origins, ..self }
    }

    /// No signatures: everybody may call the origin, as in development.
    pub fn unsigned(self) -> Self {
        Self {
            edge_keys: None,
            origin_keys: None,
            ..self
        }
    }

    /// Edges sign with these keys, whatever the origins take.
    pub fn edge_keys(self, keys: &str) -> Self {
        Self {
            edge_keys: Some(keys.to_owned()),
            ..self
        }
    }

    /// A Postgres that the test may stop.
    pub fn own_postgres(self) -> Self {
        Self {
            own_postgres: true,
            ..self
        }
    }

    /// A fault proxy on every link.
    pub fn faulty_links(self) -> Self {
        Self {
            faulty_links: true,
            ..self
        }
    }

    /// Another policy.toml, for the origins alone: edges embed theirs when they are built.
    pub fn origin_policy(self, policy: &str) -> Self {
        Self {
            policy: Some(policy.to_owned()),
            ..self
        }
    }

    /// Origins whose attempts hold their records for so long, unrenewed.
    pub fn lease_seconds(self, lease_seconds: u32) -> Self {
        Self {
            lease_seconds,
            ..self
        }
    }

    /// Origins with short leases, the first of which dies at this point in its first life.
    pub fn dying_at(self, point: &str) -> Self {
        Self {
            fail_at: Some(format!("{point}=return")),
            ..self.lease_seconds(3)
        }
    }

    /// Origins with short leases, where the first attempt that comes to this point panics.
    pub fn panicking_at(self, point: &str) -> Self {
        Self {
            fail_at: Some(format!("{point}=1*panic")),
            ..self.lease_seconds(3)
        }
    }

    /// So many connections from each origin to Postgres.
    pub fn database_connections(self, database_connections: u32) -> Self {
        Self {
            database_connections,
            ..self
        }
    }

    /// So few shards that the flights of a test meet in one.
    pub fn lock_shards(self, lock_shards: u32) -> Self {
        Self {
            lock_shards,
            ..self
        }
    }

    /// Edges whose shards and Wasm can be broken on demand, see `stage.js`.
    pub fn staged(self) -> Self {
        Self {
            staged: true,
            ..self
        }
    }

    /// Starts it all; everything is ready when this returns.
    pub async fn start(self) -> World {
        let folder = Folder::create();
        let (postgres, database) = self.start_store(&folder).await;
        let sandbox = Sandbox::start().await;
        let port = port::free();
        let links = if self.faulty_links {
            Some(Links::start(&database, &sandbox, port).await)
        } else {
            None
        };
        let mut origin = origin::Options {
            port,
            database_url: database.url(),
            provider_url: sandbox.url(),
            policy: self.policy_file(&folder),
            edge_keys: self.origin_keys.clone(),
            webhook_url: format!("{}/_sandbox/webhook", sandbox.url()),
            lease_seconds: self.lease_seconds,
            database_connections: self.database_connections,
            fail_at: self.fail_at.clone(),
            log: PathBuf::new(),
        };
        if let Some(links) = &links {
            origin.database_url = database.url_by_port(links.to_store.address().port());
            origin.provider_url = links.to_provider.url();
        }
        let origins = self.start_origins(origin, &folder).await;
        let edges = self.start_edges(&origins, links.as_ref(), &folder).await;
        World {
            edges,
            origins,
            links,
            sandbox,
            database,
            postgres,
            _folder: folder,
        }
    }

    async fn start_store(&self, folder: &Folder) -> (Option<Postgres>, Database) {
        if !self.own_postgres {
            return (None, Database::create().await);
        }
        let postgres = Postgres::start(folder.path()).await;
        let database = Database::create_on(&postgres.url()).await;
        (Some(postgres), database)
    }

    async fn start_origins(&self, first: origin::Options, folder: &Folder) -> Vec<Origin> {
        let mut origins: Vec<Origin> = Vec::new();
        for n in 0..self.origins {
            let port = if n == 0 { first.port } else { port::free() };
            let log = folder.file(&format!("origin-{n}.log"));
            origins.push(
                Origin::start(origin::Options {
                    port,
                    log,
                    ..first.clone()
                })
                .await,
            );
        }
        origins
    }

    async fn start_edges(
        &self,
        origins: &[Origin],
        links: Option<&Links>,
        folder: &Folder,
    ) -> Vec<Edge> {
        let mut edges = Vec::new();
        for n in 0..self.edges {
            let origin_url = match links {
                Some(links) if n == 0 => links.to_origin.url(),
                _ => origins[n % origins.len()].url(),
            };
            let log = folder.file(&format!("edge-{n}.log"));
            let options = edge::Options {
                edge_keys: self.edge_keys.clone(),
                lock_shards: self.lock_shards,
                stage: self.staged.then(|| folder.file(&format!("stage-{n}"))),
                ..edge::Options::new(origin_url, log)
            };
            edges.push(Edge::start(options).await);
        }
        edges
    }

    fn policy_file(&self, folder: &Folder) -> PathBuf {
        let Some(policy) = &self.policy else {
            return default_policy();
        };
        let file = folder.file("policy.toml");
        fs::write(&file, policy).expect("a writable folder");
        file
    }
}
