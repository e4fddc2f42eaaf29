//! A Postgres of our own: a server with its own data folder, open to this machine only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::command;
use crate::failure::{Failure, Result};
use crate::postgres_home::{Binaries, Home};
use crate::process::{Log, Process, wait_until};
use crate::processes;
use crate::signal::{self, Signal};

/// Crash recovery included.
const START_LIMIT: Duration = Duration::from_mins(1);
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its data folder, which is made when it is absent. The major version is added to the name.
    pub data: PathBuf,
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// Further settings, as `name=value`.
    pub settings: Vec<String>,
    /// Where it writes its log.
    pub log: Log,
}

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Sessions are cut, everything is written to disk.
    Fast,
    /// At once, as in a crash; the next start recovers.
    Immediate,
}

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    port: u16,
}

impl Postgres {
    /// Starts a server and returns when it accepts connections.
    pub fn start(options: &Options) -> Result<Self> {
        let (process, data) = spawn(options)?;
        let port = options.port;
        let mut postgres = Self { process, port };
        postgres.wait_until_ready(&data)?;
        Ok(postgres)
    }

    /// Where to connect, as superuser and without a password.
    pub fn url(&self) -> String {
        url(self.port)
    }

    /// The id of the server's main process.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How the server ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    /// Stops the server and returns when it has ended; a later start finds its data.
    pub fn stop(self, mode: Stop) {
        let signal = match mode {
            Stop::Fast => Signal::Interrupt,
            Stop::Immediate => Signal::Quit,
        };
        self.process.stop_by(signal, STOP_LIMIT);
    }

    fn wait_until_ready(&mut self, data: &Path) -> Result<()> {
        let pid = self.pid();
        let mut ended = None;
        let answered = wait_until(START_LIMIT, || {
            ended = self.ended();
            ended.is_some() || is_ready(data, pid)
        });
        match ended {
            Some(status) => Err(Failure::new(format!(
                "Postgres ended at its start ({status}); its log says why"
            ))),
            None if answered => Ok(()),
            None => Err(Failure::new(format!(
                "Postgres was not ready after {} s; its log says why",
                START_LIMIT.as_secs()
            ))),
        }
    }
}

/// Starts a server without waiting for it, and returns its data folder too.
pub fn spawn(options: &Options) -> Result<(Process, PathBuf)> {
    let binaries = Binaries::find()?;
    let home = Home::prepare(&options.data, &binaries)?;
    if !home.data.join("PG_VERSION").exists() {
        initialise(&home)?;
    }
    end_left_overs(&home.data)?;
    let mut server = server(&home, options);
    let process = Process::spawn(&mut server, &options.log, Signal::Interrupt)?;
    Ok((process, home.data))
}

/// Where a server on this port is reached.
pub fn url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

/// Beside the folder and then renamed, so that a folder with a version is always complete.
fn initialise(home: &Home) -> Result<()> {
    let partial = home.data.with_extension("partial");
    // What an interrupted attempt has left.
    let _ = fs::remove_dir_all(&partial);
    home.make_dir(&partial)?;
    let mut initdb = home.command("initdb");
    initdb
        .arg("--pgdata")
        .arg(&partial)
        .args(["--username=postgres", "--auth=trust", "--no-sync"])
        .args(["--locale=C", "--encoding=UTF8"]);
    command::quietly(&mut initdb)?;
    let _ = fs::remove_dir(&home.data);
    fs::rename(&partial, &home.data).map_err(Failure::because(format!(
        "could not create {}",
        home.data.display()
    )))
}

fn server(home: &Home, options: &Options) -> Command {
    let mut server = home.command("postgres");
    server.arg("-D").arg(&home.data);
    let fixed = [
        format!("port={}", options.port),
        "listen_addresses=127.0.0.1".to_owned(),
        "unix_socket_directories=".to_owned(),
    ];
    for setting in fixed.iter().chain(&options.settings) {
        server.arg("-c").arg(setting);
    }
    server
}

/// The server writes its state into the eighth line of its lock file.
fn is_ready(data: &Path, pid: u32) -> bool {
    let Ok(lock) = fs::read_to_string(data.join("postmaster.pid")) else {
        return false;
    };
    let mut lines = lock.lines();
    lines.next() == Some(pid.to_string().as_str()) && lines.nth(6).map(str::trim) == Some("ready")
}

/// Ends what an earlier run that was killed has left on this data, and its lock file, whose
/// process id may by now be that of anything.
fn end_left_overs(data: &Path) -> Result<()> {
    let lock = data.join("postmaster.pid");
    let main = fs::read_to_string(&lock).unwrap_or_default();
    let main = main.lines().next().and_then(|line| line.parse().ok());
    let left = || processes::working_in(data);
    if let Some(main) = main.filter(|main| left().contains(main)) {
        signal::send(main, Signal::Interrupt);
        wait_until(STOP_LIMIT, || left().is_empty());
    }
    let all_ended = wait_until(STOP_LIMIT, || {
        let left = left();
        for pid in &left {
            signal::send(*pid, Signal::Kill);
        }
        left.is_empty()
    });
    if !all_ended {
        return Err(Failure::new(format!(
            "another Postgres works in {} and does not end",
            data.display()
        )));
    }
    match fs::remove_file(&lock) {
        Err(error) if lock.exists() => Err(Failure::because(format!(
            "could not remove {}",
            lock.display()
        ))(error)),
        _ => Ok(()),
    }
}
