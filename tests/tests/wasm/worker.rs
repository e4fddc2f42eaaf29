//! The Worker of `tests/worker`, running.

use tests::{client::Client, folder::Folder, port};
use tokio::task::spawn_blocking;
use xtask::{
    artifacts::{self, Profile},
    edge::{self, Runtime},
    process::Log,
    setup::Setup,
};

/// Ends with the test.
pub struct Worker {
    workerd: edge::Edge,
    _folder: Folder,
}

impl Worker {
    /// Builds it if need be; it is ready when this returns.
    pub async fn start() -> Self {
        let started = spawn_blocking(|| {
            let worker = artifacts::Worker::of_tests(Profile::Dev).build(&Setup::ensure()?)?;
            let folder = Folder::create();
            let workerd = edge::Edge::start(&edge::Options {
                worker,
                runtime: Runtime::Workerd,
                port: port::free(),
                bindings: Vec::new(),
                log: Log::File(folder.file("worker.log")),
            })?;
            xtask::failure::Result::Ok(Self {
                workerd,
                _folder: folder,
            })
        });
        let started = started.await.expect("no panic");
        started.unwrap_or_else(|failure| panic!("the Worker does not start: {failure}"))
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(self.workerd.url())
    }
}
