//! One part of the system: a process that is started again when it dies.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::http;
use crate::process::{Process, wait_until};
use crate::signal;

const READY_LIMIT: Duration = Duration::from_mins(1);
/// Between two starts, so that a part that can't start does not take the machine.
const PAUSE: Duration = Duration::from_millis(500);

/// How a part is started, each time anew.
pub(super) type Start = Box<dyn Fn() -> Result<Process>>;

pub(super) struct Part {
    /// `origin`, the second one `origin_2`.
    pub(super) name: String,
    /// Where it answers 200 when it is ready; a part without one is ready when it has started.
    probe: Option<(u16, &'static str)>,
    start: Start,
    process: Process,
    started: Instant,
}

impl Part {
    pub(super) fn start(
        name: String,
        probe: Option<(u16, &'static str)>,
        start: Start,
    ) -> Result<Self> {
        let process = start()?;
        let started = Instant::now();
        Ok(Self {
            name,
            probe,
            start,
            process,
            started,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Returns when it is ready, or when somebody has asked us to end.
    pub(super) fn wait_until_ready(&mut self) -> Result<()> {
        let Some((port, path)) = self.probe else {
            return Ok(());
        };
        let mut ended = None;
        let settled = wait_until(READY_LIMIT, || {
            ended = self.process.ended();
            ended.is_some() || signal::asked_to_end() || http::status(port, path) == Some(200)
        });
        match ended {
            Some(status) if !signal::asked_to_end() => Err(self.failed(status)),
            _ if settled => Ok(()),
            _ => Err(Failure::new(format!(
                "{} is not ready on port {port}",
                self.name
            ))),
        }
    }

    /// Starts it again if it has died; true when it has a new process.
    pub(super) fn revive(&mut self) -> bool {
        let Some(status) = self.process.ended() else {
            return false;
        };
        if self.started.elapsed() < PAUSE {
            return false;
        }
        eprintln!("» {} has ended ({status}), starting it again", self.name);
        self.started = Instant::now();
        // What the dead process has started may hold its port.
        self.process.end_group();
        match (self.start)() {
            Ok(process) => self.process = process,
            Err(failure) => eprintln!("  {failure}"),
        }
        self.process.ended().is_none()
    }

    pub(super) fn stop(self, limit: Duration) {
        self.process.stop(limit);
    }

    fn failed(&self, status: ExitStatus) -> Failure {
        Failure::new(format!(
            "{} has ended ({status}); its last lines above say why",
            self.name
        ))
    }
}
