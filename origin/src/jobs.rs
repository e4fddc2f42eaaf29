//! Jobs, in every origin at once: each is `run` over `run_once`, and none needs to be alone.

pub mod completer;
pub mod leases;
pub mod reaper;
pub mod refunds;
pub mod relay;

use crate::{App, config::Webhook, store};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts all jobs but the renewals; they end when `stop` is cancelled.
pub fn start(app: &App, webhook: Option<Webhook>, stop: &CancellationToken) -> TaskTracker {
    let jobs = TaskTracker::new();
    jobs.spawn(completer::run(app.clone(), stop.clone()));
    jobs.spawn(refunds::run(app.clone(), stop.clone()));
    jobs.spawn(reaper::run(app.clone(), stop.clone()));
    if let Some(webhook) = webhook {
        jobs.spawn(relay::run(app.clone(), webhook, stop.clone()));
    }
    jobs.close();
    jobs
}

/// The turns of a job: one every `period` until stopped.
struct Turns {
    ticks: Interval,
    stop: CancellationToken,
}

impl Turns {
    fn new(period: Duration, stop: CancellationToken) -> Self {
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { ticks, stop }
    }

    /// Waits for the next turn; false when there is none any more.
    async fn next(&mut self) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            _ = self.ticks.tick() => true,
        }
    }
}

/// A failed turn is said; the next one tries again.
fn report<T>(job: &'static str, turn: Result<T, store::Error>) {
    if let Err(error) = turn {
        tracing::warn!(job, %error, "a turn failed");
    }
}
