//! Gives back the charges of orders that were sold out.

use super::{Turns, report};
use crate::{App, idempotency::backoff, store};
use fail::fail_point;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_mins(2);
const RETRY_MAX: Duration = Duration::from_secs(5);
const AT_ONCE: i64 = 16;
const ATTEMPTS_MAX: i32 = 1_000;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let mut turns = Turns::new(PERIOD, stop);
    while turns.next().await {
        report("refunds", run_once(&app).await);
    }
}

/// Carries out what is due; gives back how many were tried.
pub async fn run_once(app: &App) -> Result<usize, store::Error> {
    let store = &app.engine.store;
    let due = store.take_refunds(LEASE, AT_ONCE).await?;
    for refund in &due {
        fail_point!("before-refund", |_| std::process::abort());
        if let Some(id) = app.orders.provider.refund(refund).await {
            fail_point!("refund-made", |_| std::process::abort());
            store.refunded(refund, &id).await?;
        } else {
            let again = refund.attempts < ATTEMPTS_MAX;
            let retry_in = again.then(|| backoff(refund.attempts, RETRY_MAX));
            store.refund_failed(refund, retry_in).await?;
        }
    }
    Ok(due.len())
}
