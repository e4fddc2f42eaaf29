//! A service of one process that a benchmark asks.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use tests::{folder::Folder, port};
use xtask::{
    failure::{Failure, Result},
    process::{Log, Process},
    signal::Signal,
};

const START_LIMIT: Duration = Duration::from_secs(30);

/// A service of one process.
pub(crate) struct Service {
    process: Process,
    address: SocketAddr,
}

impl Service {
    /// An axum service that sends back what it gets.
    pub(crate) async fn echo(folder: &Folder) -> Result<Self> {
        let own = std::env::current_exe().map_err(Failure::because("no program of our own"))?;
        let mut echo = Command::new(own);
        echo.arg("echo");
        Self::start(echo, &folder.file("echo.log")).await
    }

    /// Starts a program that listens at `BIND`; it is ready when this returns.
    pub(crate) async fn start(mut command: Command, log: &Path) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port::free()));
        command.env("BIND", address.to_string());
        let process = Process::spawn(&mut command, &Log::File(log.to_owned()), Signal::Terminate)?;
        let ready = format!("http://{address}/readyz");
        let deadline = Instant::now() + START_LIMIT;
        while !reqwest::get(&ready)
            .await
            .is_ok_and(|answer| answer.status().is_success())
        {
            if Instant::now() > deadline {
                let log = fs::read_to_string(log).unwrap_or_default();
                return Err(Failure::new(format!("a service does not start: {log}")));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { process, address })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Seconds of CPU that it has used, in steps of 10 ms.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.pid()));
        let stat = stat.unwrap_or_default();
        // After the name in parentheses: state is the first field, user and system the 12th and 13th.
        let fields = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let ticks = fields
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u32>().ok());
        ticks.map(f64::from).sum::<f64>() / 100.0
    }
}
