//! The completer: drives abandoned operations to their end, with no client.

use super::{Turns, report};
use crate::{App, store};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_secs(1);
const AT_ONCE: i64 = 32;

/// Until stopped.
pub async fn run(app: App, stop: CancellationToken) {
    let mut turns = Turns::new(PERIOD, stop);
    while turns.next().await {
        report("completer", run_once(&app).await);
    }
}

/// Takes over what is free, each in a task of its own; gives back how many.
pub async fn run_once(app: &App) -> Result<usize, store::Error> {
    let taken = app.engine.take_over_abandoned(AT_ONCE).await?;
    let found = taken.len();
    app.metrics.completed(found);
    for taken in taken {
        let scope = taken.request.scope;
        let Some(route) = app
            .route(&taken.request.method, &taken.request.path)
            .cloned()
        else {
            tracing::error!(scope = %scope.prefix(), "no route is left for an abandoned operation");
            continue;
        };
        let engine = Arc::clone(&app.engine);
        app.engine.spawn(async move {
            if let Err(error) = engine.complete(route, taken).await {
                tracing::info!(scope = %scope.prefix(), %error, "not complete yet");
            }
        });
    }
    Ok(found)
}
