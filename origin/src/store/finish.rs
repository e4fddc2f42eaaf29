//! Finishing: business rows, events, archived response, state and fence, all or nothing.

use super::{Error, Placement, Store, batch::Job, pool::Pool, records::micros};
use protocol::{
    policy::Route,
    record::{Hold, Outcome},
    response::Response,
    scope::Scope,
};
use sqlx::{Row, postgres::PgRow, types::Uuid};
use std::{collections::HashMap, sync::Arc, time::Duration};
use time::OffsetDateTime;

/// What the finishing transaction writes.
#[derive(Debug)]
pub enum Finishing {
    /// A response and nothing else.
    Response {
        /// How the operation ended.
        outcome: Outcome,
        /// What is archived.
        response: Arc<Response>,
    },
    /// An order; or, where a piece is sold out, the refusal and the refund.
    Order(Box<Placement>),
}

/// A finish that is in the database.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The response that was archived.
    pub response: Arc<Response>,
    /// When it expires.
    pub expires: OffsetDateTime,
    /// Retention that was left when the database said so.
    pub remaining: Duration,
}

/// What a finish names and is bound by.
#[derive(Debug, Clone, Copy)]
pub struct Hand {
    /// Which record.
    pub scope: Scope,
    /// Whose attempt.
    pub hold: Hold,
    /// What is kept of the response.
    pub terms: Terms,
}

/// How long a response is replayed, and how large a body is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// From the finish.
    pub retention: Duration,
    /// In bytes, inclusive; `None` keeps no body at all.
    pub body_max: Option<usize>,
    /// From the finish, until when the key is remembered; `None` is for ever.
    pub tombstones_for: Option<Duration>,
}

impl Terms {
    /// What the route says, where the operation says nothing else.
    pub fn of(route: &Route) -> Self {
        Self {
            retention: route.retention,
            body_max: Some(route.response_max),
            tombstones_for: route.tombstones_for,
        }
    }
}

/// A response about to be archived.
#[derive(Debug, Clone)]
pub(super) struct Archiving {
    hand: Hand,
    outcome: Outcome,
    response: Arc<Response>,
}

impl Store {
    /// Finishes the operation, or says that the attempt no longer holds it.
    pub async fn finish(&self, hand: Hand, finishing: &Finishing) -> Result<Finished, Error> {
        match finishing {
            Finishing::Response { outcome, response } => {
                let (outcome, response) = (*outcome, Arc::clone(response));
                let archiving = Archiving {
                    hand,
                    outcome,
                    response: Arc::clone(&response),
                };
                let expires = self.finishes.run(archiving).await?;
                Ok(hand.finished(&response, expires))
            }
            Finishing::Order(placement) => self.finish_order(hand, placement).await,
        }
    }
}

/// Records are locked in the order of their scopes, so that two batches never wait in a circle.
const FINISH: &str = include_str!("finish.sql");

type Ended = HashMap<(Scope, [u8; 16]), OffsetDateTime>;

/// Writes a batch; where it fails as a whole, each row alone.
pub(super) async fn write(pool: Pool, jobs: Vec<Job<Archiving, OffsetDateTime>>) {
    let rows: Vec<_> = jobs.iter().map(|(row, _)| row.clone()).collect();
    match archive(&pool, &rows).await {
        Err(Error::Statement(_)) if jobs.len() > 1 => {
            for (row, result) in jobs {
                let ended = archive(&pool, std::slice::from_ref(&row)).await;
                drop(result.send(ended.and_then(|ended| expiry(&ended, &row))));
            }
        }
        outcome => {
            for (row, result) in jobs {
                let ended = outcome.as_ref().map_err(Error::clone);
                drop(result.send(ended.and_then(|ended| expiry(ended, &row))));
            }
        }
    }
}

/// When it expires; a row that did not come back is no longer held.
fn expiry(ended: &Ended, row: &Archiving) -> Result<OffsetDateTime, Error> {
    let found = ended.get(&(row.hand.scope, row.hand.hold.owner));
    found.copied().ok_or(Error::HoldLost)
}

async fn archive(pool: &Pool, rows: &[Archiving]) -> Result<Ended, Error> {
    fn each<'a, T>(rows: &'a [Archiving], part: impl Fn(&'a Archiving) -> T) -> Vec<T> {
        rows.iter().map(part).collect()
    }
    let ended = sqlx::query(FINISH)
        .bind(each(rows, |row| row.hand.scope.0.as_slice()))
        .bind(each(rows, |row| row.hand.hold.generation))
        .bind(each(rows, |row| row.hand.hold.fence))
        .bind(each(rows, |row| Uuid::from_bytes(row.hand.hold.owner)))
        .bind(each(rows, |row| micros(row.hand.terms.retention)))
        .bind(each(rows, |row| state(row.outcome)))
        .bind(each(rows, |row| row.hand.keeps(&row.response)))
        .bind(each(rows, |row| location(&row.response)))
        .bind(each(rows, |row| status(&row.response)))
        .bind(each(rows, |row| {
            Response::encode_headers(&row.response.headers)
        }))
        .bind(each(rows, |row| row.hand.kept_body(&row.response)))
        .bind(each(rows, |row| row.hand.terms.tombstones_for.map(micros)))
        .fetch_all(pool)
        .await?;
    ended
        .iter()
        .map(|row| {
            let owner: Uuid = row.try_get("owner")?;
            let name = (super::records::scope_of(row)?, owner.into_bytes());
            Ok((name, row.try_get("expires_at")?))
        })
        .collect()
}

impl Hand {
    fn keeps(&self, response: &Response) -> bool {
        let max = self.terms.body_max;
        max.is_some_and(|max| response.body.len() <= max)
    }

    /// What is not kept has no retention left to be replayed in.
    pub(super) fn finished(&self, response: &Arc<Response>, expires: OffsetDateTime) -> Finished {
        let keeps = self.keeps(response);
        Finished {
            response: Arc::clone(response),
            expires,
            remaining: if keeps {
                self.terms.retention
            } else {
                Duration::ZERO
            },
        }
    }

    fn kept_body<'a>(&self, response: &'a Response) -> &'a [u8] {
        if self.keeps(response) {
            &response.body
        } else {
            &[]
        }
    }
}

pub(super) fn state(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
    }
}

fn location(response: &Response) -> Option<&str> {
    std::str::from_utf8(response.header("location")?).ok()
}

fn status(response: &Response) -> i16 {
    i16::try_from(response.status).unwrap_or(i16::MAX)
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// `$1` to `$5`: scope, generation, fence, owner, retention.
pub(super) fn bind_hand<'q>(query: Query<'q>, hand: &Hand) -> Query<'q> {
    query
        .bind(hand.scope.0.to_vec())
        .bind(hand.hold.generation)
        .bind(hand.hold.fence)
        .bind(Uuid::from_bytes(hand.hold.owner))
        .bind(micros(hand.terms.retention))
}

/// Five more: whether the body is kept, location, status, headers, body.
pub(super) fn bind_response<'q>(
    query: Query<'q>,
    hand: &Hand,
    response: &'q Response,
) -> Query<'q> {
    query
        .bind(hand.keeps(response))
        .bind(location(response))
        .bind(status(response))
        .bind(Response::encode_headers(&response.headers))
        .bind(hand.kept_body(response))
}

/// The finish that a statement gave back, or a lost hold.
pub(super) fn finished(
    row: Option<&PgRow>,
    hand: &Hand,
    response: &Arc<Response>,
) -> Result<Finished, Error> {
    let row = row.ok_or(Error::HoldLost)?;
    Ok(hand.finished(response, row.try_get("expires_at")?))
}
