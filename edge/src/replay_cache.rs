//! Archived responses that this isolate has seen, as plain bytes, for a short while.
//!
//! Never a promise, a stream or a response object of another request (CASES C44). What is
//! forgotten costs a trip to the shard and the origin, nothing else (CASES C40).

use crate::arrived::Landing;
use protocol::{
    fingerprint::{Comparison, Fingerprint},
    flight::Millis,
    identity::Identity,
    problem::{Kind, Problem},
    response::Response,
    scope::Scope,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

const BYTES_MAX: usize = 16 << 20;
const ENTRIES_MAX: usize = 8_192;
/// What an entry takes beside its body and headers, roughly.
const ENTRY_BYTES: usize = 512;

thread_local! {
    static CACHE: RefCell<ReplayCache> = RefCell::new(ReplayCache::new(BYTES_MAX, ENTRIES_MAX));
}

/// The archived response of this command, or the refusal of another one under its key. `None` when
/// the shard or the origin has to be asked.
pub(crate) fn find(identity: &Identity, now: Millis) -> Option<Result<Rc<Response>, Problem>> {
    CACHE.with_borrow_mut(|cache| cache.find(identity, now))
}

/// Keeps an archived response for as long as the origin allows.
pub(crate) fn keep(identity: &Identity, landing: &Landing, now: Millis) {
    CACHE.with_borrow_mut(|cache| cache.keep(identity, landing, now));
}

/// The key names another command.
pub(crate) fn mismatch() -> Problem {
    Problem::new(
        Kind::KeyReused,
        "This key was used for another command; use a new key for a new operation.",
    )
}

struct Entry {
    fingerprint: Fingerprint,
    response: Rc<Response>,
    bytes: usize,
    until: Millis,
    used: u64,
}

/// Least recently used leaves first.
struct ReplayCache {
    bytes_max: usize,
    entries_max: usize,
    entries: HashMap<Scope, Entry>,
    by_use: BTreeMap<u64, Scope>,
    bytes: usize,
    uses: u64,
}

impl ReplayCache {
    fn new(bytes_max: usize, entries_max: usize) -> Self {
        Self {
            bytes_max,
            entries_max,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            bytes: 0,
            uses: 0,
        }
    }

    fn find(&mut self, identity: &Identity, now: Millis) -> Option<Result<Rc<Response>, Problem>> {
        let entry = self.entries.get_mut(&identity.scope)?;
        if entry.until <= now {
            self.forget(&identity.scope);
            return None;
        }
        match identity.fingerprint.compare(&entry.fingerprint) {
            Comparison::Unknown => return None,
            Comparison::Different => return Some(Err(mismatch())),
            Comparison::Same => {}
        }
        self.uses += 1;
        self.by_use.remove(&entry.used);
        self.by_use.insert(self.uses, identity.scope);
        entry.used = self.uses;
        Some(Ok(Rc::clone(&entry.response)))
    }

    fn keep(&mut self, identity: &Identity, landing: &Landing, now: Millis) {
        self.forget(&identity.scope);
        let bytes = size(&landing.response);
        self.uses += 1;
        let entry = Entry {
            fingerprint: identity.fingerprint,
            response: Rc::clone(&landing.response),
            bytes,
            until: now.saturating_add(landing.keep_for),
            used: self.uses,
        };
        self.bytes += bytes;
        self.by_use.insert(self.uses, identity.scope);
        self.entries.insert(identity.scope, entry);
        while self.bytes > self.bytes_max || self.entries.len() > self.entries_max {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                return;
            };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, scope: &Scope) {
        if let Some(entry) = self.entries.remove(scope) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
            self.by_use.remove(&entry.used);
        }
    }
}

fn size(response: &Response) -> usize {
    let headers = response
        .headers
        .iter()
        .map(|(name, value)| name.len() + value.len());
    ENTRY_BYTES + response.body.len() + headers.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(key: u8, command: u8) -> Identity {
        let fingerprint = Fingerprint {
            version: 1,
            digest: [command; 32],
        };
        Identity {
            scope: Scope([key; 32]),
            fingerprint,
            key_hash: [0; 32],
        }
    }

    fn landing(body: usize) -> Landing {
        let response = Response {
            status: 201,
            headers: vec![],
            body: vec![7; body],
        };
        Landing {
            response: Rc::new(response),
            keep_for: 60_000,
        }
    }

    fn cache() -> ReplayCache {
        ReplayCache::new(4 * (ENTRY_BYTES + 100), 3)
    }

    #[test]
    fn a_response_is_replayed_until_its_time_is_over() {
        let mut cache = cache();
        cache.keep(&identity(1, 1), &landing(10), 1_000);
        let replay = cache.find(&identity(1, 1), 60_999).unwrap().unwrap();
        assert_eq!(replay.body, [7; 10]);
        assert!(cache.find(&identity(1, 1), 61_000).is_none());
        assert_eq!((cache.bytes, cache.by_use.len()), (0, 0));
    }

    #[test]
    fn another_command_is_refused_and_another_version_is_not_judged() {
        let mut cache = cache();
        cache.keep(&identity(1, 1), &landing(10), 0);
        let refusal = cache.find(&identity(1, 2), 1).unwrap().unwrap_err();
        assert_eq!(refusal.kind, Kind::KeyReused);
        let mut newer = identity(1, 1);
        newer.fingerprint.version = 2;
        assert!(cache.find(&newer, 1).is_none());
    }

    #[test]
    fn the_least_recently_used_leaves_first() {
        let mut cache = cache();
        for key in 1..=3 {
            cache.keep(&identity(key, 1), &landing(100), 0);
        }
        cache.find(&identity(1, 1), 1);
        cache.keep(&identity(4, 1), &landing(100), 1);
        let kept: Vec<_> = (1..=4)
            .filter(|key| cache.find(&identity(*key, 1), 2).is_some())
            .collect();
        assert_eq!(kept, [1, 3, 4]);
    }

    #[test]
    fn bytes_are_bounded_whatever_comes() {
        let mut cache = cache();
        for n in 0..1_000_u32 {
            let key = u8::try_from(n % 251).unwrap();
            cache.keep(&identity(key, 1), &landing(n as usize % 700), 0);
            assert!(cache.bytes <= cache.bytes_max && cache.entries.len() <= 3);
            assert_eq!(cache.entries.len(), cache.by_use.len());
        }
        cache.keep(&identity(1, 1), &landing(1 << 20), 0);
        assert_eq!((cache.entries.len(), cache.bytes), (0, 0));
    }
}
