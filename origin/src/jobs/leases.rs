//! Keeps the leases of what runs here, by one statement.

use super::{Turns, report};
use crate::{App, store};
use tokio_util::sync::CancellationToken;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let period = app.engine.leases().renewal_period();
    let mut turns = Turns::new(period, stop);
    while turns.next().await {
        report("leases", run_once(&app).await);
    }
}

/// Renews once.
pub async fn run_once(app: &App) -> Result<(), store::Error> {
    app.engine.leases().renew(&app.engine.store).await
}
