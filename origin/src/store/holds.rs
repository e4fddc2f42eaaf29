//! Holding a record: take over, renew, suspend, release.

use super::{
    Error, NewRecord, Store, one_row,
    records::{bytes32, micros, scope_of},
    row::inconsistent,
};
use protocol::{
    fingerprint::Fingerprint,
    record::{Hold, Owner},
    response::Response,
    scope::Scope,
};
use sqlx::{
    Row,
    postgres::{PgRow, types::PgInterval},
    types::Uuid,
};
use std::time::Duration;
use tokio::time::Instant;

/// An abandoned operation, taken over with the request that started it.
#[derive(Debug)]
pub struct TakenOver {
    /// The new attempt's hold.
    pub hold: Hold,
    /// When it was asked for, on this process's monotonic clock.
    pub asked_at: Instant,
    /// How many attempts there were, this one included.
    pub attempts: i32,
    /// When the first request was seen, on the database's clock, and its age.
    pub age: Duration,
    /// The request.
    pub request: NewRecord,
}

/// One line of a renewal.
#[derive(Debug, Clone, Copy)]
pub struct Renewal {
    /// Which record.
    pub scope: Scope,
    /// Whose attempt.
    pub hold: Hold,
}

impl Store {
    /// Takes over one operation whose lease is over. `None` when it is not free, or no more.
    pub async fn take_over(
        &self,
        scope: &Scope,
        met: &Hold,
        owner: Owner,
        lease: Duration,
    ) -> Result<Option<TakenOver>, Error> {
        let asked_at = Instant::now();
        let row = sqlx::query(
            "UPDATE idempotency_records SET
                 fence = fence + 1, owner = $5, attempts = attempts + 1, may_have_acted = true,
                 lease_end = now + $6 * interval '1 microsecond'
             FROM clock_timestamp() AS now
             WHERE scope = $1 AND state = 'pending' AND generation = $2 AND fence = $3
               AND owner = $4 AND lease_end <= now AND NOT needs_operator
             RETURNING scope, generation, fence, owner, attempts, fingerprint,
                 fingerprint_version, request_headers, request_body, principal, key_hash, method,
                 path, query, now - first_seen AS age",
        )
        .bind(scope.0.as_slice())
        .bind(met.generation)
        .bind(met.fence)
        .bind(Uuid::from_bytes(met.owner))
        .bind(Uuid::from_bytes(owner))
        .bind(micros(lease))
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| taken_over(&row, asked_at)).transpose()
    }

    /// Takes over up to `limit` operations whose lease is over, skipping what others are at.
    pub async fn take_over_abandoned(
        &self,
        owner: Owner,
        lease: Duration,
        limit: i64,
    ) -> Result<Vec<TakenOver>, Error> {
        let asked_at = Instant::now();
        let rows = sqlx::query(
            "UPDATE idempotency_records r SET
                 fence = r.fence + 1, owner = $1, attempts = r.attempts + 1, may_have_acted = true,
                 lease_end = now + $2 * interval '1 microsecond'
             FROM clock_timestamp() AS now, (
                 SELECT scope FROM idempotency_records
                 WHERE state = 'pending' AND NOT needs_operator AND lease_end <= clock_timestamp()
                 ORDER BY lease_end LIMIT $3 FOR UPDATE SKIP LOCKED) AS free
             WHERE r.scope = free.scope AND r.state = 'pending'
             RETURNING r.scope, r.generation, r.fence, r.owner, r.attempts, r.fingerprint,
                 r.fingerprint_version, r.request_headers, r.request_body, r.principal,
                 r.key_hash, r.method, r.path, r.query, now - r.first_seen AS age",
        )
        .bind(Uuid::from_bytes(owner))
        .bind(micros(lease))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| taken_over(row, asked_at)).collect()
    }

    /// Renews the leases of all running attempts in one statement, in the order of their scopes
    /// (no deadlock between processes). Gives back which are still held.
    pub async fn renew(&self, renewals: &[Renewal], lease: Duration) -> Result<Vec<Scope>, Error> {
        let mut sorted = renewals.to_vec();
        sorted.sort_unstable_by_key(|renewal| renewal.scope);
        let scopes: Vec<_> = sorted
            .iter()
            .map(|renewal| renewal.scope.0.to_vec())
            .collect();
        let fences: Vec<_> = sorted.iter().map(|renewal| renewal.hold.fence).collect();
        let owners: Vec<_> = sorted
            .iter()
            .map(|renewal| Uuid::from_bytes(renewal.hold.owner))
            .collect();
        let rows = sqlx::query(
            "WITH held AS (
                 SELECT r.scope, h.fence, h.owner
                 FROM unnest($1::bytea[], $2::bigint[], $3::uuid[]) AS h (scope, fence, owner)
                 JOIN idempotency_records r ON r.scope = h.scope AND r.state = 'pending'
                   AND r.fence = h.fence AND r.owner = h.owner
                 ORDER BY r.scope FOR UPDATE OF r)
             UPDATE idempotency_records r
             SET lease_end = clock_timestamp() + $4 * interval '1 microsecond'
             FROM held
             WHERE r.scope = held.scope AND r.state = 'pending'
               AND r.fence = held.fence AND r.owner = held.owner
             RETURNING r.scope",
        )
        .bind(scopes)
        .bind(fences)
        .bind(owners)
        .bind(micros(lease))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(scope_of).collect()
    }

    /// Ends the lease of an attempt whose outcome is not known; another may follow after
    /// `retry_in`, or only an operator.
    pub async fn suspend(
        &self,
        scope: &Scope,
        hold: &Hold,
        retry_in: Duration,
        needs_operator: bool,
    ) -> Result<(), Error> {
        let suspended = sqlx::query(
            "UPDATE idempotency_records SET
                 lease_end = clock_timestamp() + $5 * interval '1 microsecond',
                 may_have_acted = true, needs_operator = $6
             WHERE scope = $1 AND state = 'pending'
               AND generation = $2 AND fence = $3 AND owner = $4",
        )
        .bind(scope.0.as_slice())
        .bind(hold.generation)
        .bind(hold.fence)
        .bind(Uuid::from_bytes(hold.owner))
        .bind(micros(retry_in))
        .bind(needs_operator)
        .execute(&self.pool)
        .await?;
        one_row(suspended.rows_affected())
    }

    /// Nothing happened: the record counts as absent. Refused where an earlier attempt may have
    /// acted.
    pub async fn release(&self, scope: &Scope, hold: &Hold) -> Result<(), Error> {
        let released = sqlx::query(
            "UPDATE idempotency_records SET
                 state = 'released', lease_end = clock_timestamp(),
                 request_headers = NULL, request_body = NULL
             WHERE scope = $1 AND state = 'pending' AND NOT may_have_acted
               AND generation = $2 AND fence = $3 AND owner = $4",
        )
        .bind(scope.0.as_slice())
        .bind(hold.generation)
        .bind(hold.fence)
        .bind(Uuid::from_bytes(hold.owner))
        .execute(&self.pool)
        .await?;
        one_row(released.rows_affected())
    }

    /// Deletes up to `limit` records that were released an hour ago, so that refused requests
    /// under random keys leave nothing behind. Only those of the first generation: a later one
    /// must not be counted from one again, under the child keys of an effect that happened.
    pub async fn delete_released(&self, limit: i64) -> Result<u64, Error> {
        let deleted = sqlx::query(
            "DELETE FROM idempotency_records
             WHERE state = 'released' AND generation = 1 AND scope IN (
                 SELECT scope FROM idempotency_records
                 WHERE state = 'released' AND generation = 1
                   AND lease_end < clock_timestamp() - interval '1 hour'
                 ORDER BY lease_end LIMIT $1 FOR UPDATE SKIP LOCKED)",
        )
        .bind(limit)
        .execute(&self.pool)
        .await?;
        Ok(deleted.rows_affected())
    }
}

