//! What an upstream's answer means: one table, and what the upstream itself says of it.

use crate::store::Terms;
use http::{HeaderMap, Response, StatusCode, header::RETRY_AFTER};
use protocol::{
    policy::{Route, StatusRange, file::RETENTION_MAX},
    record::Outcome,
    wire,
};
use std::time::Duration;

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is the operation's answer, kept on these terms.
    Archive(Outcome, Terms),
    /// Nothing happened.
    Release,
    /// It says nothing of the outcome.
    Unknown,
}

/// What `Idempotency-Archive` says of one response, against the policy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Override {
    word: Option<Word>,
    max_age: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Yes,
    No,
    Release,
}

/// Of an answer to the request itself.
pub(super) fn of_answer<B>(route: &Route, answer: &Response<B>) -> Verdict {
    let (status, said) = (answer.status(), Override::read(answer.headers()));
    let has_retry_after = answer.headers().contains_key(RETRY_AFTER);
    let among = |list: &[StatusRange]| {
        let mut list = list.iter();
        list.any(|range| range.includes(status.as_u16(), has_retry_after))
    };
    match said.word {
        Some(Word::Release) => Verdict::Release,
        Some(Word::Yes) => said.archive(route, status),
        _ if among(&route.release) => Verdict::Release,
        _ if among(&route.archive) => said.archive(route, status),
        _ => Verdict::Unknown,
    }
}

/// Of an answer at the status URL: a success is the operation's answer, but for one that says
/// "accepted"; anything else is so only where the upstream says `yes`.
pub(super) fn of_status<B>(route: &Route, answer: &Response<B>) -> Verdict {
    let (status, said) = (answer.status(), Override::read(answer.headers()));
    let is_answer = status.is_success() && status != StatusCode::ACCEPTED;
    match said.word {
        Some(Word::Release) => Verdict::Release,
        Some(Word::Yes) => said.archive(route, status),
        None if is_answer => said.archive(route, status),
        _ => Verdict::Unknown,
    }
}

impl Override {
    fn read(headers: &HeaderMap) -> Self {
        let line = headers.get(wire::IDEMPOTENCY_ARCHIVE);
        let Some(line) = line.and_then(|line| line.to_str().ok()) else {
            return Self::default();
        };
        let mut parts = line.split(';').map(str::trim);
        let word = match parts.next() {
            Some(word) if word.eq_ignore_ascii_case("yes") => Some(Word::Yes),
            Some(word) if word.eq_ignore_ascii_case("no") => Some(Word::No),
            Some(word) if word.eq_ignore_ascii_case("release") => Some(Word::Release),
            _ => None,
        };
        let max_age = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("max-age"))
            .and_then(|(_, seconds)| seconds.trim().parse().ok());
        Self {
            word,
            max_age: max_age.map(Duration::from_secs),
        }
    }

    /// The answer is kept: unless the upstream says `no`, and for as long as it says, within what
    /// a policy could say. It never outlives its tombstone.
    fn archive(&self, route: &Route, status: StatusCode) -> Verdict {
        let is_success = status.is_success() || status.is_redirection();
        let longest = route.tombstones_for.unwrap_or(RETENTION_MAX);
        let retention = self.max_age.map_or(route.retention, |asked| {
            asked.clamp(Duration::from_secs(1), longest.min(RETENTION_MAX))
        });
        let is_kept = self.word != Some(Word::No);
        let outcome = if is_success {
            Outcome::Succeeded
        } else {
            Outcome::Failed
        };
        let terms = Terms {
            retention,
            body_max: is_kept.then_some(route.response_max),
            tombstones_for: route.tombstones_for,
        };
        Verdict::Archive(outcome, terms)
    }
}
