//! What the engine says: an archived response, or a refusal.

use super::Archived;
use crate::{
    operations::orders::problem_response,
    store::{self, Finished, Stored},
};
use protocol::{
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
    /// Retention that was left when the database said so.
    pub remaining: Duration,
}

/// Why there is no archived response to give.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A problem that the client is told as it is.
    #[error("refused: {}", .0.kind.slug())]
    Problem(Problem),
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
        })
    }
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

pub(super) fn outcome_unknown(retry_in: Duration) -> Problem {
    let seconds = u32::try_from(retry_in.as_secs())
        .unwrap_or(u32::MAX)
        .saturating_add(1);
    let detail = "The provider did not answer. The operation is brought to its end without you; retry with the same key to learn how it ended.";
    Problem::new(Kind::OutcomeUnknown, detail).retry_after(seconds)
}

pub(super) fn unfinished(error: store::Error) -> Refusal {
    Refusal::Unfinished(error)
}
