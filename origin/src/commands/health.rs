//! `origin health`: whether the origin beside us is ready, for a container that has no shell.

use crate::Failure;
use origin::config::{self, Environment};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(2);

/// Asks `/readyz` on the port of `BIND`.
pub(crate) async fn run() -> Result<(), Failure> {
    let environment = Environment::read()?;
    let bind = config::bind(|name| environment.get(name))?;
    let url = format!("http://127.0.0.1:{}/readyz", bind.port());
    let client = reqwest::Client::builder()
        .timeout(TIMEOUT)
        .no_proxy()
        .build()?;
    let answer = client.get(url).send().await;
    let answer = answer.map_err(|_| format!("nothing answers on port {}", bind.port()))?;
    match answer.status() {
        reqwest::StatusCode::OK => Ok(()),
        status => Err(format!("not ready: {status}").into()),
    }
}
