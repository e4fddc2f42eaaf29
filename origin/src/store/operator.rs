//! What an operator looks at and changes. Each change writes its row in the same statement.

use super::{
    Error, Hand,
    finish::{bind_response, state},
    one_row,
    records::{micros, scope_of},
};
use protocol::{
    record::{Hold, Outcome, Owner},
    response::Response,
    scope::Scope,
};
use sqlx::{
    FromRow, PgPool, Row,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
    types::Uuid,
};
use std::{str::FromStr, time::Duration};
use time::OffsetDateTime;

/// Which records. What is absent does not count.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The least and the greatest scope.
    pub scopes: Option<(Scope, Scope)>,
    /// SHA-256 of the key.
    pub key_hash: Option<[u8; 32]>,
    /// Digest of the principal, or the first bytes of it.
    pub principal: Option<Vec<u8>>,
    /// `pending`, `succeeded`, `failed` or `released`.
    pub state: Option<String>,
    /// Only those that wait for an operator.
    pub needs_operator: bool,
    /// First seen longer ago than this.
    pub older_than: Option<Duration>,
    /// At most so many, in the order of their scopes.
    pub limit: i64,
}

/// A record as an operator sees it.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its name.
    pub scope: Scope,
    /// Its state.
    pub state: String,
    /// Who holds it, or held it last.
    pub hold: Hold,
    /// How many attempts there were.
    pub attempts: i32,
    /// Whether it waits for an operator.
    pub needs_operator: bool,
    /// Digest of the principal.
    pub principal: Vec<u8>,
    /// SHA-256 of the key.
    pub key_hash: Vec<u8>,
    /// The route's method.
    pub method: String,
    /// The path as sent.
    pub path: String,
    /// When the first request was seen.
    pub first_seen: OffsetDateTime,
    /// When the lease ends or ended.
    pub lease_end: OffsetDateTime,
    /// When the answer expires.
    pub expires: Option<OffsetDateTime>,
    /// The resource.
    pub location: Option<String>,
}

/// A change that an operator has made.
#[derive(Debug, Clone, FromRow)]
pub struct Change {
    /// When.
    pub changed_at: OffsetDateTime,
    /// Who.
    pub operator: String,
    /// `release`, `resolve` or `purge`.
    pub action: String,
    /// What the record was before.
    pub state: String,
    /// Why, or how it was settled.
    pub note: String,
}

/// Who changes something, and why.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// The operator.
    pub operator: &'a str,
    /// For whoever reads the changes.
    pub note: &'a str,
}

/// The records of a filter; `$1` to `$8`.
const FILTER: &str = "
    r.scope >= coalesce($1::bytea, ''::bytea)
    AND ($2::bytea IS NULL OR r.scope <= $2)
    AND ($3::bytea IS NULL OR r.key_hash = $3)
    AND ($4::bytea IS NULL OR substring(r.principal FROM 1 FOR octet_length($4)) = $4)
    AND ($5::text IS NULL OR r.state = $5)
    AND (NOT $6 OR r.needs_operator)
    AND ($7::bigint IS NULL
         OR r.first_seen < clock_timestamp() - $7 * interval '1 microsecond')";

/// The record that an operator takes over, as it was: pending, and nobody's lease runs.
const TAKEN: &str = "
    WITH now AS MATERIALIZED (SELECT clock_timestamp() AS now),
    taken AS MATERIALIZED (
        SELECT r.scope, r.generation, r.state, r.fence, r.attempts
        FROM idempotency_records r, now
        WHERE r.scope = $1 AND r.state = 'pending' AND r.generation = $2 AND r.fence = $3
          AND r.owner = $4 AND (r.needs_operator OR r.lease_end <= now.now)
        FOR UPDATE OF r)";

/// An operator's connection, without the bounds of a request: it may look through everything.
#[derive(Debug, Clone)]
pub struct Desk {
    pool: PgPool,
}

/// An operator waits for nobody's lock for longer.
const SESSION: [(&str, &str); 1] = [("lock_timeout", "4s")];
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

