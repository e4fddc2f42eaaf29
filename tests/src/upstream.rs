//! The upstream of a gateway route: a small Node server that a test may kill and start again.

use crate::{eventually::eventually, port};
use serde::Deserialize;
use serde_json::Value;
use std::{path::PathBuf, process::Command, time::Duration};
use xtask::{
    node_packages,
    process::{Log, Process},
    project,
    signal::{self, Signal},
};

const START_LIMIT: Duration = Duration::from_secs(20);

/// The server. Dropping it ends it; what it counted ends with each of its lives.
#[derive(Debug)]
pub struct Upstream {
    port: u16,
    log: PathBuf,
    process: Process,
    http: reqwest::Client,
}

/// A request as it arrived.
#[derive(Clone, Debug, Deserialize)]
pub struct Arrival {
    /// Its `Idempotency-Key`; a word of the server's own where it had none.
    pub key: String,
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// All header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, one character a byte.
    pub body: String,
}

impl Arrival {
    /// All values of a header, by its lower-case name.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(line, _)| line == name);
        lines.map(|(_, value)| value.as_str()).collect()
    }

    /// What `Idempotency-Attempt` says.
    pub fn attempt(&self) -> &str {
        self.values("idempotency-attempt")
            .first()
            .copied()
            .unwrap_or_default()
    }
}

/// The policy of the gateway's tests, which names an upstream that is none.
pub fn policy() -> PathBuf {
    project::root().join("tests/upstream/policy.toml")
}

impl Upstream {
    /// Starts one on a free port; it answers when this returns.
    pub async fn start(log: PathBuf) -> Self {
        let port = port::free();
        let mut upstream = Self {
            port,
            process: spawn(port, &log),
            log,
            http: reqwest::Client::new(),
        };
        upstream.wait_until_up().await;
        upstream
    }

    /// Its base URL, the same after a restart.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// [`policy`] with its address.
    pub fn policy(&self) -> String {
        let policy = std::fs::read_to_string(policy()).expect("the tests' own policy");
        policy.replace("http://upstream.invalid", &self.url())
    }

    /// Ends it by SIGKILL: connections are refused when this returns.
    pub async fn kill(&mut self) {
        signal::send(self.process.pid(), Signal::Kill);
        let ended = async || self.process.ended().is_some();
        eventually("the upstream's end", START_LIMIT, ended).await;
    }

    /// Starts it again after its end, on the same port.
    pub async fn restart(&mut self) {
        self.process = spawn(self.port, &self.log);
        self.wait_until_up().await;
    }

    /// The requests that arrived, oldest first.
    pub async fn arrivals(&self) -> Vec<Arrival> {
        self.read("/_arrivals").await
    }

    /// How many operations it has executed.
    pub async fn executions(&self) -> u64 {
        self.read("/_executions").await
    }

    /// What its status URL answers from now on.
    pub async fn set_status(&self, answer: Value) {
        let url = format!("{}/_status", self.url());
        let set = self.http.put(url).json(&answer).send().await;
        set.expect("an upstream that is up");
    }

    async fn wait_until_up(&mut self) {
        let request = self.http.get(format!("{}/_executions", self.url()));
        eventually("the upstream's start", START_LIMIT, async || {
            let request = request.try_clone().expect("no body");
            request.send().await.is_ok()
        })
        .await;
    }

    async fn read<T: for<'a> Deserialize<'a>>(&self, path: &str) -> T {
        let answer = self.http.get(format!("{}{path}", self.url())).send().await;
        let answer = answer.expect("an upstream that is up").json().await;
        answer.expect("the documented form")
    }
}

fn spawn(port: u16, log: &std::path::Path) -> Process {
    let mut node = Command::new(node_packages::node());
    node.arg(project::root().join("tests/upstream/server.mjs"))
        .arg(port.to_string());
    Process::spawn(&mut node, &Log::File(log.to_owned()), Signal::Kill).expect("a process")
}
