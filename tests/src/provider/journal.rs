//! What the sandbox received, newest last: calls of the API and webhook deliveries.

use std::collections::{BTreeMap, VecDeque};

use axum::http::StatusCode;
use serde::Serialize;

/// Older entries are forgotten, so that a long run doesn't fill the memory.
const ENTRIES_MAX: usize = 10_000;

/// A bounded list whose entries keep their number when older ones are forgotten.
#[derive(Debug)]
pub(super) struct Journal<T> {
    entries: VecDeque<T>,
    forgotten: usize,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            forgotten: 0,
        }
    }
}

impl<T> Journal<T> {
    /// Adds an entry and gives its number.
    pub(super) fn push(&mut self, entry: T) -> usize {
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        self.entries.push_back(entry);
        self.forgotten + self.entries.len() - 1
    }

    /// The entry of that number, unless it is forgotten.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.entries.get_mut(number.checked_sub(self.forgotten)?)
    }

    pub(super) fn forget(&mut self) {
        self.forgotten += self.entries.len();
        self.entries.clear();
    }

    pub(super) fn entries(&self) -> &VecDeque<T> {
        &self.entries
    }
}

/// One HTTP call of the API.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Call {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) idempotency_key: Option<String>,
    pub(super) outcome: Outcome,
    /// The status of the answer, null while the call runs and when it was cut.
    pub(super) status: Option<u16>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Running,
    Answered,
    Cut,
}

impl Call {
    /// Notes how the call ended: with a status, or with a cut connection.
    pub(super) fn end(&mut self, status: Option<StatusCode>) {
        self.status = status.map(|s| s.as_u16());
        self.outcome = status.map_or(Outcome::Cut, |_| Outcome::Answered);
    }
}

/// One webhook delivery, with all that a check of its signature needs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Delivery {
    /// The status that this delivery was answered with.
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}
