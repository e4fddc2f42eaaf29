//! Landings of this isolate that wait for a take of the same shard to carry them.
//!
//! Under load a take comes soon, and a call of its own for each landing would double the shard's
//! work. Only bytes are shared between requests. What is lost with the isolate costs the rest of a
//! lease.

use protocol::{flight::Millis, wire::in_flight::Landed};
use std::{cell::RefCell, collections::HashMap};

/// How long a landing waits for a take.
pub(crate) const LINGER_MS: Millis = 20;
/// More than this is not kept waiting, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// Shards that are remembered; there are some for each principal.
const SHARDS_MAX: usize = 1_024;

thread_local! {
    static LANDINGS: RefCell<Landings> = RefCell::default();
}

#[derive(Default)]
struct Landings(HashMap<String, Shard>);

/// What is known of one shard.
#[derive(Default)]
struct Shard {
    waiting: Vec<u8>,
    taken_at: Millis,
    gap: Millis,
}

/// The landings that a take of this shard carries.
pub(crate) fn aboard(shard: &str, now: Millis) -> Vec<u8> {
    LANDINGS.with_borrow_mut(|landings| landings.aboard(shard, now))
}

/// Adds a landing; true when it pays to wait for a take.
pub(crate) fn add(shard: &str, landed: &Landed<'_>, now: Millis) -> bool {
    LANDINGS.with_borrow_mut(|landings| landings.add(shard, landed, now))
}

/// Whatever still waits.
pub(crate) fn left(shard: &str) -> Vec<u8> {
    LANDINGS.with_borrow_mut(|landings| landings.left(shard))
}

impl Landings {
    fn aboard(&mut self, name: &str, now: Millis) -> Vec<u8> {
        if self.0.len() >= SHARDS_MAX {
            self.0.retain(|_, shard| shard.is_alive(now));
        }
        let shard = match self.0.get_mut(name) {
            Some(shard) => shard,
            None => self.0.entry(name.to_owned()).or_default(),
        };
        shard.gap = now.saturating_sub(shard.taken_at);
        shard.taken_at = now;
        std::mem::take(&mut shard.waiting)
    }

    fn add(&mut self, name: &str, landed: &Landed<'_>, now: Millis) -> bool {
        let shard = self.0.entry(name.to_owned()).or_default();
        landed.encode(&mut shard.waiting);
        shard.is_busy(now) && shard.waiting.len() <= BYTES_MAX
    }

    fn left(&mut self, name: &str) -> Vec<u8> {
        let shard = self.0.get_mut(name);
        shard
            .map(|shard| std::mem::take(&mut shard.waiting))
            .unwrap_or_default()
    }
}

impl Shard {
    /// Whether takes have been coming so often that one is likely to come in time.
    fn is_busy(&self, now: Millis) -> bool {
        self.gap < LINGER_MS && now.saturating_sub(self.taken_at) < LINGER_MS
    }

    fn is_alive(&self, now: Millis) -> bool {
        !self.waiting.is_empty() || now.saturating_sub(self.taken_at) < 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{flight::Token, scope::Scope};

    fn landed(response: &[u8]) -> Landed<'_> {
        Landed {
            scope: Scope([1; 32]),
            token: Token([2; 16]),
            keep_for: 1,
            response,
        }
    }

    fn read(mut body: &[u8]) -> usize {
        std::iter::from_fn(|| Landed::decode(&mut body)).count()
    }

    #[test]
    fn a_busy_shards_landings_leave_with_its_next_take() {
        let mut landings = Landings::default();
        assert!(landings.aboard("a", 1_000).is_empty());
        assert!(
            !landings.add("a", &landed(b"x"), 1_001),
            "one take shows no rhythm"
        );
        assert_eq!(read(&landings.left("a")), 1);
        landings.aboard("a", 1_010);
        assert!(landings.add("a", &landed(b"x"), 1_012));
        assert!(landings.add("a", &landed(b""), 1_013));
        assert!(landings.aboard("b", 1_014).is_empty());
        assert_eq!(read(&landings.aboard("a", 1_015)), 2);
        assert!(landings.left("a").is_empty());
    }

    #[test]
    fn a_quiet_shard_or_a_large_landing_is_not_kept_waiting() {
        let mut landings = Landings::default();
        landings.aboard("a", 1_000);
        landings.aboard("a", 1_010);
        assert!(!landings.add("a", &landed(b"x"), 1_030));
        landings.aboard("a", 1_031);
        landings.aboard("a", 1_032);
        assert!(!landings.add("a", &landed(&vec![0; BYTES_MAX]), 1_033));
    }

    #[test]
    fn quiet_shards_are_forgotten() {
        let mut landings = Landings::default();
        for n in 0..10_000 {
            landings.aboard(&n.to_string(), n);
            assert!(landings.0.len() <= SHARDS_MAX + 1);
        }
    }
}
