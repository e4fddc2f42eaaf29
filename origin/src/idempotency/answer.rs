//! What the engine says: an archived response, or a refusal.

use super::Archived;
use crate::{
    operations::orders::problem_response,
    store::{self, Finished, Stored},
};
use axum::body::Body;
use futures_util::StreamExt;
use http::HeaderMap;
use protocol::{
    policy::Route,
    problem::{Kind, Problem},
    record::{Hold, Record},
    response::Response,
};
use std::{sync::Arc, time::Duration};
use time::format_description::well_known::Rfc3339;

/// A response that is archived.
#[derive(Debug)]
pub struct Answer {
    /// Byte for byte.
    pub archived: Arc<Archived>,
    /// Whether this request did not make it.
    pub replayed: bool,
    /// Retention that was left when the database said so; none where the body is not kept.
    pub remaining: Duration,
    /// What only the first client gets.
    pub aside: Option<Aside>,
}

/// What an upstream's answer holds beside what is archived: lines such as `Set-Cookie`, and the
/// rest of a body that is too large to be kept.
#[derive(Debug)]
pub struct Aside {
    /// Header lines.
    pub headers: HeaderMap,
    /// What follows the bytes that are here.
    pub rest: Option<Body>,
}

/// Why there is no archived response to give.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A problem that the client is told as it is.
    #[error("refused: {}", .0.kind.slug())]
    Problem(Problem),
    /// An upstream says that nothing happened: its own answer, not archived.
    #[error("an upstream's refusal, passed on")]
    Passed(Box<axum::response::Response>),
    /// The store failed before anything ran.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The work was done and could not be written down: the completer does it again.
    #[error("the finish could not be written")]
    Unfinished(#[source] store::Error),
    /// A defect of ours.
    #[error("an attempt panicked")]
    Panicked(#[source] tokio::task::JoinError),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Answer {
    /// The response to send; the edge may replay it for `edge_replay`, while it is kept.
    pub fn respond(self, edge_replay: Duration) -> axum::response::Response {
        let seconds = self.remaining.min(edge_replay).as_secs();
        let mut response = self.archived.respond(self.replayed, seconds);
        if let Some(aside) = self.aside {
            response.headers_mut().extend(aside.headers);
            response = match aside.rest {
                Some(rest) => response.map(|kept| followed_by(kept, rest)),
                None => response,
            };
        }
        response
    }

    pub(super) fn first(finished: Finished) -> Self {
        let Finished {
            response,
            expires,
            remaining,
        } = finished;
        let archived = Arc::new(Archived::new(Arc::unwrap_or_clone(response), expires));
        Self {
            archived,
            replayed: false,
            remaining,
            aside: None,
        }
    }

    pub(super) fn replay(stored: Stored) -> Result<Self, store::Error> {
        let what = "a finished record without response or expiry";
        let inconsistent = store::Error::Inconsistent {
            table: "idempotency_records",
            what,
        };
        let (Some(response), Some(expires)) = (stored.response, stored.expires) else {
            return Err(inconsistent);
        };
        let remaining = (expires - stored.now).try_into().unwrap_or_default();
        let archived = Arc::new(Archived::new(response, expires));
        Ok(Self {
            archived,
            replayed: true,
            remaining,
            aside: None,
        })
    }
}

fn followed_by(kept: Body, rest: Body) -> Body {
    Body::from_stream(kept.into_data_stream().chain(rest.into_data_stream()))
}

/// Who holds it, or held it last.
pub(super) fn hold_of(record: &Record) -> &Hold {
    match record {
        Record::Pending(pending) => &pending.hold,
        Record::Finished(finished) => &finished.hold,
        Record::Released(hold) => hold,
    }
}

pub(super) fn mismatch(stored: &Stored) -> Problem {
    let seen = stored.first_seen.format(&Rfc3339).unwrap_or_default();
    let prefix = stored.fingerprint.prefix();
    let detail = format!(
        "This key was first used at {seen} for another command (fingerprint {prefix}). Use a new key."
    );
    Problem::new(Kind::KeyReused, detail)
}

pub(super) fn gone(kind: Kind, stored: Stored) -> Problem {
    let detail = match kind {
        Kind::ResponseNotKept => "The operation was done; its answer was too large to keep.",
        _ => "The operation was done; its answer is no longer kept.",
    };
    Problem::new(kind, detail).location(stored.location)
}

/// The answer to a command whose effect is there though its record is gone.
pub(super) fn effect_exists(location: Option<String>) -> Response {
    let detail = "The operation was done; its record and its answer are no longer kept.";
    problem_response(&Problem::new(Kind::KeyExpired, detail).location(location))
}

pub(super) fn unknown_version() -> Problem {
    let detail = "The record was written by a newer version of this service.";
    Problem::new(Kind::VersionUnknown, detail).retry_after(5)
}

/// How often a client asks for an outcome that an operator settles, in seconds.
const OPERATOR_RETRY: u32 = 15;

/// 502. `retry_in` is when the next attempt begins, unless the route waits for an operator.
pub(super) fn outcome_unknown(route: &Route, retry_in: Duration) -> Problem {
    const HOW: &str = "No clear answer came from what does the work.";
    if route.waits_for_operator() {
        let detail = format!("{HOW} An operator settles it; retry with the same key.");
        return Problem::new(Kind::OutcomeUnknown, detail).retry_after(OPERATOR_RETRY);
    }
    let seconds = u32::try_from(retry_in.as_secs()).unwrap_or(u32::MAX);
    let detail = format!(
        "{HOW} The operation is brought to its end without you; retry with the same key to learn how it ended."
    );
    Problem::new(Kind::OutcomeUnknown, detail).retry_after(seconds.saturating_add(1))
}

/// 409. A suspended operation says when it is asked for again, a running one says soon.
pub(super) fn in_progress(stored: &Stored) -> Problem {
    let free_in = (stored.lease_end - stored.now).whole_seconds();
    let (detail, seconds) = match &stored.record {
        Record::Pending(pending) if pending.needs_operator => (
            "How the first request with this key ended is for an operator to settle. Retry with the same key.",
            OPERATOR_RETRY,
        ),
        _ => (
            "The first request with this key is still running. Retry with the same key.",
            u32::try_from(free_in).unwrap_or(1).clamp(1, 5),
        ),
    };
    Problem::new(Kind::RequestInProgress, detail).retry_after(seconds)
}

pub(super) fn unfinished(error: store::Error) -> Refusal {
    Refusal::Unfinished(error)
}