impl Desk {
    /// Opens one on `url` without connecting yet.
    pub fn open(url: &str) -> Result<Self, Error> {
        let options = PgConnectOptions::from_str(url)?.options(SESSION);
        let pool = PgPoolOptions::new().max_connections(1);
        let pool = pool
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options);
        Ok(Self { pool })
    }

    /// Ends the connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// The records of a filter, in the order of their scopes.
    pub async fn list(&self, filter: &Filter) -> Result<Vec<Summary>, Error> {
        let query = format!(
            "SELECT r.scope, r.state, r.generation, r.fence, r.owner, r.attempts, r.needs_operator,
                    r.principal, r.key_hash, r.method, r.path, r.first_seen, r.lease_end,
                    r.expires_at, r.location
             FROM idempotency_records r WHERE {FILTER} ORDER BY r.scope LIMIT $8"
        );
        let rows = bind(sqlx::query(sqlx::AssertSqlSafe(query)), filter)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(summary).collect()
    }

    /// The archived response of a record.
    pub async fn archived(&self, scope: &Scope) -> Result<Option<Response>, Error> {
        let row = sqlx::query(
            "SELECT a.status, a.headers, a.body FROM idempotency_records r
             JOIN archived_responses a ON a.expires_day = r.archive_day AND a.scope = r.scope
               AND a.generation = r.generation
             WHERE r.scope = $1",
        )
        .bind(scope.0.as_slice())
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let status = row.try_get("status")?;
        super::finds::response(&row, status).map(Some)
    }

    /// What operators have changed under this scope, oldest first.
    pub async fn changes(&self, scope: &Scope) -> Result<Vec<Change>, Error> {
        let changes = sqlx::query_as(
            "SELECT changed_at, operator, action, state, note FROM record_changes
             WHERE scope = $1 ORDER BY id",
        )
        .bind(scope.0.as_slice())
        .fetch_all(&self.pool)
        .await?;
        Ok(changes)
    }

    /// An operator knows that nothing happened: the record counts as absent, though an attempt may
    /// have acted. `action` is what the operator called it.
    pub async fn settle_as_not_done(
        &self,
        scope: &Scope,
        met: &Hold,
        owner: Owner,
        by: By<'_>,
        action: &str,
    ) -> Result<(), Error> {
        let query = format!(
            "{TAKEN},
             released AS (
                 UPDATE idempotency_records r SET
                     state = 'released', fence = r.fence + 1, owner = $5, lease_end = now.now,
                     needs_operator = false, request_headers = NULL, request_body = NULL
                 FROM taken, now WHERE r.scope = taken.scope
                 RETURNING r.scope)
             INSERT INTO record_changes
                 (changed_at, operator, action, scope, generation, state, fence, attempts, note)
             SELECT now.now, $6, $7, taken.scope, generation, state, fence, attempts, $8
             FROM taken JOIN released USING (scope), now"
        );
        let changed = bind_met(sqlx::query(sqlx::AssertSqlSafe(query)), scope, met, owner)
            .bind(by.operator)
            .bind(action)
            .bind(by.note)
            .execute(&self.pool)
            .await?;
        one_row(changed.rows_affected())
    }

    /// An operator knows how it ended: the response is archived as if an attempt had finished.
    pub async fn settle_as_done(
        &self,
        met: &Hand,
        owner: Owner,
        outcome: Outcome,
        response: &Response,
        by: By<'_>,
    ) -> Result<(), Error> {
        let query = format!(
            "{TAKEN},
             finished AS (
                 UPDATE idempotency_records r SET
                     state = $6, fence = r.fence + 1, owner = $5, finished_at = now.now,
                     expires_at = now.now + $7 * interval '1 microsecond',
                     archive_day = CASE WHEN $8 THEN
                         ((now.now + $7 * interval '1 microsecond') AT TIME ZONE 'UTC')::date END,
                     location = $9, request_headers = NULL, request_body = NULL,
                     needs_operator = false,
                     tombstone_ends = now.now + $15::bigint * interval '1 microsecond'
                 FROM taken, now WHERE r.scope = taken.scope
                 RETURNING r.scope, r.generation, r.archive_day),
             archived AS (
                 INSERT INTO archived_responses
                     (expires_day, scope, generation, status, headers, body)
                 SELECT archive_day, scope, generation, $10, $11, $12 FROM finished
                 WHERE archive_day IS NOT NULL)
             INSERT INTO record_changes
                 (changed_at, operator, action, scope, generation, state, fence, attempts, note)
             SELECT now.now, $13, 'resolve', taken.scope, taken.generation, state, fence,
                    attempts, $14
             FROM taken JOIN finished USING (scope), now"
        );
        let query = bind_met(
            sqlx::query(sqlx::AssertSqlSafe(query)),
            &met.scope,
            &met.hold,
            owner,
        )
        .bind(state(outcome))
        .bind(micros(met.terms.retention));
        let changed = bind_response(query, met, response)
            .bind(by.operator)
            .bind(by.note)
            .bind(met.terms.tombstones_for.map(micros))
            .execute(&self.pool)
            .await?;
        one_row(changed.rows_affected())
    }

    /// Removes records that have ended, with their archived responses; gives back how many.
    pub async fn purge(&self, filter: &Filter, by: By<'_>) -> Result<u64, Error> {
        let query = format!(
            "WITH found AS (
                 SELECT r.scope FROM idempotency_records r
                 WHERE r.state <> 'pending' AND {FILTER} ORDER BY r.scope LIMIT $8
                 FOR UPDATE),
             purged AS (
                 DELETE FROM idempotency_records r USING found
                 WHERE r.scope = found.scope AND r.state <> 'pending'
                 RETURNING r.scope, r.generation, r.state, r.fence, r.attempts, r.archive_day),
             archives AS (
                 DELETE FROM archived_responses a USING purged p
                 WHERE a.expires_day = p.archive_day AND a.scope = p.scope
                   AND a.generation = p.generation)
             INSERT INTO record_changes
                 (changed_at, operator, action, scope, generation, state, fence, attempts, note)
             SELECT clock_timestamp(), $9, 'purge', scope, generation, state, fence, attempts, $10
             FROM purged"
        );
        let purged = bind(sqlx::query(sqlx::AssertSqlSafe(query)), filter)
            .bind(by.operator)
            .bind(by.note)
            .execute(&self.pool)
            .await?;
        Ok(purged.rows_affected())
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

