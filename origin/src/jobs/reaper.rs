//! The reaper: partitions ahead and behind, and what refused requests left.

use super::{Turns, report};
use crate::{App, store};
use protocol::scope::Scope;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_mins(1);
const DAYS_AHEAD: i64 = 8;
const BATCH: i64 = 1_000;
/// How many batches of records a round looks through for tombstones that have ended. An ended one
/// counts as absent before it is deleted, so nobody waits for this.
const LOOKED_THROUGH: usize = 10;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let mut turns = Turns::new(PERIOD, stop);
    let mut seen = None;
    while turns.next().await {
        report("reaper", run_once(&app).await);
        report("reaper", forget(&app, &mut seen).await);
    }
}

/// Goes on through the records, where policy lets any be forgotten.
async fn forget(app: &App, seen: &mut Option<Scope>) -> Result<(), store::Error> {
    if app
        .routes
        .iter()
        .all(|route| route.tombstones_for.is_none())
    {
        return Ok(());
    }
    for _ in 0..LOOKED_THROUGH {
        let store = &app.engine.store;
        *seen = store.delete_tombstones(seen.as_ref(), BATCH).await?;
        if seen.is_none() {
            break;
        }
    }
    Ok(())
}

/// One round.
pub async fn run_once(app: &App) -> Result<(), store::Error> {
    let store = &app.engine.store;
    store.create_partitions(DAYS_AHEAD).await?;
    store.drop_partitions().await?;
    while store.delete_released(BATCH).await? == BATCH.unsigned_abs() {}
    Ok(())
}
