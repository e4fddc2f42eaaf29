//! Archived responses in memory: immutable until they expire, so that a hot replay needs no
//! database. Bounded in bytes; losing an entry costs a round trip, never a second execution.

use super::Archived;
use protocol::{fingerprint::Fingerprint, scope::Scope};
use quick_cache::{Weighter, sync::Cache};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// What one entry costs beside its headers and body, in bytes.
const OVERHEAD: u64 = 512;
/// The longest that an entry is believed: a purge in the database can't reach it.
const BELIEVED: Duration = Duration::from_mins(1);
/// For sizing the cache's own tables.
const TYPICAL: u64 = 2_048;

/// The cache.
#[derive(Debug)]
pub(super) struct ArchiveCache(Cache<Scope, Entry, Bytes>);

#[derive(Debug, Clone)]
struct Entry {
    fingerprint: Fingerprint,
    archived: Arc<Archived>,
    /// Retention as the database gave it, counted down by a clock that nobody sets.
    until: Instant,
}

#[derive(Debug, Clone)]
struct Bytes;

impl Weighter<Scope, Entry> for Bytes {
    fn weight(&self, _: &Scope, entry: &Entry) -> u64 {
        OVERHEAD + entry.archived.bytes()
    }
}

impl ArchiveCache {
    /// A cache of at most `bytes`.
    pub(super) fn new(bytes: u64) -> Self {
        let entries = usize::try_from(bytes / TYPICAL).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(entries, bytes, Bytes))
    }

    /// The response to this very command, and the retention that is left. Another command is the
    /// database's to judge.
    pub(super) fn find(
        &self,
        scope: &Scope,
        asked: &Fingerprint,
    ) -> Option<(Arc<Archived>, Duration)> {
        let entry = self
            .0
            .get(scope)
            .filter(|entry| entry.fingerprint == *asked)?;
        let remaining = entry.until.checked_duration_since(Instant::now())?;
        (!remaining.is_zero()).then_some((entry.archived, remaining))
    }

    /// Keeps a response for what is left of its retention.
    pub(super) fn keep(
        &self,
        scope: Scope,
        fingerprint: Fingerprint,
        archived: &Arc<Archived>,
        remaining: Duration,
    ) {
        let until = Instant::now() + remaining.min(BELIEVED);
        let archived = Arc::clone(archived);
        self.0.insert(
            scope,
            Entry {
                fingerprint,
                archived,
                until,
            },
        );
    }
}
