//! Refunds that are owed.

use super::{Error, Store, records::micros, row::inconsistent};
use protocol::scope::Scope;
use sqlx::Row;
use std::time::Duration;

/// A charge to give back.
#[derive(Debug, Clone)]
pub struct Refund {
    /// Whose charge it was.
    pub scope: Scope,
    /// Which execution.
    pub generation: i32,
    /// The charge.
    pub charge_id: String,
    /// How often it was tried, this time included.
    pub attempts: i32,
}

impl Store {
    /// Takes up to `limit` refunds that are due and puts their next try off by `lease`.
    pub async fn take_refunds(&self, lease: Duration, limit: i64) -> Result<Vec<Refund>, Error> {
        let rows = sqlx::query(
            "UPDATE refunds r SET
                 attempts = r.attempts + 1,
                 next_attempt = clock_timestamp() + $1 * interval '1 microsecond'
             FROM (SELECT scope, generation FROM refunds
                   WHERE refunded_at IS NULL AND NOT needs_operator
                     AND next_attempt <= clock_timestamp()
                   ORDER BY next_attempt LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
             WHERE r.scope = due.scope AND r.generation = due.generation
               AND r.refunded_at IS NULL
             RETURNING r.scope, r.generation, r.charge_id, r.attempts",
        )
        .bind(micros(lease))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                let scope: &[u8] = row.try_get("scope")?;
                let scope = scope.try_into().map_err(|_| inconsistent("refund scope"))?;
                Ok(Refund {
                    scope: Scope(scope),
                    generation: row.try_get("generation")?,
                    charge_id: row.try_get("charge_id")?,
                    attempts: row.try_get("attempts")?,
                })
            })
            .collect()
    }

    /// The charge has been given back.
    pub async fn refunded(&self, refund: &Refund, refund_id: &str) -> Result<(), Error> {
        sqlx::query(
            "UPDATE refunds SET refunded_at = clock_timestamp(), refund_id = $3
             WHERE scope = $1 AND generation = $2 AND refunded_at IS NULL",
        )
        .bind(refund.scope.0.as_slice())
        .bind(refund.generation)
        .bind(refund_id)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// It has not: next try after `retry_in`, or an operator.
    pub async fn refund_failed(
        &self,
        refund: &Refund,
        retry_in: Option<Duration>,
    ) -> Result<(), Error> {
        sqlx::query(
            "UPDATE refunds SET
                 next_attempt = clock_timestamp() + COALESCE($3, 0) * interval '1 microsecond',
                 needs_operator = $3 IS NULL
             WHERE scope = $1 AND generation = $2 AND refunded_at IS NULL",
        )
        .bind(refund.scope.0.as_slice())
        .bind(refund.generation)
        .bind(retry_in.map(micros))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
