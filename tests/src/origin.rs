//! The origin as a process of its own, which a test may kill, pause and start again.

use crate::{client::Client, eventually::eventually, provider::DEFAULT_SECRET, tokens::Vectors};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tokio::time::{Instant, sleep};
use xtask::{
    artifacts::{Profile, Programs},
    process::{Log, Process},
    project,
    signal::{self, Signal},
};

const START_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// What an origin is told by its environment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens on the loopback.
    pub port: u16,
    /// `DATABASE_URL`.
    pub database_url: String,
    /// `PROVIDER_URL`.
    pub provider_url: String,
    /// `POLICY_FILE`.
    pub policy: PathBuf,
    /// `EDGE_KEYS`, unless every request is taken.
    pub edge_keys: Option<String>,
    /// `SEALING_KEYS`, unless each process has one of its own.
    pub sealing_keys: Option<String>,
    /// `WEBHOOK_URL`.
    pub webhook_url: String,
    /// `LEASE_SECONDS`.
    pub lease_seconds: u32,
    /// `DATABASE_CONNECTIONS`.
    pub database_connections: u32,
    /// `FAILPOINTS` of its first life.
    pub fail_at: Option<String>,
    /// `UNFENCED`: it checks no fence and no owner.
    pub unfenced: bool,
    /// Where its log goes.
    pub log: PathBuf,
}

/// A running origin, or one that was killed.
#[derive(Debug)]
pub struct Origin {
    options: Options,
    process: Process,
}

impl Origin {
    /// Starts one; it is ready when this returns.
    pub async fn start(options: Options) -> Self {
        let mut origin = Self {
            process: spawn(&options),
            options,
        };
        origin.wait_until_ready().await;
        origin
    }

    /// Its base URL, the same after a restart.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.options.port)
    }

    /// A client that calls it directly.
    pub fn client(&self) -> Client {
        Client::new(self.url())
    }

    /// What it has logged so far, in all its lives.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.options.log).unwrap_or_default()
    }

    /// Ends it by SIGKILL.
    pub async fn kill(&mut self) {
        signal::send(self.process.pid(), Signal::Kill);
        self.wait_until_ended().await;
    }

    /// Asks it to end in order, and waits until it has.
    pub async fn terminate(&mut self) {
        signal::send(self.process.pid(), Signal::Terminate);
        self.wait_until_ended().await;
    }

    /// Asks it to end in order, and kills it where that takes longer than `limit`.
    pub async fn end(&mut self, limit: Duration) {
        signal::send(self.process.pid(), Signal::Terminate);
        let deadline = Instant::now() + limit;
        while !self.has_ended() && Instant::now() < deadline {
            sleep(Duration::from_millis(20)).await;
        }
        if !self.has_ended() {
            self.kill().await;
        }
    }

    /// Whether it has ended, by whatever.
    pub fn has_ended(&mut self) -> bool {
        self.process.ended().is_some()
    }

    /// Starts it again after its end, on the same port, with what it was told before.
    pub async fn restart(&mut self) {
        self.begin_restart();
        self.wait_until_ready().await;
    }

    /// As [`Self::restart`], without waiting for it.
    pub fn begin_restart(&mut self) {
        self.options.fail_at = None;
        self.process = spawn(&self.options);
    }

    /// Stops its clock of execution: it holds still, as in a long pause of its machine.
    pub fn pause(&self) {
        signal::send(self.process.pid(), Signal::Pause);
    }

    /// Lets it go on after a pause.
    pub fn resume(&self) {
        signal::send(self.process.pid(), Signal::Resume);
    }

    /// Waits until it has ended, by whatever.
    pub async fn wait_until_ended(&mut self) {
        eventually("the origin's end", STOP_LIMIT, async || {
            self.process.ended().is_some()
        })
        .await;
    }

    /// Waits until it says that it is ready.
    pub async fn wait_until_ready(&mut self) {
        let ready = reqwest::Client::new().get(format!("{}/readyz", self.url()));
        let log = self.options.log.clone();
        eventually("the origin's start", START_LIMIT, async || {
            if let Some(status) = self.process.ended() {
                let log = fs::read_to_string(&log).unwrap_or_default();
                panic!("the origin ended at its start ({status}): {log}");
            }
            let answer = ready
                .try_clone()
                .expect("a body that can be sent again")
                .send()
                .await;
            answer.is_ok_and(|answer| answer.status().is_success())
        })
        .await;
    }
}

fn spawn(options: &Options) -> Process {
    let program = Programs::of(Profile::Dev).origin;
    assert!(
        program.exists(),
        "the origin is not built: run `cargo xtask test [filter]`"
    );
    let mut command = Command::new(program);
    command
        .current_dir(project::root())
        .env_clear()
        .env("BIND", format!("127.0.0.1:{}", options.port))
        .env("DATABASE_URL", &options.database_url)
        .env("POLICY_FILE", &options.policy)
        .env("PROVIDER_URL", &options.provider_url)
        .env("PROVIDER_SECRET", DEFAULT_SECRET)
        .env("LEASE_SECONDS", options.lease_seconds.to_string())
        .env(
            "DATABASE_CONNECTIONS",
            options.database_connections.to_string(),
        )
        .envs(
            options
                .sealing_keys
                .as_ref()
                .map(|keys| ("SEALING_KEYS", keys)),
        )
        .envs(options.fail_at.as_ref().map(|point| ("FAILPOINTS", point)))
        .envs(options.unfenced.then_some(("UNFENCED", "1")))
        .env("JWT_HS256_SECRET", JWT_SECRET)
        .env("JWT_JWKS_FILE", jwks(&options.log))
        .env("SEED_STOCK", "dev")
        .env("WEBHOOK_URL", &options.webhook_url)
        .env("WEBHOOK_SECRET", WEBHOOK_SECRET)
        .envs(options.edge_keys.as_ref().map(|keys| ("EDGE_KEYS", keys)));
    let log = Log::File(options.log.clone());
    Process::spawn(&mut command, &log, Signal::Terminate).expect("a process")
}

/// The public keys of the vectors' tokens, in a file beside the log.
fn jwks(log: &Path) -> PathBuf {
    let file = log.with_extension("jwks.json");
    fs::write(&file, Vectors::read().jwks.to_string()).expect("a writable folder");
    file
}

/// The secret of the webhook that receives events, as Standard Webhooks writes it.
pub const WEBHOOK_SECRET: &str = "whsec_dGhlIHdlYmhvb2sncyBzZWNyZXQgb2YgdGhlIHRlc3Rz";
/// The secret of bearer tokens, where a policy asks for them.
pub const JWT_SECRET: &str = "the secret of the tests' bearer tokens";