fn taken_over(row: &PgRow, asked_at: Instant) -> Result<TakenOver, Error> {
    let headers: Option<&[u8]> = row.try_get("request_headers")?;
    let headers = Response::decode_headers(headers.unwrap_or_default());
    let age: PgInterval = row.try_get("age")?;
    let digest = bytes32(row, "fingerprint")?;
    let version = u8::try_from(row.try_get::<i16, _>("fingerprint_version")?);
    let version = version.map_err(|_| inconsistent("fingerprint_version"))?;
    Ok(TakenOver {
        hold: Hold {
            generation: row.try_get("generation")?,
            fence: row.try_get("fence")?,
            owner: row.try_get::<Uuid, _>("owner")?.into_bytes(),
        },
        asked_at,
        attempts: row.try_get("attempts")?,
        age: interval(&age),
        request: NewRecord {
            scope: scope_of(row)?,
            fingerprint: Fingerprint { version, digest },
            principal: bytes32(row, "principal")?,
            key_hash: bytes32(row, "key_hash")?,
            method: row.try_get("method")?,
            path: row.try_get("path")?,
            query: row.try_get("query")?,
            headers: headers.ok_or(inconsistent("request_headers"))?,
            body: row.try_get("request_body")?,
        },
    })
}

fn interval(interval: &PgInterval) -> Duration {
    let days = u64::try_from(interval.days + 30 * interval.months).unwrap_or_default();
    let micros = u64::try_from(interval.microseconds).unwrap_or_default();
    Duration::from_micros(micros) + Duration::from_secs(days * 86_400)
}
