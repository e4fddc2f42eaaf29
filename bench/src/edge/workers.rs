//! workerd with the edge and the plain Workers that it is measured against.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use tests::{folder::Folder, port, world::EDGE_KEYS};
use xtask::{
    artifacts::{self, Profile, default_policy},
    failure::{Failure, Result},
    node_packages,
    process::{Log, Process},
    setup::Setup,
    signal::Signal,
    wrangler_config,
};

const START_LIMIT: Duration = Duration::from_secs(30);

/// The process, and where each Worker listens.
pub(super) struct Workers {
    process: Process,
    pub(super) edge: SocketAddr,
    pub(super) neighbour: SocketAddr,
    pub(super) plain: SocketAddr,
}

impl Workers {
    /// Builds the Workers if need be and starts them with this origin.
    pub(super) async fn start(folder: &Folder, origin: SocketAddr) -> Result<Self> {
        let setup = Setup::ensure()?;
        let edge = artifacts::Worker::new(Profile::Release, &default_policy())?.build(&setup)?;
        let plain = artifacts::Worker::of_tests(Profile::Release).build(&setup)?;
        for (worker, name) in [(&edge, "edge"), (&plain, "plain")] {
            copy(worker, &folder.file(name))
                .map_err(Failure::because("a Worker can't be copied"))?;
        }
        let config = folder.file("workers.capnp");
        let ours = wrangler_config::read()?;
        let date = wrangler_config::value(&ours, "compatibility_date")?;
        let text = include_str!("workers.capnp").replace("COMPATIBILITY_DATE", date);
        fs::write(&config, text).map_err(Failure::because("no configuration"))?;
        let address = || SocketAddr::from((Ipv4Addr::LOCALHOST, port::free()));
        let (edge, neighbour, plain) = (address(), address(), address());
        let mut workerd = Command::new(node_packages::workerd());
        workerd
            .arg("serve")
            .arg(config)
            .env_clear()
            .env("ORIGIN_URL", format!("http://{origin}"))
            .env("EDGE_KEYS", EDGE_KEYS);
        for (name, address) in [("edge", edge), ("neighbour", neighbour), ("plain", plain)] {
            workerd.arg(format!("--socket-addr={name}={address}"));
        }
        let log = Log::File(folder.file("workerd.log"));
        let process = Process::spawn(&mut workerd, &log, Signal::Terminate)?;
        wait_for(plain).await?;
        Ok(Self {
            process,
            edge,
            neighbour,
            plain,
        })
    }

    /// Resident memory of the whole process, in MiB.
    pub(super) fn memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.pid()));
        let status = status.unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|line| line.split_whitespace().next()?.parse::<u32>().ok());
        kib.map_or(f64::NAN, |kib| f64::from(kib) / 1024.0)
    }
}

fn copy(worker: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for file in ["index.js", "index_bg.wasm"] {
        fs::copy(worker.join(file), to.join(file))?;
    }
    Ok(())
}

async fn wait_for(worker: SocketAddr) -> Result<()> {
    let deadline = Instant::now() + START_LIMIT;
    while reqwest::get(format!("http://{worker}/")).await.is_err() {
        if Instant::now() > deadline {
            return Err(Failure::new("workerd does not start"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
