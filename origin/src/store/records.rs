//! The record's statements: claim, look, take over, renew, suspend, release.

use super::{Error, Store, claims::Claim, row::inconsistent};
use protocol::{
    fingerprint::Fingerprint,
    record::{Hold, Owner, Record},
    response::{Header, Response},
    scope::Scope,
};
use sqlx::{Row, postgres::PgRow, types::Uuid};
use std::{sync::Arc, time::Duration};
use time::OffsetDateTime;
use tokio::time::Instant;

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
    /// When its key is forgotten.
    pub tombstone_ends: Option<OffsetDateTime>,
}

impl Stored {
    /// Whether the key counts as never used: from this very instant on, whenever the reaper comes.
    pub fn is_forgotten(&self) -> bool {
        let is_finished = matches!(self.record, Record::Finished(_));
        is_finished && self.tombstone_ends.is_some_and(|ends| self.now >= ends)
    }
}

/// How long a claim goes through broken connections before it is told that there is no store.
const RECONNECT: Duration = Duration::from_secs(2);
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Claims the scope for `owner`, or says what is there. When the connection breaks, as all do
    /// while Postgres restarts, another one is tried: the owner tells whether the insert arrived.
    pub async fn claim(
        &self,
        new: &Arc<NewRecord>,
        owner: Owner,
        lease: Duration,
    ) -> Result<Claimed, Error> {
        let deadline = Instant::now() + RECONNECT;
        let mut unanswered = None;
        loop {
            let error = match self.try_claim(new, owner, lease).await {
                Err(error @ Error::Unavailable(_)) => unanswered.clone().unwrap_or(error),
                Err(error @ Error::Unanswered(_)) => unanswered.insert(error).clone(),
                decided => return decided,
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    /// The insert alone decides; what it met is read by a separate statement (CASES C53), and both
    /// empty means: again.
    async fn try_claim(
        &self,
        new: &Arc<NewRecord>,
        owner: Owner,
        lease: Duration,
    ) -> Result<Claimed, Error> {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            let claim = Claim {
                new: Arc::clone(new),
                owner,
                lease,
            };
            if self.claims.run(claim).await.map_err(Error::of_claim)? {
                return Ok(Claimed::Won(Hold {
                    generation: 1,
                    fence: 1,
                    owner,
                }));
            }
            if let Some(stored) = self.find(&new.scope, Some(&new.fingerprint)).await? {
                return Ok(won_before(stored, owner));
            }
        }
        Err(inconsistent("neither inserted nor found"))
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
                 expires_at = NULL, archive_day = NULL, location = NULL,
                 tombstone_ends = NULL
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
        .await
        .map_err(|error| Error::from(error).of_claim())?;
        Ok(claimed.rows_affected() == 1)
    }
}

/// A claim whose answer was lost is found again by its owner.
fn won_before(stored: Stored, owner: Owner) -> Claimed {
    match &stored.record {
        Record::Pending(pending) if pending.hold.owner == owner => Claimed::Won(pending.hold),
        _ => Claimed::Met(Box::new(stored)),
    }
}

pub(super) fn scope_of(row: &PgRow) -> Result<Scope, Error> {
    bytes32(row, "scope").map(Scope)
}

pub(super) fn bytes32(row: &PgRow, column: &'static str) -> Result<[u8; 32], Error> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map_err(|_| inconsistent(column))
}

/// An interval as a bigint of microseconds.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
