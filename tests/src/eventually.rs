//! Waiting for a condition, with a limit.

use std::time::Duration;
use tokio::time::{sleep, timeout};

const PAUSE: Duration = Duration::from_millis(20);

/// Asks again and again until `condition` holds. Panics, naming `what`, when it does not within
/// `limit`.
pub async fn eventually(what: &str, limit: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let holds = async {
        while !condition().await {
            sleep(PAUSE).await;
        }
    };
    let in_time = timeout(limit, holds).await;
    in_time.unwrap_or_else(|_| panic!("{what}: not within {limit:?}"));
}
