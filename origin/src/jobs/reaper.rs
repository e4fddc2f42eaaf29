//! The reaper: partitions ahead and behind, and what refused requests left.

use super::{Turns, report};
use crate::{App, store};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_mins(1);
const DAYS_AHEAD: i64 = 8;
const BATCH: i64 = 1_000;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let mut turns = Turns::new(PERIOD, stop);
    while turns.next().await {
        report("reaper", run_once(&app).await);
    }
}

/// One round.
pub async fn run_once(app: &App) -> Result<(), store::Error> {
    let store = &app.engine.store;
    store.create_partitions(DAYS_AHEAD).await?;
    store.drop_partitions().await?;
    while store.delete_released(BATCH).await? == BATCH.unsigned_abs() {}
    Ok(())
}
