//! A running edge: the built Worker on workerd, bare or under `wrangler dev`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::http;
use crate::node_packages;
use crate::process::{Log, Process, wait_until};
use crate::project;
use crate::signal::Signal;
use crate::workerd_config;
use crate::wrangler_config;

const START_LIMIT: Duration = Duration::from_mins(1);

/// What runs the Worker.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// workerd alone, with nothing between it and its clients: for tests and benchmarks.
    Workerd,
    /// What a developer of Workers knows, with its state in this folder.
    Wrangler(PathBuf),
    /// The same, with the shards of the edge that has its state in `owner`.
    WranglerGuest {
        /// Where its own state is.
        folder: PathBuf,
        /// Where the owner's is.
        owner: PathBuf,
    },
}

/// How an edge is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of `index.js`, see [`crate::artifacts::Worker::build`].
    pub worker: PathBuf,
    /// What runs it.
    pub runtime: Runtime,
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// What the Worker finds in its environment: `ORIGIN_URL`, which it needs, and what else it knows.
    pub bindings: Vec<(String, String)>,
    /// Where it writes its log.
    pub log: Log,
}

/// A running edge. Dropping it kills it.
#[derive(Debug)]
pub struct Edge {
    process: Process,
    port: u16,
}

impl Edge {
    /// Starts an edge and returns when it answers.
    pub fn start(options: &Options) -> Result<Self> {
        let mut edge = Self {
            process: spawn(options)?,
            port: options.port,
        };
        edge.wait_until_ready()?;
        Ok(edge)
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The id of its main process.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How its main process ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let mut ended = None;
        let answered = wait_until(START_LIMIT, || {
            ended = self.ended();
            ended.is_some() || http::status(self.port, "/").is_some()
        });
        match ended {
            Some(status) => Err(Failure::new(format!(
                "the edge ended at its start ({status}); its log says why"
            ))),
            None if answered => Ok(()),
            None => Err(Failure::new(format!(
                "the edge did not answer within {} s; its log says why",
                START_LIMIT.as_secs()
            ))),
        }
    }
}

/// Starts an edge without waiting for it.
pub fn spawn(options: &Options) -> Result<Process> {
    let mut command = match &options.runtime {
        Runtime::Workerd => workerd(options)?,
        Runtime::Wrangler(folder) => wrangler(options, folder, None)?,
        Runtime::WranglerGuest { folder, owner } => wrangler(options, folder, Some(owner))?,
    };
    Process::spawn(&mut command, &options.log, Signal::Terminate)
}

fn workerd(options: &Options) -> Result<Command> {
    let names: Vec<&str> = options
        .bindings
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let config = workerd_config::write(&options.worker, &names)?;
    let mut workerd = Command::new(node_packages::workerd());
    workerd
        .arg("serve")
        .arg(config)
        .arg(format!("--socket-addr=http=127.0.0.1:{}", options.port))
        .env_clear()
        .envs(options.bindings.iter().cloned());
    Ok(workerd)
}

fn wrangler(options: &Options, folder: &Path, owner: Option<&Path>) -> Result<Command> {
    project::ensure_dir(folder)?;
    let config = folder.join("wrangler.toml");
    let ours = wrangler_config::read()?;
    let name = wrangler_config::value(&ours, "name")?;
    let text = wrangler_config::derive(
        &ours,
        &options.worker,
        &options.bindings,
        owner.map(|_| name),
    );
    fs::write(&config, text).map_err(Failure::because(format!(
        "could not write {}",
        config.display()
    )))?;
    let mut wrangler = Command::new(node_packages::node());
    wrangler
        .current_dir(folder)
        .arg("--no-warnings")
        .arg(node_packages::wrangler())
        .args([
            "dev",
            "--local",
            "--ip",
            "127.0.0.1",
            "--show-interactive-dev-session=false",
        ])
        .args(["--port", &options.port.to_string(), "--inspector-port", "0"])
        .arg("--config")
        .arg(config)
        .arg("--persist-to")
        .arg(folder.join("state"))
        .envs(quiet(folder))
        // Edges of one machine stay strangers to each other, as those of two regions are.
        .env(
            "WRANGLER_REGISTRY_PATH",
            owner.unwrap_or(folder).join("registry"),
        );
    Ok(wrangler)
}

/// Wrangler with no questions, no reports and no requests to anybody.
pub(crate) fn quiet(folder: &Path) -> Vec<(&'static str, String)> {
    let below = |name: &str| folder.join(name).to_string_lossy().into_owned();
    vec![
        ("CI", "1".to_owned()),
        ("CLOUDFLARE_CF_FETCH_ENABLED", "false".to_owned()),
        ("DO_NOT_TRACK", "1".to_owned()),
        ("WRANGLER_HIDE_BANNER", "true".to_owned()),
        ("WRANGLER_SEND_ERROR_REPORTS", "false".to_owned()),
        ("WRANGLER_SEND_METRICS", "false".to_owned()),
        ("WRANGLER_LOG_PATH", below("log")),
    ]
}
