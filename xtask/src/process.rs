//! A process that runs beside us, and its end: nothing that it started outlives it or us, however we end.
//!
//! Each process runs in a group of its own with a guard, a small shell that waits for the end of a pipe we hold.
//! When we die, even by SIGKILL, the pipe closes and the guard ends the group: wrangler's workerd as well as wrangler.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::processes;
use crate::project;
use crate::signal::{self, Signal};

/// Where a process writes.
#[derive(Clone, Debug)]
pub enum Log {
    /// Appended to a file.
    File(PathBuf),
    /// Our stderr, each line after this name.
    Lines(String),
}

/// A running process. Dropping it kills it with all that it started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its process id is the group's id, and stays taken until we collect it.
    guard: Child,
    polite: Signal,
}

/// How long a killed process takes to end, at most.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Waits for the pipe's end, asks the group to end, and ends it.
const GUARD: &str =
    "trap '' INT TERM QUIT HUP; read -r _; kill -s \"$0\" 0; sleep 1; kill -s KILL 0";

impl Process {
    /// Starts `command`; `polite` is the signal that asks it to end.
    pub fn spawn(command: &mut Command, log: &Log, polite: Signal) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let wrong = |error| Failure::because(format!("{name} could not be started"))(error);
        let guard = Command::new("/bin/sh")
            .args(["-c", GUARD, &polite.number().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(wrong)?;
        direct_output(command, log)?;
        let child = command
            .stdin(Stdio::null())
            .process_group(guard.id().cast_signed())
            .spawn();
        match child {
            Ok(child) => Ok(Self {
                child,
                guard,
                polite,
            }),
            Err(error) => {
                reap(guard);
                Err(wrong(error))
            }
        }
    }

    /// The id of the process itself.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it with all that it started, and returns when none of them is left.
    pub fn end_group(&mut self) {
        let group = self.guard.id();
        signal::send_to_group(group, Signal::Kill);
        // Collecting can only fail when there is nothing left to collect.
        let _ = self.child.wait();
        // A port or a file is only free when its last holder has ended.
        wait_until(END_LIMIT, || processes::in_group(group).is_empty());
    }

    /// Asks it to end, and ends it after `limit`.
    pub fn stop(self, limit: Duration) {
        let polite = self.polite;
        self.stop_by(polite, limit);
    }

    /// As [`Self::stop`], asking by another signal.
    pub fn stop_by(mut self, signal: Signal, limit: Duration) {
        signal::send_to_group(self.guard.id(), signal);
        // What is still there is killed by the drop.
        wait_until(limit, || self.ended().is_some());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_group();
        // Collecting can only fail when there is nothing left to collect.
        let _ = self.guard.wait();
    }
}

/// Asks for `condition` every few milliseconds until it holds; false when it still does not after `limit`.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn reap(mut guard: Child) {
    let _ = guard.kill();
    let _ = guard.wait();
}

fn direct_output(command: &mut Command, log: &Log) -> Result<()> {
    match log {
        Log::File(path) => {
            project::ensure_dir(path.parent().unwrap_or(path))?;
            let wrong = || Failure::because(format!("could not open the log {}", path.display()));
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map_err(wrong())?;
            let copy = file.try_clone().map_err(wrong())?;
            command.stdout(file).stderr(copy);
        }
        Log::Lines(name) => {
            let wrong = || Failure::because(format!("could not make a pipe for {name}"));
            let (reader, writer) = std::io::pipe().map_err(wrong())?;
            let copy = writer.try_clone().map_err(wrong())?;
            command.stdout(writer).stderr(copy);
            let name = name.clone();
            thread::spawn(move || print_lines(&name, reader));
        }
    }
    Ok(())
}

fn print_lines(name: &str, output: PipeReader) {
    for line in BufReader::new(output)
        .split(b'\n')
        .map_while(std::io::Result::ok)
    {
        let line = String::from_utf8_lossy(&line);
        // A process must not suffer from nobody reading its lines.
        let _ = writeln!(std::io::stderr(), "{name:>9} | {line}");
    }
}
