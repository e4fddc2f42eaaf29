//! Waiting for the end of everything that is under way, with nobody asking.

use crate::database::Database;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_millis(500);

const OPEN: &str = "
    SELECT (SELECT count(*) FROM idempotency_records WHERE state = 'pending')
         + (SELECT count(*) FROM outbox WHERE published_at IS NULL)
         + (SELECT count(*) FROM refunds WHERE refunded_at IS NULL)";

/// A job's lease on what it took lasts minutes, and so may the pause after several failures.
const HURRY: [&str; 2] = [
    "UPDATE outbox SET next_attempt = least(next_attempt, now()) WHERE published_at IS NULL",
    "UPDATE refunds SET next_attempt = least(next_attempt, now()) WHERE refunded_at IS NULL",
];

/// Returns when nothing is open, or when `limit` is over: what is still open then is found by the
/// checker.
pub async fn wait(database: &Database, limit: Duration) {
    let begun = Instant::now();
    let mut turns = 0_u32;
    while database.number(OPEN).await > 0 && begun.elapsed() < limit {
        if turns.is_multiple_of(8) {
            for statement in HURRY {
                database.execute(statement).await;
            }
        }
        turns += 1;
        sleep(PAUSE).await;
    }
}
