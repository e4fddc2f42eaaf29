//! Flights: the shard's lock and in-flight cache, as pure state (DESIGN section 2).
//!
//! Redis-style: `take` is `SET NX PX`, `renew` and `land` compare the holder's token. It may be
//! lost at any moment: the origin decides in any case. Whoever waits is woken and takes again, so
//! that joining, replaying and leading after a lapse are one rule.

use crate::{
    fingerprint::{Comparison, Fingerprint},
    scope::Scope,
};
use std::collections::{HashMap, VecDeque};

/// Milliseconds on the shard's clock.
pub type Millis = u64;

/// What a leader holds; only it renews and lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(pub [u8; 16]);

/// Bounds of one shard.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a lock lives without renewal.
    pub lease: Millis,
    /// How many may wait for one flight.
    pub waiters_per_flight: usize,
    /// How many may wait in the whole shard.
    pub waiters: usize,
    /// Bytes of landed responses.
    pub landed_bytes: usize,
    /// How long a landed response is kept at most.
    pub landed_for: Millis,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lease: 5_000,
            waiters_per_flight: 1_000,
            waiters: 10_000,
            landed_bytes: 16 << 20,
            landed_for: 60_000,
        }
    }
}

/// A request for the lock.
#[derive(Debug, Clone, Copy)]
pub struct Take {
    /// Which operation.
    pub scope: Scope,
    /// Which command.
    pub fingerprint: Fingerprint,
    /// The caller's fresh random token.
    pub token: Token,
    /// The longest that the lock may be held, renewals included (policy `lock_ttl`).
    pub lock_ttl: Millis,
}

/// What `take` decides. Another command is never told to wait (CASES C20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken<R> {
    /// The lock is the caller's: call the origin, then land.
    Lead,
    /// The leader's archived response.
    Replay(R),
    /// Another is leading. Park until woken or until the lease ends, then take again.
    Wait {
        /// When the leader's lease ends unless renewed.
        lease_end: Millis,
    },
    /// Another is leading and no more may wait.
    Full,
    /// The landed answer is that of another command.
    Mismatch,
    /// Another command is under way, or a fingerprint is of another version: only the origin can
    /// tell, and it does so at once.
    AskOrigin,
}

/// A response as it is kept: how large it is and until when it may be replayed.
#[derive(Debug, Clone)]
pub struct Landing<R> {
    /// The response, cheap to clone.
    pub response: R,
    /// Its size in bytes.
    pub bytes: usize,
    /// `Unavez-Archive`'s allowance, already brought below the shard's own limit.
    pub keep_for: Millis,
}

struct Flight<R, W> {
    fingerprint: Fingerprint,
    state: State<R, W>,
}

enum State<R, W> {
    Up {
        token: Token,
        lease_end: Millis,
        ends_by: Millis,
        since: Millis,
        waiters: Vec<W>,
    },
    Landed {
        response: R,
        bytes: usize,
        until: Millis,
    },
}

/// All flights of a shard. `R` is a landed response, `W` wakes a waiter when it is dropped or used.
pub struct Flights<R, W> {
    limits: Limits,
    by_scope: HashMap<Scope, Flight<R, W>>,
    landed: VecDeque<(Scope, Millis)>,
    landed_bytes: usize,
    waiters: usize,
    typical: Millis,
    purge_at: usize,
}

/// Below this many flights, dead locks are not worth looking for.
const PURGE_MIN: usize = 1_024;

impl<R, W> Flight<R, W> {
    fn is_alive(&self, now: Millis) -> bool {
        match &self.state {
            State::Up {
                lease_end, waiters, ..
            } => *lease_end > now || !waiters.is_empty(),
            State::Landed { until, .. } => *until > now,
        }
    }
}

