//! Keeps the leases of what runs here, by one statement.

use crate::{App, store};
use tokio_util::sync::CancellationToken;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let period = app.engine.leases().renewal_period();
    super::every("leases", period, stop, async || run_once(&app).await).await;
}

/// Renews once.
pub async fn run_once(app: &App) -> Result<(), store::Error> {
    app.engine.leases().renew(&app.engine.store).await
}
