//! Leases of what runs in this process: renewed together, watched by whoever waits.

use crate::store::{self, Renewal, Store};
use protocol::{record::Hold, scope::Scope};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// All attempts that run here.
#[derive(Debug)]
pub struct Leases {
    lease: Duration,
    running: Mutex<HashMap<Scope, Running>>,
}

#[derive(Debug)]
struct Running {
    hold: Hold,
    valid_until: Instant,
    ends_by: Instant,
    /// Closed when the attempt ends.
    ended: watch::Sender<()>,
}

impl Leases {
    pub(super) fn new(lease: Duration) -> Self {
        Self {
            lease,
            running: Mutex::default(),
        }
    }

    /// The map stays whole under a panic: nothing here panics between two changes.
    fn running(&self) -> MutexGuard<'_, HashMap<Scope, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(&self, scope: Scope, hold: Hold, asked_at: Instant, lock_ttl: Duration) {
        let running = Running {
            hold,
            valid_until: asked_at + self.lease,
            ends_by: asked_at + lock_ttl,
            ended: watch::Sender::new(()),
        };
        self.running().insert(scope, running);
    }

    pub(super) fn end(&self, scope: &Scope, hold: &Hold) {
        let mut running = self.running();
        if running
            .get(scope)
            .is_some_and(|running| running.hold == *hold)
        {
            running.remove(scope);
        }
    }

    pub(super) fn has_time_left(&self, scope: &Scope, hold: &Hold) -> bool {
        let running = self.running();
        let found = running.get(scope).filter(|running| running.hold == *hold);
        found.is_some_and(|running| Instant::now() < running.valid_until)
    }

    /// Waits until the attempt on this scope ends, at most until `deadline`; where none runs here,
    /// until `deadline`.
    pub(super) async fn wait(&self, scope: &Scope, deadline: Instant) {
        let ended = self
            .running()
            .get(scope)
            .map(|running| running.ended.subscribe());
        match ended {
            // The sender never sends: an error says that the attempt has ended.
            Some(mut ended) => drop(tokio::time::timeout_at(deadline, ended.changed()).await),
            None => tokio::time::sleep_until(deadline).await,
        }
    }

    /// How often [`Self::renew`] is due.
    pub fn renewal_period(&self) -> Duration {
        self.lease / 3
    }

    /// How many attempts run here.
    pub fn len(&self) -> usize {
        self.running().len()
    }

    /// Whether nothing runs here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Renews all leases that are not past their `lock_ttl`, by one statement.
    pub async fn renew(&self, store: &Store) -> Result<(), store::Error> {
        let asked_at = Instant::now();
        let renewals = self.held(|running| asked_at < running.ends_by);
        if renewals.is_empty() {
            return Ok(());
        }
        let held = store.renew(&renewals, self.lease).await?;
        let mut running = self.running();
        for Renewal { scope, hold } in renewals.iter().filter(|r| held.contains(&r.scope)) {
            if let Some(running) = running.get_mut(scope).filter(|r| r.hold == *hold) {
                running.valid_until = asked_at + self.lease;
            }
        }
        Ok(())
    }

    /// Ends the leases of all that runs here, so that another process can take over at once.
    pub(super) async fn abandon(&self, store: &Store) -> Result<(), store::Error> {
        let held = self.held(|_| true);
        store.renew(&held, Duration::ZERO).await.map(drop)
    }

    fn held(&self, of: impl Fn(&Running) -> bool) -> Vec<Renewal> {
        let running = self.running();
        let held = running.iter().filter(|(_, running)| of(running));
        held.map(|(scope, running)| Renewal {
            scope: *scope,
            hold: running.hold,
        })
        .collect()
    }
}
