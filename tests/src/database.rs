//! A fresh database for one test, and what a test counts in it.

use crate::eventually::eventually;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, FromRow, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
};
use std::{
    env,
    net::{SocketAddr, ToSocketAddrs},
    str::FromStr,
    thread,
    time::Duration,
};

/// A database of its own on a running server. It is dropped at the end, with whoever is connected.
#[derive(Debug)]
pub struct Database {
    server: PgConnectOptions,
    name: String,
    pool: PgPool,
}

impl Database {
    /// On the server that `cargo xtask test` has started.
    pub async fn create() -> Self {
        let url = env::var("TEST_DATABASE_URL");
        let url = url.expect("TEST_DATABASE_URL is not set: run `cargo xtask test [filter]`");
        Self::create_on(&url).await
    }

    /// On the server of this URL, whose user may create databases.
    pub async fn create_on(server: &str) -> Self {
        let server = PgConnectOptions::from_str(server).expect("a Postgres URL");
        let name = format!("unavez_{}", uuid::Uuid::new_v4().simple());
        administer(&server, format!("CREATE DATABASE {name}"))
            .await
            .expect("a new database");
        let options = server.clone().database(&name);
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .connect_lazy_with(options);
        Self { server, name, pool }
    }

    /// Its URL, for a program.
    pub fn url(&self) -> String {
        self.url_by_port(self.server.get_port())
    }

    /// Its URL by way of another port of this machine.
    pub fn url_by_port(&self, port: u16) -> String {
        let options = self.server.clone().database(&self.name).port(port);
        options.to_url_lossy().to_string()
    }

    /// Where its server listens.
    pub fn server_address(&self) -> SocketAddr {
        let address = (self.server.get_host(), self.server.get_port()).to_socket_addrs();
        address
            .ok()
            .and_then(|mut found| found.next())
            .expect("a server with an address")
    }

    /// A session of its own, for transactions that stay open.
    pub async fn session(&self) -> PgConnection {
        let options = self.server.clone().database(&self.name);
        let session = PgConnection::connect_with(&options).await;
        session.expect("a session")
    }

    /// The one number that a query gives.
    pub async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .expect(query)
    }

    /// All rows that a query gives.
    pub async fn rows<T: Send + Unpin + for<'r> FromRow<'r, PgRow>>(
        &self,
        query: &'static str,
    ) -> Vec<T> {
        let rows = sqlx::query_as(query).fetch_all(&self.pool);
        rows.await.expect(query)
    }

    /// Carries out a statement.
    pub async fn execute(&self, statement: &'static str) {
        sqlx::query(statement)
            .execute(&self.pool)
            .await
            .expect(statement);
    }

    /// Returns when a statement with these words waits for another session's lock.
    pub async fn wait_for_a_lock(&self, words: &str) {
        let waiting = "
            SELECT EXISTS (SELECT FROM pg_stat_activity
                           WHERE datname = current_database() AND wait_event_type = 'Lock'
                             AND strpos(query, $1) > 0)";
        let waits = async || {
            let waits = sqlx::query_scalar(waiting).bind(words);
            waits.fetch_one(&self.pool).await.expect(words)
        };
        eventually(words, Duration::from_secs(10), waits).await;
    }

    /// How many orders there are.
    pub async fn orders(&self) -> i64 {
        self.number("SELECT count(*) FROM orders").await
    }

    /// How many idempotency records there are, released ones included.
    pub async fn records(&self) -> i64 {
        self.number("SELECT count(*) FROM idempotency_records")
            .await
    }

    /// How many events of a type were written, published or not.
    pub async fn events(&self, r#type: &str) -> i64 {
        let count = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE type = $1").bind(r#type);
        count.fetch_one(&self.pool).await.expect("a count")
    }

    /// How many pieces are left.
    pub async fn stock(&self, sku: &str) -> i64 {
        let stock = sqlx::query_scalar("SELECT stock FROM inventory WHERE sku = $1").bind(sku);
        stock.fetch_one(&self.pool).await.expect("a known SKU")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A thread, because the test's own runtime may be gone or must not be blocked on.
        let dropped = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            // A server that the test has stopped keeps nothing for longer than its folder.
            let _ = runtime.map(|runtime| runtime.block_on(administer(&server, statement)));
        });
        let _ = dropped.join();
    }
}

async fn administer(server: &PgConnectOptions, statement: String) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect_with(server).await?;
    sqlx::query(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await?;
    connection.close().await
}
