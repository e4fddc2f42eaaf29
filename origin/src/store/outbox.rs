//! The outbox: events written with the effect, published afterwards.

use super::Error;
use super::Store;
use sqlx::FromRow;
use std::time::Duration;
use time::OffsetDateTime;

/// An event about to be written.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its own idempotency key, the same on every attempt.
    pub id: String,
    /// `order.created`.
    pub r#type: String,
    /// As JSON text.
    pub data: String,
}

/// An event about to be published.
#[derive(Debug, FromRow)]
pub struct Unpublished {
    /// Row.
    pub id: i64,
    /// Its own idempotency key.
    pub event_id: String,
    /// `order.created`.
    pub r#type: String,
    /// The order.
    pub subject: String,
    /// As JSON text.
    pub data: String,
    /// When it was written.
    pub created_at: OffsetDateTime,
    /// How often it was tried, this time included.
    pub attempts: i32,
}

impl Store {
    /// Takes up to `limit` events to publish, at most the oldest of each order, and puts their next
    /// try off by `lease`. What another process is at is left alone.
    pub async fn take_events(
        &self,
        lease: Duration,
        limit: i64,
    ) -> Result<Vec<Unpublished>, Error> {
        let events = sqlx::query_as(
            "UPDATE outbox o SET
                 attempts = o.attempts + 1,
                 next_attempt = clock_timestamp() + $1 * interval '1 microsecond'
             FROM (SELECT id FROM outbox first
                   WHERE published_at IS NULL AND dead_at IS NULL
                     AND next_attempt <= clock_timestamp()
                     AND NOT EXISTS (
                         SELECT FROM outbox earlier
                         WHERE earlier.subject = first.subject AND earlier.id < first.id
                           AND earlier.published_at IS NULL AND earlier.dead_at IS NULL)
                   ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) AS free
             WHERE o.id = free.id AND o.published_at IS NULL AND o.dead_at IS NULL
             RETURNING o.id, o.event_id, o.type, o.subject, o.data::text AS data, o.created_at,
                 o.attempts",
        )
        .bind(super::records::micros(lease))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        Ok(events)
    }

    /// The receiver has taken the event.
    pub async fn event_published(&self, id: i64) -> Result<(), Error> {
        sqlx::query(
            "UPDATE outbox SET published_at = clock_timestamp()
             WHERE id = $1 AND published_at IS NULL",
        )
        .bind(id)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The receiver has not taken it: next try after `retry_in`, or never again.
    pub async fn event_failed(&self, id: i64, retry_in: Option<Duration>) -> Result<(), Error> {
        sqlx::query(
            "UPDATE outbox SET
                 next_attempt = clock_timestamp() + COALESCE($2, 0) * interval '1 microsecond',
                 dead_at = CASE WHEN $2 IS NULL THEN clock_timestamp() END
             WHERE id = $1 AND published_at IS NULL",
        )
        .bind(id)
        .bind(retry_in.map(super::records::micros))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
