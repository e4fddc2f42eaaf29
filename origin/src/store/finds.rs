//! Reading records with their responses, in batches.

use super::{
    Error, Store, Stored,
    batch::Job,
    pool::Pool,
    row::{RecordRow, inconsistent},
};
use protocol::{fingerprint::Fingerprint, response::Response, scope::Scope};
use sqlx::{FromRow, Row, postgres::PgRow};
use std::collections::HashMap;

/// Which record, and the fingerprint whose response is asked for.
#[derive(Debug, Clone)]
pub(super) struct Find {
    scope: Scope,
    fingerprint: Option<[u8; 32]>,
}

/// One row for each that is there, by its place in the batch.
const FIND: &str = "
    SELECT f.n, r.fingerprint, r.fingerprint_version, r.generation, r.state, r.fence, r.owner,
           r.lease_end, r.may_have_acted, r.needs_operator, r.expires_at, r.archive_day,
           r.location, r.attempts, r.first_seen, r.tombstone_ends, clock_timestamp() AS now,
           a.scope IS NOT NULL AS archived,
           CASE WHEN r.fingerprint = f.fingerprint THEN a.status END AS status,
           CASE WHEN r.fingerprint = f.fingerprint THEN a.headers END AS headers,
           CASE WHEN r.fingerprint = f.fingerprint THEN a.body END AS body
    FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS f (scope, fingerprint, n)
    JOIN idempotency_records r ON r.scope = f.scope
    LEFT JOIN archived_responses a
      ON a.expires_day = r.archive_day AND a.scope = r.scope AND a.generation = r.generation";

impl Store {
    /// Reads a record, with its response when it is of this fingerprint.
    pub async fn find(
        &self,
        scope: &Scope,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Option<Stored>, Error> {
        let find = Find {
            scope: *scope,
            fingerprint: fingerprint.map(|fingerprint| fingerprint.digest),
        };
        self.finds.run(find).await
    }
}

/// Reads a batch; where it fails as a whole, each row alone.
pub(super) async fn read(pool: Pool, jobs: Vec<Job<Find, Option<Stored>>>) {
    let finds: Vec<_> = jobs.iter().map(|(find, _)| find.clone()).collect();
    match select(&pool, &finds).await {
        Err(Error::Statement(_)) if jobs.len() > 1 => {
            for (find, result) in jobs {
                let found = select(&pool, std::slice::from_ref(&find)).await;
                drop(result.send(found.and_then(|mut found| taken(&mut found, 1))));
            }
        }
        Ok(mut found) => {
            for ((_, result), n) in jobs.into_iter().zip(1..) {
                drop(result.send(taken(&mut found, n)));
            }
        }
        Err(error) => {
            for (_, result) in jobs {
                drop(result.send(Err(error.clone())));
            }
        }
    }
}

type Found = HashMap<i64, Result<Stored, Error>>;

fn taken(found: &mut Found, n: i64) -> Result<Option<Stored>, Error> {
    found.remove(&n).transpose()
}

async fn select(pool: &Pool, finds: &[Find]) -> Result<Found, Error> {
    let scopes: Vec<_> = finds.iter().map(|find| find.scope.0.as_slice()).collect();
    let fingerprints: Vec<_> = finds.iter().map(|find| find.fingerprint.as_ref()).collect();
    let fingerprints: Vec<_> = fingerprints
        .iter()
        .map(|digest| digest.map(<[u8; 32]>::as_slice))
        .collect();
    let rows = sqlx::query(FIND)
        .bind(scopes)
        .bind(fingerprints)
        .fetch_all(pool)
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get("n")?, stored(row))))
        .collect()
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
        tombstone_ends: row.try_get("tombstone_ends")?,
        location: found.location,
        attempts: found.attempts,
    })
}

pub(super) fn response(row: &PgRow, status: i16) -> Result<Response, Error> {
    let headers: &[u8] = row.try_get("headers")?;
    let headers = Response::decode_headers(headers).ok_or(inconsistent("archived headers"))?;
    let status = u16::try_from(status).map_err(|_| inconsistent("archived status"))?;
    Ok(Response {
        status,
        headers,
        body: row.try_get("body")?,
    })
}
