//! Jobs, in every origin at once: each is `run` over `run_once`, and none needs to be alone.

pub mod completer;
pub mod leases;
pub mod reaper;
pub mod refunds;
pub mod relay;

use crate::{App, config::Webhook};
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts all jobs; they end when `stop` is cancelled.
pub fn start(app: &App, webhook: Option<Webhook>, stop: &CancellationToken) -> TaskTracker {
    let jobs = TaskTracker::new();
    jobs.spawn(leases::run(app.clone(), stop.clone()));
    jobs.spawn(completer::run(app.clone(), stop.clone()));
    jobs.spawn(refunds::run(app.clone(), stop.clone()));
    jobs.spawn(reaper::run(app.clone(), stop.clone()));
    if let Some(webhook) = webhook {
        jobs.spawn(relay::run(app.clone(), webhook, stop.clone()));
    }
    jobs.close();
    jobs
}

/// Calls `once` every `period` until stopped. A failure is logged; the next turn tries again.
async fn every<F, T, E>(name: &'static str, period: Duration, stop: CancellationToken, once: F)
where
    F: AsyncFn() -> Result<T, E>,
    E: std::error::Error,
{
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = once().await {
            tracing::warn!(job = name, %error, "a turn failed");
        }
    }
}
