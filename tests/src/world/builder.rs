//! What a test's world is made of.

use super::{EDGE_KEYS, World};
use crate::{
    database::Database,
    edge::{self, Edge},
    folder::Folder,
    links::Links,
    origin::{self, Origin},
    port,
    postgres::Postgres,
    sandbox::Sandbox,
    upstream::{self, Upstream},
};
use std::{fs, path::PathBuf};
use xtask::{artifacts::default_policy, edge::Runtime, project};

/// What the origins of a world seal stored heads with.
const SEALING_KEYS: &str = "dGhlIHNlYWxpbmcga2V5IG9mIHRoZSB0ZXN0cyEhISE=";

/// What a test wants that differs from one edge, one origin and a signed hop.
#[derive(Debug)]
#[must_use = "nothing starts by itself"]
pub struct Builder {
    edges: usize,
    origins: usize,
    edge_keys: Option<String>,
    origin_keys: Option<String>,
    sealing_keys: Option<String>,
    own_postgres: bool,
    faulty_links: bool,
    policy: Policy,
    lease_seconds: u32,
    database_connections: u32,
    fail_at: Option<String>,
    lock_shards: u32,
    webhook_url: Option<String>,
    unfenced: bool,
    run: Run,
}

/// Which policy holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Policy {
    /// The project's.
    Own,
    /// This one, for the origins alone.
    OfOrigins(String),
    /// That of the gateway's tests.
    Gateway,
    /// `callers.toml`.
    Callers,
}

/// What runs the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Bare,
    Staged,
    OneLock,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            edges: 1,
            origins: 1,
            edge_keys: Some(EDGE_KEYS.to_owned()),
            origin_keys: Some(EDGE_KEYS.to_owned()),
            sealing_keys: Some(SEALING_KEYS.to_owned()),
            own_postgres: false,
            faulty_links: false,
            policy: Policy::Own,
            lease_seconds: 15,
            database_connections: 16,
            fail_at: None,
            lock_shards: 16,
            webhook_url: None,
            unfenced: false,
            run: Run::Bare,
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

    /// Origins each process of which seals with a key of its own.
    pub fn unsealed(self) -> Self {
        Self {
            sealing_keys: None,
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
            policy: Policy::OfOrigins(policy.to_owned()),
            ..self
        }
    }

    /// The policy of the gateway's tests on both sides, and the upstream that it names.
    pub fn gateway(self) -> Self {
        Self {
            policy: Policy::Gateway,
            ..self
        }
    }

    /// The policy of `callers.toml` on both sides.
    pub fn callers(self) -> Self {
        Self {
            policy: Policy::Callers,
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
            run: Run::Staged,
            ..self
        }
    }

    /// Edges in processes of their own that share the shards of the first one, under wrangler.
    pub fn one_lock(self) -> Self {
        Self {
            run: Run::OneLock,
            ..self
        }
    }

    /// Events go there, not to the sandbox.
    pub fn webhook_url(self, url: String) -> Self {
        Self {
            webhook_url: Some(url),
            ..self
        }
    }

    /// Origins whose statements name no fence and no owner.
    pub fn unfenced(self) -> Self {
        Self {
            unfenced: true,
            ..self
        }
    }

    /// Starts it all; everything is ready when this returns.
    pub async fn start(self) -> World {
        let folder = Folder::create();
        let (postgres, database) = self.start_store(&folder).await;
        let sandbox = Sandbox::start().await;
        let webhook_url = format!("{}/_sandbox/webhook", sandbox.url());
        let upstream = self.start_upstream(&folder).await;
        let mut world = World {
            edges: Vec::new(),
            origins: Vec::new(),
            links: Vec::new(),
            sandbox,
            upstream,
            database,
            postgres,
            folder,
        };
        let origin = origin::Options {
            port: 0,
            database_url: world.database.url(),
            provider_url: world.sandbox.url(),
            policy: self.policy_file(&world.folder, world.upstream.as_ref()),
            edge_keys: self.origin_keys.clone(),
            sealing_keys: self.sealing_keys.clone(),
            webhook_url: self.webhook_url.clone().unwrap_or(webhook_url),
            lease_seconds: self.lease_seconds,
            database_connections: self.database_connections,
            fail_at: self.fail_at.clone(),
            unfenced: self.unfenced,
            log: PathBuf::new(),
        };
        for n in 0..self.origins {
            self.add_origin(&mut world, n, origin.clone()).await;
        }
        for n in 0..self.edges {
            self.add_edge(&mut world, n).await;
        }
        world
    }

    async fn start_store(&self, folder: &Folder) -> (Option<Postgres>, Database) {
        if !self.own_postgres {
            return (None, Database::create().await);
        }
        let postgres = Postgres::start(folder.path()).await;
        let database = Database::create_on(&postgres.url()).await;
        (Some(postgres), database)
    }

    async fn add_origin(&self, world: &mut World, n: usize, mut options: origin::Options) {
        options.port = port::free();
        options.log = world.folder.file(&format!("origin-{n}.log"));
        if self.faulty_links {
            let links = Links::start(&world.database, &world.sandbox, options.port).await;
            let store = links.to_store.address().port();
            options.database_url = world.database.url_by_port(store);
            options.provider_url = links.to_provider.url();
            world.links.push(links);
        }
        world.origins.push(Origin::start(options).await);
    }

    async fn add_edge(&self, world: &mut World, n: usize) {
        let through = n % world.origins.len().max(1);
        let origin_url = match world.links.get(through) {
            Some(links) => links.to_origin.url(),
            None => world.origins[through].url(),
        };
        let folder = &world.folder;
        let log = folder.file(&format!("edge-{n}.log"));
        let options = edge::Options {
            policy: self.edge_policy(),
            edge_keys: self.edge_keys.clone(),
            lock_shards: self.lock_shards,
            stage: (self.run == Run::Staged).then(|| folder.file(&format!("stage-{n}"))),
            runtime: self.runtime(n, folder),
            ..edge::Options::new(origin_url, log)
        };
        world.edges.push(Edge::start(options).await);
    }

    fn runtime(&self, n: usize, folder: &Folder) -> Runtime {
        let state = |n| folder.file(&format!("wrangler-{n}"));
        match (self.run, n) {
            (Run::Bare | Run::Staged, _) => Runtime::Workerd,
            (Run::OneLock, 0) => Runtime::Wrangler(state(0)),
            (Run::OneLock, _) => Runtime::WranglerGuest {
                folder: state(n),
                owner: state(0),
            },
        }
    }

    async fn start_upstream(&self, folder: &Folder) -> Option<Upstream> {
        if self.policy != Policy::Gateway {
            return None;
        }
        Some(Upstream::start(folder.file("upstream.log")).await)
    }

    fn edge_policy(&self) -> PathBuf {
        match self.policy {
            Policy::Gateway => upstream::policy(),
            Policy::Callers => project::root().join("tests/callers.toml"),
            Policy::Own | Policy::OfOrigins(_) => default_policy(),
        }
    }

    fn policy_file(&self, folder: &Folder, upstream: Option<&Upstream>) -> PathBuf {
        let policy = match (&self.policy, upstream) {
            (Policy::OfOrigins(policy), _) => policy.clone(),
            (Policy::Gateway, Some(upstream)) => upstream.policy(),
            _ => return self.edge_policy(),
        };
        let file = folder.file("policy.toml");
        fs::write(&file, policy).expect("a writable folder");
        file
    }
}
