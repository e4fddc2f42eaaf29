//! The record's statements: claim, look, take over, renew, suspend, release.

use super::{
    Error, Store, one_row,
    row::{RecordRow, inconsistent},
};
use protocol::{
    fingerprint::Fingerprint,
    record::{Hold, Owner, Record},
    response::{Header, Response},
    scope::Scope,
};
use sqlx::{FromRow, Row, postgres::PgRow, types::Uuid};
use std::time::Duration;
use time::OffsetDateTime;

/// A record about to be claimed: names, and the request that finishes it without its client.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// Its name.
    pub scope: Scope,
    /// What it is compared by.
    pub fingerprint: Fingerprint,
    /// Digest of the principal.
    pub principal: [u8; 32],
    /// SHA-256 of the key.
    pub key_hash: [u8; 32],
    /// As sent.
    pub method: String,
    /// As sent.
    pub path: String,
    /// Without `?`.
    pub query: String,
    /// The headers that the operation may need.
    pub headers: Vec<Header>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// The answer to a claim.
#[derive(Debug)]
pub enum Claimed {
    /// The record is ours.
    Won(Hold),
    /// There is one already.
    Met(Box<Stored>),
}

/// A record as it was found, with its response where that is kept and the fingerprint fits.
#[derive(Debug)]
pub struct Stored {
    /// Its state.
    pub record: Record,
    /// The archived response.
    pub response: Option<Response>,
    /// The database's clock when it was read.
    pub now: OffsetDateTime,
    /// When the first request was seen.
    pub first_seen: OffsetDateTime,
    /// When the lease ends or ended.
    pub lease_end: OffsetDateTime,
    /// When the answer expires.
    pub expires: Option<OffsetDateTime>,
    /// The resource.
    pub location: Option<String>,
    /// How many attempts there were.
    pub attempts: i32,
    /// What the first request was.
    pub fingerprint: Fingerprint,
}

/// An abandoned operation, taken over with the request that started it.
#[derive(Debug)]
pub struct TakenOver {
    /// The new attempt's hold.
    pub hold: Hold,
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
    /// Claims the scope for `owner`, or says what is there. The insert alone decides; what it met
    /// is read by a separate statement (CASES C53), and both empty means: again.
    pub async fn claim(
        &self,
        new: &NewRecord,
        owner: Owner,
        lease: Duration,
    ) -> Result<Claimed, Error> {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            if self.insert(new, owner, lease).await? {
                return Ok(Claimed::Won(Hold { generation: 1, fence: 1, owner }));
            }
            if let Some(stored) = self.find(&new.scope, Some(&new.fingerprint)).await? {
                return Ok(won_before(stored, owner));
            }
        }
        Err(inconsistent("neither inserted nor found"))
    }

    async fn insert(&self, new: &NewRecord, owner: Owner, lease: Duration) -> Result<bool, Error> {
        let inserted = sqlx::query(
            "INSERT INTO idempotency_records (
                 scope, fingerprint, fingerprint_version, generation, state, fence, owner,
                 lease_end, attempts, request_headers, request_body, principal, key_hash,
                 method, path, query, first_seen)
             SELECT $1, $2, $3, 1, 'pending', 1, $4, now + $5 * interval '1 microsecond', 1,
                    $6, $7, $8, $9, $10, $11, $12, now
             FROM clock_timestamp() AS now
             ON CONFLICT (scope) DO NOTHING",
        )
        .bind(new.scope.0.as_slice())
        .bind(new.fingerprint.digest.as_slice())
        .bind(i16::from(new.fingerprint.version))
        .bind(Uuid::from_bytes(owner))
        .bind(micros(lease))
        .bind(Response::encode_headers(&new.headers))
        .bind(&new.body)
        .bind(new.principal.as_slice())
        .bind(new.key_hash.as_slice())
        .bind(&new.method)
        .bind(&new.path)
        .bind(&new.query)
        .execute(&self.pool)
        .await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Claims a record that counts as absent: released, or expired where policy executes again.
    /// `met` is what it was when that was decided; anything else means: look again.
    pub async fn claim_again(
        &self,
        new: &NewRecord,
        met: &Hold,
        hold: &Hold,
        lease: Duration,
    ) -> Result<bool, Error> {
        let claimed = sqlx::query(
            "UPDATE idempotency_records SET
                 fingerprint = $2, fingerprint_version = $3, generation = $4, state = 'pending',
                 fence = $5, owner = $6, lease_end = now + $7 * interval '1 microsecond',
                 attempts = 1, may_have_acted = false, needs_operator = false,
                 request_headers = $8, request_body = $9, key_hash = $10, method = $11,
                 path = $12, query = $13, first_seen = now, finished_at = NULL,
                 expires_at = NULL, archive_day = NULL, location = NULL
             FROM clock_timestamp() AS now
             WHERE scope = $1 AND state <> 'pending'
               AND generation = $14 AND fence = $15 AND owner = $16",
        )
        .bind(new.scope.0.as_slice())
        .bind(new.fingerprint.digest.as_slice())
        .bind(i16::from(new.fingerprint.version))
        .bind(hold.generation)
        .bind(hold.fence)
        .bind(Uuid::from_bytes(hold.owner))
        .bind(micros(lease))
        .bind(Response::encode_headers(&new.headers))
        .bind(&new.body)
        .bind(new.key_hash.as_slice())
        .bind(&new.method)
        .bind(&new.path)
        .bind(&new.query)
        .bind(met.generation)
        .bind(met.fence)
        .bind(Uuid::from_bytes(met.owner))
        .execute(&self.pool)
        .await?;
        Ok(claimed.rows_affected() == 1)
    }

    /// Reads a record, with its response when it is of this fingerprint.
    pub async fn find(
        &self,
        scope: &Scope,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Option<Stored>, Error> {
        let row = sqlx::query(
            "SELECT r.fingerprint, r.fingerprint_version, r.generation, r.state, r.fence, r.owner,
                    r.lease_end, r.may_have_acted, r.needs_operator, r.expires_at, r.archive_day,
                    r.location, r.attempts, r.first_seen, clock_timestamp() AS now,
                    a.scope IS NOT NULL AS archived,
                    CASE WHEN r.fingerprint = $2 THEN a.status END AS status,
                    CASE WHEN r.fingerprint = $2 THEN a.headers END AS headers,
                    CASE WHEN r.fingerprint = $2 THEN a.body END AS body
             FROM idempotency_records r
             LEFT JOIN archived_responses a
               ON a.expires_day = r.archive_day AND a.scope = r.scope
              AND a.generation = r.generation
             WHERE r.scope = $1",
        )
        .bind(scope.0.as_slice())
        .bind(fingerprint.map(|fingerprint| fingerprint.digest.as_slice()))
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| stored(&row)).transpose()
    }

    /// Takes over one operation whose lease is over. `None` when it is not free, or no more.
    pub async fn take_over(
        &self,
        scope: &Scope,
        met: &Hold,
        owner: Owner,
        lease: Duration,
    ) -> Result<Option<TakenOver>, Error> {
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
        row.map(|row| taken_over(&row)).transpose()
    }

    /// Takes over up to `limit` operations whose lease is over, skipping what others are at.
    pub async fn take_over_abandoned(
        &self,
        owner: Owner,
        lease: Duration,
        limit: i64,
    ) -> Result<Vec<TakenOver>, Error> {
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
        rows.iter().map(taken_over).collect()
    }

    /// Renews the leases of all running attempts in one statement, in the order of their scopes
    /// (no deadlock between processes). Gives back which are still held.
    pub async fn renew(&self, renewals: &[Renewal], lease: Duration) -> Result<Vec<Scope>, Error> {
        let mut sorted = renewals.to_vec();
        sorted.sort_unstable_by_key(|renewal| renewal.scope);
        let scopes: Vec<_> = sorted.iter().map(|renewal| renewal.scope.0.to_vec()).collect();
        let fences: Vec<_> = sorted.iter().map(|renewal| renewal.hold.fence).collect();
        let owners: Vec<_> =
            sorted.iter().map(|renewal| Uuid::from_bytes(renewal.hold.owner)).collect();
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
        rows.iter().map(|row| scope_of(row)).collect()
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
    /// under random keys leave nothing behind.
    pub async fn delete_released(&self, limit: i64) -> Result<u64, Error> {
        let deleted = sqlx::query(
            "DELETE FROM idempotency_records WHERE state = 'released' AND scope IN (
                 SELECT scope FROM idempotency_records
                 WHERE state = 'released' AND lease_end < clock_timestamp() - interval '1 hour'
                 ORDER BY lease_end LIMIT $1 FOR UPDATE SKIP LOCKED)",
        )
        .bind(limit)
        .execute(&self.pool)
        .await?;
        Ok(deleted.rows_affected())
    }
}

