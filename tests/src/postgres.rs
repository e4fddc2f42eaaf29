//! A Postgres of one test's own, which it may stop and start again.

use crate::port;
use std::path::Path;
use xtask::{
    postgres::{self, Stop},
    process::Log,
};

/// A server with its data in the test's folder.
#[derive(Debug)]
pub struct Postgres {
    options: postgres::Options,
    server: Option<postgres::Postgres>,
}

impl Postgres {
    /// Starts one with empty data below `folder`.
    pub async fn start(folder: &Path) -> Self {
        let options = postgres::Options {
            data: folder.join("postgres"),
            port: port::free(),
            settings: vec!["fsync=off".to_owned()],
            log: Log::File(folder.join("postgres.log")),
        };
        let mut postgres = Self {
            options,
            server: None,
        };
        postgres.start_again().await;
        postgres
    }

    /// Where its superuser connects.
    pub fn url(&self) -> String {
        format!(
            "postgres://postgres@127.0.0.1:{}/postgres",
            self.options.port
        )
    }

    /// Stops the server: sessions are cut, and connections refused from now on.
    pub async fn stop(&mut self) {
        self.stop_by(Stop::Fast).await;
    }

    /// Stops the server at once, as in a crash; the next start recovers.
    pub async fn crash(&mut self) {
        self.stop_by(Stop::Immediate).await;
    }

    async fn stop_by(&mut self, mode: Stop) {
        let Some(server) = self.server.take() else {
            return;
        };
        let stopped = tokio::task::spawn_blocking(move || server.stop(mode));
        stopped.await.expect("the server ends");
    }

    /// Starts the server on the data that it left.
    pub async fn start_again(&mut self) {
        let options = self.options.clone();
        let started = tokio::task::spawn_blocking(move || postgres::Postgres::start(&options));
        let server = started
            .await
            .expect("no panic")
            .expect("a Postgres that starts");
        self.server = Some(server);
    }
}
