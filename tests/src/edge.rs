//! The edge on real workerd, which a test may kill and start again.

use crate::{client::Client, origin::JWT_SECRET, port, tokens::Vectors};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tokio::task::spawn_blocking;
use xtask::{
    artifacts::{Profile, Worker, default_policy},
    edge::{self, Runtime},
    process::Log,
    setup::Setup,
};

/// What an edge is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// `ORIGIN_URL`.
    pub origin_url: String,
    /// The policy that it embeds.
    pub policy: PathBuf,
    /// `EDGE_KEYS`, unless it does not sign.
    pub edge_keys: Option<String>,
    /// `LOCK_SHARDS`.
    pub lock_shards: u32,
    /// The folder of a Worker that can be broken on demand, see `stage.js`.
    pub stage: Option<PathBuf>,
    /// What runs it.
    pub runtime: Runtime,
    /// Where its log goes.
    pub log: PathBuf,
}

impl Options {
    /// An unsigned edge of this origin, with the project's policy and the default number of shards.
    pub fn new(origin_url: String, log: PathBuf) -> Self {
        Self {
            origin_url,
            policy: default_policy(),
            edge_keys: None,
            lock_shards: 16,
            stage: None,
            runtime: Runtime::Workerd,
            log,
        }
    }
}

/// A running edge, or one that was killed.
#[derive(Debug)]
pub struct Edge {
    options: edge::Options,
    log: PathBuf,
    workerd: Option<edge::Edge>,
}

impl Edge {
    /// Starts one on a free port; it is ready when this returns.
    pub async fn start(options: Options) -> Self {
        let Options {
            origin_url,
            policy,
            edge_keys,
            lock_shards,
            stage,
            runtime,
            log,
        } = options;
        let keys = edge_keys.map(|keys| ("EDGE_KEYS".to_owned(), keys));
        let mut worker = spawn_blocking(move || built(policy))
            .await
            .expect("a Worker that builds");
        if let Some(stage) = stage {
            set_on_stage(&worker, &stage).expect("a folder for the Worker");
            worker = stage;
        }
        let options = edge::Options {
            worker,
            runtime,
            port: port::free(),
            bindings: [
                ("ORIGIN_URL", origin_url),
                ("LOCK_SHARDS", lock_shards.to_string()),
                ("JWT_HS256_SECRET", JWT_SECRET.to_owned()),
                ("JWT_JWKS", Vectors::read().jwks.to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .chain(keys)
            .collect(),
            log: Log::File(log.clone()),
        };
        let mut edge = Self {
            options,
            log,
            workerd: None,
        };
        edge.restart().await;
        edge
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(format!("http://127.0.0.1:{}", self.options.port))
    }

    /// What it has logged so far, in all its lives.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends it by SIGKILL; what it held in memory is lost.
    pub fn kill(&mut self) {
        drop(self.workerd.take());
    }

    /// Starts it again after its end, on the same port.
    pub async fn restart(&mut self) {
        let options = self.options.clone();
        // A blocking start must not hold up the proxies that it starts before.
        let started = spawn_blocking(move || edge::Edge::start(&options)).await;
        self.workerd = Some(started.expect("no panic").expect("an edge that starts"));
    }
}

fn set_on_stage(worker: &Path, stage: &Path) -> std::io::Result<()> {
    fs::create_dir_all(stage)?;
    fs::write(stage.join("index.js"), include_str!("stage.js"))?;
    fs::copy(worker.join("index.js"), stage.join("edge.js"))?;
    fs::copy(worker.join("index_bg.wasm"), stage.join("index_bg.wasm")).map(drop)
}

/// The Worker of a policy, built once for all tests.
fn built(policy: PathBuf) -> PathBuf {
    static BUILT: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = built.entry(policy).or_insert_with_key(|policy| {
        let worker =
            Setup::ensure().and_then(|setup| Worker::new(Profile::Dev, policy)?.build(&setup));
        worker.unwrap_or_else(|failure| panic!("the Worker can't be built: {failure}"))
    });
    worker.clone()
}
