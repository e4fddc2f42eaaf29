//! The load: clients that ask for new things and for old ones again, ask for something else under
//! a key that is taken, and leave before they are answered.

use super::{
    command::{self, Command},
    history::{Asked, History, Outcome},
};
use crate::{answer::Answer, client::Client};
use fastrand::Rng;
use futures_util::future::join_all;
use std::{
    error::Error,
    time::{Duration, Instant},
};
use tokio::time::{sleep, timeout};

const CLIENTS: usize = 16;
/// How many keys become known with each step that all clients take.
const KEYS_A_STEP: usize = 4;
/// Of a hundred requests.
const MISMATCHES: u32 = 12;
const OLD_KEYS: u32 = 20;
const IMPATIENT: u32 = 12;
const WAITING: u32 = 50;

/// Who asks, and where it is noted.
#[derive(Debug)]
pub struct Load<'a> {
    /// Of each edge.
    pub edges: &'a [Client],
    /// The run's.
    pub seed: u64,
    /// Where everything goes.
    pub history: &'a History,
}

/// What one request is to be.
#[derive(Debug, Clone, Copy)]
struct Plan {
    command: Command,
    edge: usize,
    waits: bool,
    /// When its client leaves.
    patience: Option<Duration>,
    pause: Duration,
}

impl Load<'_> {
    /// Asks until then.
    pub async fn run(&self, rng: &mut Rng, until: Instant) {
        let clients = (0..CLIENTS).map(|_| self.client(rng.fork(), until));
        join_all(clients.collect::<Vec<_>>()).await;
    }

    async fn client(&self, mut rng: Rng, until: Instant) {
        let mut step = 0;
        while Instant::now() < until {
            let plan = plan(&mut rng, step, self.edges.len());
            sleep(plan.pause).await;
            self.ask(&plan, false).await;
            step += 1;
        }
    }

    /// Asks for both commands of each of these keys, each at another edge, when all is well.
    pub async fn ask_again(&self, keys: &[usize]) {
        let share = keys.len().div_ceil(CLIENTS).max(1);
        let parts = keys.chunks(share).map(async |keys| {
            for key in keys {
                for is_other in [false, true] {
                    let command = Command {
                        key: *key,
                        is_other,
                    };
                    let edge = (key + usize::from(is_other)) % self.edges.len();
                    let plan = Plan {
                        command,
                        edge,
                        waits: true,
                        patience: None,
                        pause: Duration::ZERO,
                    };
                    self.ask(&plan, true).await;
                }
            }
        });
        join_all(parts).await;
    }

    async fn ask(&self, plan: &Plan, is_final: bool) {
        let key = command::text(self.seed, plan.command.key);
        let mut request = self.edges[plan.edge].order(&key, plan.command.body());
        if plan.waits {
            request = request.header("prefer", "wait=5");
        }
        let at = self.history.now();
        let answer = Answer::to(request);
        let outcome = match plan.patience {
            Some(patience) => timeout(patience, answer).await.ok(),
            None => Some(answer.await),
        };
        self.history.note(Asked {
            at,
            until: self.history.now(),
            edge: plan.edge,
            command: plan.command,
            is_final,
            outcome: outcome.map_or(Outcome::Left, ended),
        });
    }
}

fn ended(answer: reqwest::Result<Answer>) -> Outcome {
    match answer {
        Ok(answer) => Outcome::Answered(answer),
        Err(error) => {
            let cause = error.source().map(ToString::to_string);
            Outcome::Unanswered(format!("{error}: {}", cause.unwrap_or_default()))
        }
    }
}

/// Depends on nothing but the client's own choices and how many it has made.
fn plan(rng: &mut Rng, step: usize, edges: usize) -> Plan {
    let mut once_in = |percent: u32| rng.u32(0..100) < percent;
    let (is_old, is_other) = (once_in(OLD_KEYS), once_in(MISMATCHES));
    let (waits, leaves) = (once_in(WAITING), once_in(IMPATIENT));
    let newest = (step + 1) * KEYS_A_STEP;
    let oldest = if is_old { 0 } else { newest - KEYS_A_STEP };
    Plan {
        command: Command {
            key: rng.usize(oldest..newest),
            is_other,
        },
        edge: rng.usize(0..edges),
        waits,
        patience: leaves.then(|| Duration::from_millis(rng.u64(1..300))),
        pause: Duration::from_millis(rng.u64(0..150)),
    }
}
