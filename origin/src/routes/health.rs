//! `/healthz`: the process lives. `/readyz`: it can decide. `/metrics`: what it did.

use crate::{App, Error};
use axum::{extract::State, response::IntoResponse};
use protocol::problem::{Kind, Problem};
use std::sync::atomic::Ordering;

pub(super) async fn alive() -> &'static str {
    "ok\n"
}

pub(super) async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    app.engine.store.ping().await?;
    if !app.is_prepared.load(Ordering::Relaxed) {
        let problem = Problem::new(Kind::StoreUnavailable, "The schema is not up to date yet.");
        return Err(problem.retry_after(1).into());
    }
    Ok("ready\n")
}

pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let running = app.engine.leases().len();
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (
        [(http::header::CONTENT_TYPE, content_type)],
        app.metrics.text(running),
    )
}
