//! The reaper: partitions ahead and behind, and what refused requests left.

use crate::{App, store};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_secs(60);
const DAYS_AHEAD: i64 = 8;
const BATCH: i64 = 1_000;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    super::every("reaper", PERIOD, stop, async || run_once(&app).await).await;
}

/// One round.
pub async fn run_once(app: &App) -> Result<(), store::Error> {
    let store = &app.engine.store;
    store.create_partitions(DAYS_AHEAD).await?;
    store.drop_partitions().await?;
    while store.delete_released(BATCH).await? == BATCH.unsigned_abs() {}
    Ok(())
}