impl<R: Clone, W> Flights<R, W> {
    /// An empty shard.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            by_scope: HashMap::new(),
            landed: VecDeque::new(),
            landed_bytes: 0,
            waiters: 0,
            typical: 1_000,
            purge_at: PURGE_MIN,
        }
    }

    /// Takes the lock if it is absent or over; otherwise says why not. The pure core of the shard.
    pub fn take(&mut self, take: &Take, now: Millis) -> Taken<R> {
        self.sweep(now);
        if self.has_expired(&take.scope, now) {
            self.forget(&take.scope);
        }
        let Some(flight) = self.by_scope.get_mut(&take.scope) else {
            self.lead(take, now, Vec::new());
            return Taken::Lead;
        };
        match (take.fingerprint.compare(&flight.fingerprint), &flight.state) {
            (Comparison::Same, _) => {}
            (Comparison::Different, State::Landed { .. }) => return Taken::Mismatch,
            // Whoever leads may itself be about to be refused: only the record knows the command.
            (Comparison::Different, State::Up { .. }) | (Comparison::Unknown, _) => {
                return Taken::AskOrigin;
            }
        }
        match &mut flight.state {
            State::Landed { response, .. } => Taken::Replay(response.clone()),
            State::Up { token, .. } if *token == take.token => Taken::Lead,
            State::Up {
                lease_end, waiters, ..
            } if *lease_end <= now => {
                let waiters = std::mem::take(waiters);
                self.lead(take, now, waiters);
                Taken::Lead
            }
            State::Up {
                lease_end, waiters, ..
            } => {
                let full = waiters.len() >= self.limits.waiters_per_flight
                    || self.waiters >= self.limits.waiters;
                let lease_end = *lease_end;
                if full {
                    Taken::Full
                } else {
                    Taken::Wait { lease_end }
                }
            }
        }
    }

    fn has_expired(&self, scope: &Scope, now: Millis) -> bool {
        let state = self.by_scope.get(scope).map(|flight| &flight.state);
        matches!(state, Some(State::Landed { until, .. }) if *until <= now)
    }

    fn lead(&mut self, take: &Take, now: Millis, waiters: Vec<W>) {
        let ends_by = now.saturating_add(take.lock_ttl);
        let lease_end = ends_by.min(now.saturating_add(self.limits.lease));
        let state = State::Up {
            token: take.token,
            lease_end,
            ends_by,
            since: now,
            waiters,
        };
        let flight = Flight {
            fingerprint: take.fingerprint,
            state,
        };
        self.by_scope.insert(take.scope, flight);
    }

    /// Parks a waiter that was told to wait. A waiter whose flight is gone is handed back, to take
    /// again at once.
    pub fn park(&mut self, scope: &Scope, waiter: W) -> Option<W> {
        match self.by_scope.get_mut(scope).map(|flight| &mut flight.state) {
            Some(State::Up { waiters, .. }) => {
                waiters.push(waiter);
                self.waiters += 1;
                None
            }
            _ => Some(waiter),
        }
    }

    /// Takes waiters out that no longer wait, so that their slots are free on every exit.
    pub fn unpark(&mut self, scope: &Scope, is_gone: impl Fn(&W) -> bool) {
        if let Some(State::Up { waiters, .. }) =
            self.by_scope.get_mut(scope).map(|flight| &mut flight.state)
        {
            let before = waiters.len();
            waiters.retain(|waiter| !is_gone(waiter));
            self.waiters = self.waiters.saturating_sub(before - waiters.len());
        }
    }

    /// Renews the holder's lease; false when the token is not (or no longer) the holder's.
    pub fn renew(&mut self, scope: &Scope, holder: Token, now: Millis) -> bool {
        let lease = self.limits.lease;
        match self.by_scope.get_mut(scope).map(|flight| &mut flight.state) {
            Some(State::Up {
                token,
                lease_end,
                ends_by,
                ..
            }) if *token == holder => {
                *lease_end = (*ends_by).min(now.saturating_add(lease));
                *lease_end > now
            }
            _ => false,
        }
    }

    /// Ends the holder's flight, with a response that is archived or with nothing, and gives back
    /// the waiters to wake. Compare-and-release: another's token changes nothing (CASES C18).
    pub fn land(
        &mut self,
        scope: &Scope,
        holder: Token,
        landing: Option<Landing<R>>,
        now: Millis,
    ) -> Vec<W> {
        let Some(flight) = self.by_scope.get_mut(scope) else {
            return Vec::new();
        };
        let State::Up {
            token,
            since,
            waiters,
            ..
        } = &mut flight.state
        else {
            return Vec::new();
        };
        if *token != holder {
            return Vec::new();
        }
        let took = now.saturating_sub(*since);
        let woken = std::mem::take(waiters);
        self.waiters = self.waiters.saturating_sub(woken.len());
        self.typical = (self.typical * 7 + took) / 8;
        self.keep(scope, landing, now);
        woken
    }

    fn keep(&mut self, scope: &Scope, landing: Option<Landing<R>>, now: Millis) {
        let kept = landing.filter(|landing| {
            landing.keep_for > 0 && landing.bytes <= self.limits.landed_bytes / 4
        });
        let (Some(landing), Some(flight)) = (kept, self.by_scope.get_mut(scope)) else {
            self.by_scope.remove(scope);
            return;
        };
        let until = now.saturating_add(landing.keep_for.min(self.limits.landed_for));
        let Landing {
            response, bytes, ..
        } = landing;
        flight.state = State::Landed {
            response,
            bytes,
            until,
        };
        self.landed_bytes += bytes;
        self.landed.push_back((*scope, until));
        while self.landed_bytes > self.limits.landed_bytes && !self.landed.is_empty() {
            self.drop_oldest();
        }
    }

    /// Forgets landed responses whose time is over and, now and then, locks that lapsed with
    /// nobody waiting: their leader died.
    fn sweep(&mut self, now: Millis) {
        while self.landed.front().is_some_and(|(_, until)| *until <= now) {
            self.drop_oldest();
        }
        if self.by_scope.len() >= self.purge_at {
            self.by_scope.retain(|_, flight| flight.is_alive(now));
            self.purge_at = PURGE_MIN.max(2 * self.by_scope.len());
        }
    }

    fn drop_oldest(&mut self) {
        let Some((scope, landed_until)) = self.landed.pop_front() else {
            return;
        };
        let state = self.by_scope.get(&scope).map(|flight| &flight.state);
        if let Some(State::Landed { until, .. }) = state
            && *until == landed_until
        {
            self.forget(&scope);
        }
    }

    fn forget(&mut self, scope: &Scope) {
        if let Some(Flight {
            state: State::Landed { bytes, .. },
            ..
        }) = self.by_scope.remove(scope)
        {
            self.landed_bytes = self.landed_bytes.saturating_sub(bytes);
        }
    }

    /// How long flights here take, in whole seconds: what a 409 says in `Retry-After`.
    pub fn retry_after(&self) -> u32 {
        u32::try_from(self.typical.div_ceil(1_000))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// How many flights are held, up or landed.
    pub fn len(&self) -> usize {
        self.by_scope.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_scope.is_empty()
    }
}

#[cfg(test)]
mod tests;
