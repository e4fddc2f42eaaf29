//! Faults of processes: killed, paused past their leases, restarted.

use super::{deck::Deck, history::History};
use crate::{edge::Edge, origin::Origin, postgres::Postgres};
use std::{
    fmt,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// How an origin that is asked to end may do so in order.
const END_LIMIT: Duration = Duration::from_secs(10);

/// What happens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL to an origin.
    OriginKilled,
    /// SIGSTOP to an origin for longer than a lease, then SIGCONT.
    OriginPaused,
    /// SIGTERM to an origin, and a new start.
    OriginRestarted,
    /// SIGKILL to an edge: all it knew is lost.
    EdgeKilled,
    /// Postgres ends at once and recovers.
    PostgresCrashed,
}

/// Every kind.
pub const ALL: [Fault; 5] = [
    Fault::OriginKilled,
    Fault::OriginPaused,
    Fault::OriginRestarted,
    Fault::EdgeKilled,
    Fault::PostgresCrashed,
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OriginKilled => "origin killed",
            Self::OriginPaused => "origin paused past its lease",
            Self::OriginRestarted => "origin restarted",
            Self::EdgeKilled => "edge killed",
            Self::PostgresCrashed => "postgres crashed",
        })
    }
}

/// The processes, and how long an unrenewed attempt holds its record.
#[derive(Debug)]
pub struct Processes<'a> {
    /// Each may be hit.
    pub origins: &'a mut [Origin],
    /// Each may be hit.
    pub edges: &'a mut [Edge],
    /// The only one.
    pub postgres: &'a mut Postgres,
    /// The origins'.
    pub lease: Duration,
}

impl Processes<'_> {
    /// One fault after the other until then; everything runs when this returns.
    pub async fn run(&mut self, deck: &mut Deck<Fault>, history: &History, until: Instant) {
        while !deck.is_empty() && Instant::now() < until {
            sleep(deck.time(300, 2_000)).await;
            let (fault, at) = (deck.draw(), history.now());
            self.strike(fault, deck).await;
            history.strike(fault, at);
        }
    }

    async fn strike(&mut self, fault: Fault, deck: &mut Deck<Fault>) {
        let origin = deck.rng.usize(0..self.origins.len());
        let edge = deck.rng.usize(0..self.edges.len());
        let (origin, edge) = (&mut self.origins[origin], &mut self.edges[edge]);
        let down = deck.time(0, 1_000);
        match fault {
            Fault::OriginKilled => {
                origin.kill().await;
                sleep(down).await;
                origin.restart().await;
            }
            Fault::OriginPaused => {
                origin.pause();
                sleep(self.lease + Duration::from_millis(500) + down).await;
                origin.resume();
            }
            Fault::OriginRestarted => {
                origin.end(END_LIMIT).await;
                origin.restart().await;
            }
            Fault::EdgeKilled => {
                edge.kill();
                sleep(down).await;
                edge.restart().await;
            }
            Fault::PostgresCrashed => {
                self.postgres.crash().await;
                sleep(down).await;
                self.postgres.start_again().await;
            }
        }
    }
}
