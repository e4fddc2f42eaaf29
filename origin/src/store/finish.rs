//! Finishing: business rows, events, archived response, state and fence, all or nothing.

use super::{Error, Placement, Store, records::micros};
use protocol::{
    record::{Hold, Outcome},
    response::Response,
    scope::Scope,
};
use sqlx::{Row, postgres::PgRow, types::Uuid};
use std::time::Duration;
use time::OffsetDateTime;

/// What the finishing transaction writes.
#[derive(Debug)]
pub enum Finishing {
    /// A response and nothing else.
    Response {
        /// How the operation ended.
        outcome: Outcome,
        /// What is archived.
        response: Response,
    },
    /// An order; or, where a piece is sold out, the refusal and the refund.
    Order(Box<Placement>),
}

/// A finish that is in the database.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The response that was archived.
    pub response: Response,
    /// When it expires.
    pub expires: OffsetDateTime,
    /// Retention that was left when the database said so.
    pub remaining: Duration,
}

/// What a finish names and is bound by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hand<'a> {
    pub scope: &'a Scope,
    pub hold: &'a Hold,
    pub retention: Duration,
    pub response_max: usize,
}

impl Store {
    /// Finishes the operation, or says that the attempt no longer holds it.
    pub async fn finish(
        &self,
        scope: &Scope,
        hold: &Hold,
        retention: Duration,
        response_max: usize,
        finishing: &Finishing,
    ) -> Result<Finished, Error> {
        let hand = Hand {
            scope,
            hold,
            retention,
            response_max,
        };
        match finishing {
            Finishing::Response { outcome, response } => {
                self.finish_response(hand, *outcome, response).await
            }
            Finishing::Order(placement) => self.finish_order(hand, placement).await,
        }
    }

    async fn finish_response(
        &self,
        hand: Hand<'_>,
        outcome: Outcome,
        response: &Response,
    ) -> Result<Finished, Error> {
        let state = match outcome {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
        };
        let row = sqlx::query(
            "WITH clock AS MATERIALIZED (
                 SELECT clock_timestamp() + $5 * interval '1 microsecond' AS expires,
                        clock_timestamp() AS now),
             finished AS (
                 UPDATE idempotency_records SET
                     state = $6, finished_at = clock.now, expires_at = clock.expires,
                     archive_day = CASE WHEN $7 THEN (clock.expires AT TIME ZONE 'UTC')::date END,
                     location = $8, request_headers = NULL, request_body = NULL,
                     needs_operator = false
                 FROM clock
                 WHERE scope = $1 AND state = 'pending'
                   AND generation = $2 AND fence = $3 AND owner = $4
                 RETURNING scope, generation, expires_at, archive_day),
             archived AS (
                 INSERT INTO archived_responses
                     (expires_day, scope, generation, status, headers, body)
                 SELECT archive_day, scope, generation, $9, $10, $11
                 FROM finished WHERE archive_day IS NOT NULL)
             SELECT expires_at FROM finished",
        );
        let row = bind_response(bind_hand(row, &hand).bind(state), &hand, response)
            .fetch_optional(&self.pool)
            .await?;
        finished(row.as_ref(), &hand, response)
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// `$1` to `$5`: scope, generation, fence, owner, retention.
pub(super) fn bind_hand<'q>(query: Query<'q>, hand: &Hand<'_>) -> Query<'q> {
    query
        .bind(hand.scope.0.to_vec())
        .bind(hand.hold.generation)
        .bind(hand.hold.fence)
        .bind(Uuid::from_bytes(hand.hold.owner))
        .bind(micros(hand.retention))
}

/// Five more: whether the body is kept, location, status, headers, body.
pub(super) fn bind_response<'q>(
    query: Query<'q>,
    hand: &Hand<'_>,
    response: &'q Response,
) -> Query<'q> {
    let location = response.header("location");
    let kept = response.body.len() <= hand.response_max;
    query
        .bind(kept)
        .bind(location.and_then(|location| std::str::from_utf8(location).ok()))
        .bind(i16::try_from(response.status).unwrap_or(i16::MAX))
        .bind(Response::encode_headers(&response.headers))
        .bind(if kept { response.body.as_slice() } else { &[] })
}

pub(super) fn finished(
    row: Option<&PgRow>,
    hand: &Hand<'_>,
    response: &Response,
) -> Result<Finished, Error> {
    let row = row.ok_or(Error::HoldLost)?;
    let expires = row.try_get("expires_at")?;
    Ok(Finished {
        response: response.clone(),
        expires,
        remaining: hand.retention,
    })
}
