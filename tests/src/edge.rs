//! The edge on real workerd, which a test may kill and start again.

use crate::{client::Client, port};
use std::{fs, path::PathBuf, sync::LazyLock};
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
    /// `EDGE_KEYS`, unless it does not sign.
    pub edge_keys: Option<String>,
    /// Where its log goes.
    pub log: PathBuf,
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
            edge_keys,
            log,
        } = options;
        let keys = edge_keys.map(|keys| ("EDGE_KEYS".to_owned(), keys));
        let worker = spawn_blocking(|| WORKER.clone())
            .await
            .expect("a Worker that builds");
        let options = edge::Options {
            worker,
            runtime: Runtime::Workerd,
            port: port::free(),
            bindings: [("ORIGIN_URL".to_owned(), origin_url)]
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

/// The Worker with the project's own policy, built once for all tests.
static WORKER: LazyLock<PathBuf> = LazyLock::new(|| {
    let worker = Setup::ensure()
        .and_then(|setup| Worker::new(Profile::Dev, &default_policy())?.build(&setup));
    worker.unwrap_or_else(|failure| panic!("the Worker can't be built: {failure}"))
});
