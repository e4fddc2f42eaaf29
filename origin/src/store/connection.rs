//! The pool, and how it meets a Postgres that comes and goes.

use super::{
    Error, Stored,
    batch::Batch,
    claims::{self, Claim},
    finds::{self, Find},
    finish::{self, Archiving},
    pool::Pool,
};
use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{str::FromStr, sync::Arc, time::Duration};
use time::OffsetDateTime;

/// How long a request waits for a connection before it is told 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// A connection that rested longer is asked whether it still lives before it is used.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// Bounds on the server's side: nothing of ours runs longer, and nothing rests in a transaction.
/// And every statement finds its rows by an index, so a plan that was made while the tables were
/// small may not scan them when they have grown.
const SESSION: [(&str, &str); 6] = [
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("statement_timeout", "5s"),
    ("lock_timeout", "4s"),
    ("idle_in_transaction_session_timeout", "10s"),
];

/// A handle on the database, cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) pool: Pool,
    /// For a session without the bounds.
    options: PgConnectOptions,
    pub(super) claims: Arc<Batch<Claim, bool>>,
    pub(super) finishes: Arc<Batch<Archiving, OffsetDateTime>>,
    pub(super) finds: Arc<Batch<Find, Option<Stored>>>,
}

/// Statements of one kind at a time: more would only split the batches.
const STATEMENTS_AT_ONCE: usize = 4;
/// The largest batch of rows. More would hold row locks for longer without saving much.
const ROWS_AT_ONCE: usize = 64;
/// Fewer where each may bring a whole response.
const RESPONSES_AT_ONCE: usize = 16;

impl Store {
    /// Opens a pool on `url` without connecting yet, so that the origin starts before Postgres.
    pub fn open(url: &str, connections: u32) -> Result<Self, Error> {
        let options = PgConnectOptions::from_str(url)?;
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    Ok(meta.idle_for < TRUSTED_IDLE || connection.ping().await.is_ok())
                })
            })
            .connect_lazy_with(options.clone().options(SESSION));
        let pool = Pool(pool);
        let (claims, finishes, finds) = (pool.clone(), pool.clone(), pool.clone());
        let claims = Batch::new(STATEMENTS_AT_ONCE, ROWS_AT_ONCE, move |jobs| {
            claims::write(claims.clone(), jobs)
        });
        let finishes = Batch::new(STATEMENTS_AT_ONCE, ROWS_AT_ONCE, move |jobs| {
            finish::write(finishes.clone(), jobs)
        });
        let finds = Batch::new(STATEMENTS_AT_ONCE, RESPONSES_AT_ONCE, move |jobs| {
            finds::read(finds.clone(), jobs)
        });
        Ok(Self {
            pool,
            options,
            claims: Arc::new(claims),
            finishes: Arc::new(finishes),
            finds: Arc::new(finds),
        })
    }

    /// Brings the schema up to date. Safe when several origins start at once: the migrator holds
    /// an advisory lock. It may wait for it, and work, for longer than a request does.
    pub async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        let options = self.options.clone();
        let pool = PgPoolOptions::new().max_connections(1);
        let pool = pool
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options);
        // An older origin serves on beside a newer one, whose migrations it does not know.
        sqlx::migrate!("../migrations")
            .set_ignore_missing(true)
            .run(&pool)
            .await?;
        pool.close().await;
        Ok(())
    }

    /// Whether Postgres answers.
    pub async fn ping(&self) -> Result<(), Error> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    /// Closes the pool once its connections are back.
    pub async fn close(&self) {
        self.pool.0.close().await;
    }
}
