//! Idempotency keys as Stripe keeps them: one namespace for the account, whatever the endpoint.

use std::collections::HashMap;

use axum::http::StatusCode;

use super::answer::{Answer, ApiError};
use super::parameters::Parameters;

/// What a key stands for: the endpoint and the parameters it was first used with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) path: String,
    pub(super) parameters: Parameters,
}

/// What a key allows a call to do.
#[derive(Debug)]
pub(super) enum Admission {
    /// Execute; the key is now held until it is saved or released.
    Execute,
    /// Give the saved answer again.
    Replay(Answer),
    /// Give this refusal, which changes nothing.
    Refuse(Answer),
}

#[derive(Debug)]
struct Entry {
    command: Command,
    /// None while the call that holds the key is running.
    saved: Option<Answer>,
}

/// Every key in use, and how often each was sent.
#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: HashMap<String, Entry>,
    requests: HashMap<String, u64>,
}

impl Keys {
    /// Counts a call and decides on it. A mismatch is seen while the first call still runs.
    pub(super) fn admit(&mut self, key: &str, command: Command) -> Admission {
        *self.requests.entry(key.to_owned()).or_default() += 1;
        match self.entries.get(key) {
            None => {
                let entry = Entry {
                    command,
                    saved: None,
                };
                self.entries.insert(key.to_owned(), entry);
                Admission::Execute
            }
            Some(entry) if entry.command != command => Admission::Refuse(mismatch()),
            Some(Entry { saved: None, .. }) => Admission::Refuse(in_use()),
            Some(Entry {
                saved: Some(answer),
                ..
            }) => Admission::Replay(answer.clone().replayed()),
        }
    }

    /// Ends a call that executed: its answer is the key's for good.
    pub(super) fn save(&mut self, key: &str, answer: &Answer) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.saved = Some(answer.clone());
        }
    }

    /// Ends a call that did not execute: nothing is kept under the key.
    pub(super) fn release(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// How many calls carried `key`.
    pub(super) fn requests(&self, key: &str) -> u64 {
        self.requests.get(key).copied().unwrap_or_default()
    }

    /// Forgets everything but the keys held by running calls: those still guard a charge.
    pub(super) fn forget(&mut self) {
        self.entries.retain(|_, entry| entry.saved.is_none());
        self.requests
            .retain(|key, _| self.entries.contains_key(key));
    }
}

// Neither message repeats the key: it must not reach a log.

fn mismatch() -> Answer {
    let message = "This idempotency key was first used with other parameters or another endpoint.";
    ApiError::new("idempotency_error", message).bad_request()
}

fn in_use() -> Answer {
    let message = "Another request with this idempotency key is still running.";
    ApiError::new("idempotency_error", message)
        .code("idempotency_key_in_use")
        .answer(StatusCode::CONFLICT)
}
