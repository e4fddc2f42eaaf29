//! A Worker on bare workerd, for tests and benchmarks that need no more.

use crate::{client::Client, folder::Folder, port};
use std::{fs, path::Path};
use tokio::task::spawn_blocking;
use xtask::{
    artifacts::{self, Profile},
    edge::{self, Runtime},
    failure::{Failure, Result},
    process::Log,
    project,
    setup::Setup,
};

/// Ends with its owner.
#[derive(Debug)]
pub struct Worker {
    workerd: edge::Edge,
    _folder: Folder,
}

impl Worker {
    /// The Worker of `tests/worker`. Built if need be; ready when this returns.
    pub async fn of_tests(profile: Profile) -> Self {
        start(move |folder| {
            let worker = artifacts::Worker::of_tests(profile).build(&Setup::ensure()?)?;
            run(worker.as_path(), folder, Vec::new())
        })
        .await
    }

    /// An edge with this policy, for which it is always `now`, in seconds since 1970.
    pub async fn edge_at(
        now: u64,
        policy: &'static str,
        bindings: Vec<(&'static str, String)>,
    ) -> Self {
        start(move |folder| {
            let policy = project::root().join("tests").join(policy);
            let worker = artifacts::Worker::new(Profile::Dev, &policy)?.build(&Setup::ensure()?)?;
            stop_the_clock(&worker, now, folder.path())
                .map_err(Failure::because("the Worker can't be copied"))?;
            run(folder.path(), folder, bindings)
        })
        .await
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(self.workerd.url())
    }
}

async fn start(workerd: impl FnOnce(&Folder) -> Result<edge::Edge> + Send + 'static) -> Worker {
    let folder = Folder::create();
    let started = spawn_blocking(move || {
        Ok(Worker {
            workerd: workerd(&folder)?,
            _folder: folder,
        })
    });
    let started: Result<Worker> = started.await.expect("no panic");
    started.unwrap_or_else(|failure| panic!("the Worker does not start: {failure}"))
}

fn run(
    worker: &Path,
    folder: &Folder,
    bindings: Vec<(&'static str, String)>,
) -> Result<edge::Edge> {
    edge::Edge::start(&edge::Options {
        worker: worker.to_owned(),
        runtime: Runtime::Workerd,
        port: port::free(),
        bindings: bindings
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        log: Log::File(folder.file("worker.log")),
    })
}

/// The same Worker in another folder, behind a line that stops its clock.
fn stop_the_clock(worker: &Path, now: u64, folder: &Path) -> std::io::Result<()> {
    let index = fs::read_to_string(worker.join("index.js"))?;
    let stopped = format!("Date.now = () => {now}000;\n{index}");
    fs::write(folder.join("index.js"), stopped)?;
    fs::copy(worker.join("index_bg.wasm"), folder.join("index_bg.wasm")).map(drop)
}
