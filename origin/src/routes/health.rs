//! `/healthz`: the process lives. `/readyz`: it can decide.

use crate::{App, Error};
use axum::extract::State;

pub(super) async fn alive() -> &'static str {
    "ok\n"
}

pub(super) async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    app.engine.store.ping().await?;
    Ok("ready\n")
}
