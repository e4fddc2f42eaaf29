//! An attempt: one execution of an operation, under a lease.

use super::Leases;
use protocol::{
    record::{Hold, Owner},
    scope::Scope,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// What an operation gets to know about its execution. Dropping it ends its renewals and wakes
/// whoever waits here.
#[derive(Debug)]
pub struct Attempt {
    /// Which operation.
    pub scope: Scope,
    /// What this attempt holds.
    pub hold: Hold,
    /// How many attempts there were, this one included.
    pub attempts: i32,
    /// How long ago the first request was seen.
    pub age: Duration,
    leases: Arc<Leases>,
}

/// A hold that was just won, by a claim or a takeover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// Taken before the statement was sent: the lease is no longer than since then.
    pub asked_at: Instant,
    pub hold: Hold,
    pub attempts: i32,
    pub age: Duration,
}

impl Turn {
    /// The turn of a claim.
    pub(super) fn first(hold: Hold, asked_at: Instant) -> Self {
        Self {
            asked_at,
            hold,
            attempts: 1,
            age: Duration::ZERO,
        }
    }
}

impl Attempt {
    /// Registers the attempt, so that its lease is renewed until `lock_ttl` from now.
    pub(super) fn start(
        leases: &Arc<Leases>,
        scope: Scope,
        turn: Turn,
        lock_ttl: Duration,
    ) -> Self {
        let Turn {
            asked_at,
            hold,
            attempts,
            age,
        } = turn;
        leases.start(scope, hold, asked_at, lock_ttl);
        Self {
            scope,
            hold,
            attempts,
            age,
            leases: Arc::clone(leases),
        }
    }

    /// The key to send on with one step, the same on every takeover.
    pub fn child_key(&self, step: &str) -> String {
        self.scope.child_key(self.hold.generation, step)
    }

    /// Whether no attempt before this one can have acted outside.
    pub fn is_first(&self) -> bool {
        self.attempts == 1
    }

    /// Checked before each step outside, by this process's own monotonic clock: a process that was
    /// paused past its lease stops here.
    pub fn has_time_left(&self) -> bool {
        self.leases.has_time_left(&self.scope, &self.hold)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.leases.end(&self.scope, &self.hold);
    }
}

/// A fresh random owner.
pub(super) fn fresh_owner() -> Owner {
    *uuid::Uuid::new_v4().as_bytes()
}

/// The pause after this many attempts: doubling from half a second, with jitter, up to `max`.
pub fn backoff(attempts: i32, max: Duration) -> Duration {
    let doublings = u32::try_from(attempts - 1).unwrap_or(0).min(16);
    let full = Duration::from_millis(500)
        .saturating_mul(1 << doublings)
        .min(max);
    let [jitter, ..] = *uuid::Uuid::new_v4().as_bytes();
    full.mul_f64(0.75 + f64::from(jitter) / 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_to_its_limit_and_no_further() {
        let max = Duration::from_secs(5);
        assert!(backoff(1, max) <= Duration::from_millis(500));
        assert!(backoff(3, max) >= Duration::from_millis(1_500));
        for attempts in [10, 1_000, i32::MAX] {
            let pause = backoff(attempts, max);
            assert!(pause > max / 2 && pause <= max, "{pause:?}");
        }
    }
}
