//! Claiming: the insert that decides, in batches.

use super::{Error, NewRecord, batch::Job, pool::Pool, records::micros};
use protocol::{record::Owner, response::Response, scope::Scope};
use sqlx::{Row, types::Uuid};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// A claim under way.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub new: Arc<NewRecord>,
    pub owner: Owner,
    pub lease: Duration,
}

/// Sorted by scope, so that two processes' batches never wait for each other in a circle. A scope
/// that is twice in one batch is inserted once: the owner that comes back says who won.
const CLAIM: &str = include_str!("claim.sql");

/// Writes a batch. Where it fails as a whole, each row is tried alone, so that one bad row never
/// fails its neighbours.
pub(super) async fn write(pool: Pool, jobs: Vec<Job<Claim, bool>>) {
    let claims: Vec<_> = jobs.iter().map(|(claim, _)| claim.clone()).collect();
    match insert(&pool, &claims).await {
        Err(Error::Statement(_)) if jobs.len() > 1 => {
            for (claim, result) in jobs {
                let won = insert(&pool, std::slice::from_ref(&claim)).await;
                drop(result.send(won.map(|won| has_won(&won, &claim))));
            }
        }
        outcome => {
            for (claim, result) in jobs {
                let won = outcome.as_ref().map(|won| has_won(won, &claim));
                drop(result.send(won.map_err(Error::clone)));
            }
        }
    }
}

fn has_won(won: &HashMap<Scope, Owner>, claim: &Claim) -> bool {
    won.get(&claim.new.scope) == Some(&claim.owner)
}

/// Inserts what is absent; gives back who won which scope.
async fn insert(pool: &Pool, claims: &[Claim]) -> Result<HashMap<Scope, Owner>, Error> {
    let bytes = |part: fn(&NewRecord) -> &[u8]| -> Vec<&[u8]> {
        claims.iter().map(|claim| part(&claim.new)).collect()
    };
    let texts = |part: fn(&NewRecord) -> &str| -> Vec<&str> {
        claims.iter().map(|claim| part(&claim.new)).collect()
    };
    let versions = claims.iter().map(|c| i16::from(c.new.fingerprint.version));
    let owners = claims.iter().map(|c| Uuid::from_bytes(c.owner));
    let headers = claims
        .iter()
        .map(|c| Response::encode_headers(&c.new.headers));
    let rows = sqlx::query(CLAIM)
        .bind(bytes(|new| &new.scope.0))
        .bind(bytes(|new| &new.fingerprint.digest))
        .bind(versions.collect::<Vec<_>>())
        .bind(owners.collect::<Vec<_>>())
        .bind(claims.iter().map(|c| micros(c.lease)).collect::<Vec<_>>())
        .bind(headers.collect::<Vec<_>>())
        .bind(bytes(|new| &new.body))
        .bind(bytes(|new| &new.principal))
        .bind(bytes(|new| &new.key_hash))
        .bind(texts(|new| &new.method))
        .bind(texts(|new| &new.path))
        .bind(texts(|new| &new.query))
        .fetch_all(pool)
        .await?;
    rows.iter()
        .map(|row| {
            let owner: Uuid = row.try_get("owner")?;
            Ok((super::records::scope_of(row)?, owner.into_bytes()))
        })
        .collect()
}