fn bind<'q>(query: Query<'q>, filter: &'q Filter) -> Query<'q> {
    let bound = |pick: fn(&(Scope, Scope)) -> &Scope| {
        let scope = filter.scopes.as_ref().map(pick);
        scope.map(|scope| scope.0.to_vec())
    };
    query
        .bind(bound(|(least, _)| least))
        .bind(bound(|(_, greatest)| greatest))
        .bind(filter.key_hash.as_ref().map(<[u8; 32]>::as_slice))
        .bind(filter.principal.as_deref())
        .bind(filter.state.as_deref())
        .bind(filter.needs_operator)
        .bind(filter.older_than.map(micros))
        .bind(filter.limit)
}

/// `$1` to `$5`: the record as it was met, and its new owner.
fn bind_met<'q>(query: Query<'q>, scope: &Scope, met: &Hold, owner: Owner) -> Query<'q> {
    query
        .bind(scope.0.to_vec())
        .bind(met.generation)
        .bind(met.fence)
        .bind(Uuid::from_bytes(met.owner))
        .bind(Uuid::from_bytes(owner))
}

fn summary(row: &PgRow) -> Result<Summary, Error> {
    Ok(Summary {
        scope: scope_of(row)?,
        state: row.try_get("state")?,
        hold: Hold {
            generation: row.try_get("generation")?,
            fence: row.try_get("fence")?,
            owner: row.try_get::<Uuid, _>("owner")?.into_bytes(),
        },
        attempts: row.try_get("attempts")?,
        needs_operator: row.try_get("needs_operator")?,
        principal: row.try_get("principal")?,
        key_hash: row.try_get("key_hash")?,
        method: row.try_get("method")?,
        path: row.try_get("path")?,
        first_seen: row.try_get("first_seen")?,
        lease_end: row.try_get("lease_end")?,
        expires: row.try_get("expires_at")?,
        location: row.try_get("location")?,
    })
}