/// A claim whose answer was lost is found again by its owner.
fn won_before(stored: Stored, owner: Owner) -> Claimed {
    match &stored.record {
        Record::Pending(pending) if pending.hold.owner == owner => Claimed::Won(pending.hold),
        _ => Claimed::Met(Box::new(stored)),
    }
}

fn stored(row: &PgRow) -> Result<Stored, Error> {
    let found = RecordRow::from_row(row)?;
    let status: Option<i16> = row.try_get("status")?;
    let response = match status {
        Some(status) => Some(response(row, status)?),
        None => None,
    };
    Ok(Stored {
        record: found.record(row.try_get("archived")?)?,
        response,
        now: found.now,
        first_seen: found.first_seen,
        lease_end: found.lease_end,
        expires: found.expires_at,
        fingerprint: found.fingerprint()?,
        location: found.location,
        attempts: found.attempts,
    })
}

fn response(row: &PgRow, status: i16) -> Result<Response, Error> {
    let headers: &[u8] = row.try_get("headers")?;
    let headers = Response::decode_headers(headers).ok_or(inconsistent("archived headers"))?;
    let status = u16::try_from(status).map_err(|_| inconsistent("archived status"))?;
    Ok(Response { status, headers, body: row.try_get("body")? })
}

fn taken_over(row: &PgRow) -> Result<TakenOver, Error> {
    let headers: Option<&[u8]> = row.try_get("request_headers")?;
    let headers = Response::decode_headers(headers.unwrap_or_default());
    let age: sqlx::postgres::types::PgInterval = row.try_get("age")?;
    let digest = bytes32(row, "fingerprint")?;
    let version = u8::try_from(row.try_get::<i16, _>("fingerprint_version")?);
    let version = version.map_err(|_| inconsistent("fingerprint_version"))?;
    Ok(TakenOver {
        hold: Hold {
            generation: row.try_get("generation")?,
            fence: row.try_get("fence")?,
            owner: row.try_get::<Uuid, _>("owner")?.into_bytes(),
        },
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

fn interval(interval: &sqlx::postgres::types::PgInterval) -> Duration {
    let days = u64::try_from(interval.days + 30 * interval.months).unwrap_or_default();
    let micros = u64::try_from(interval.microseconds).unwrap_or_default();
    Duration::from_micros(micros) + Duration::from_secs(days * 86_400)
}

fn scope_of(row: &PgRow) -> Result<Scope, Error> {
    bytes32(row, "scope").map(Scope)
}

fn bytes32(row: &PgRow, column: &'static str) -> Result<[u8; 32], Error> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map_err(|_| inconsistent(column))
}

/// An interval as a bigint of microseconds.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
