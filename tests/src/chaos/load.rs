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
use tokio::{
    join,
    time::{sleep, timeout},
};

const CLIENTS: usize = 48;
/// How many keys become known with each step that all clients take.
const KEYS_A_STEP: usize = 12;
/// How often a client asks for the same thing, at most, while it has no final answer.
const TRIES: usize = 12;
/// Of a hundred steps.
const MISMATCHES: u32 = 12;
const OLD_KEYS: u32 = 20;
const IMPATIENT: u32 = 12;
const WAITING: u32 = 25;
const TWINS: u32 = 35;

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
    /// When it goes out by the other edge as well, if it does.
    twin_after: Option<Duration>,
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
            // The next step does not depend on how often this one was tried.
            let mut choices = rng.fork();
            let mut plan = plan(&mut choices, step, self.edges.len());
            for _ in 0..TRIES {
                sleep(Duration::from_millis(choices.u64(0..150))).await;
                if self.ask_by_one_or_both(&plan).await || Instant::now() >= until {
                    break;
                }
                plan = plan.again(&mut choices, self.edges.len());
            }
            step += 1;
        }
    }

    async fn ask_by_one_or_both(&self, plan: &Plan) -> bool {
        let Some(lag) = plan.twin_after else {
            return self.ask(plan, false).await;
        };
        let twin = Plan {
            edge: (plan.edge + 1) % self.edges.len(),
            ..*plan
        };
        let twin = async {
            sleep(lag).await;
            self.ask(&twin, false).await
        };
        let (first, second) = join!(self.ask(plan, false), twin);
        first || second
    }

    /// Asks for both commands of each of these keys, each at another edge, when all is well.
    pub async fn ask_again(&self, keys: &[usize]) {
        let share = keys.len().div_ceil(CLIENTS).max(1);
        let parts = keys.chunks(share).map(async |keys| {
            for command in keys.iter().flat_map(|key| Command::of_key(*key)) {
                let edge = (command.key + usize::from(command.is_other)) % self.edges.len();
                let plan = Plan {
                    command,
                    edge,
                    waits: true,
                    patience: None,
                    twin_after: None,
                };
                self.ask(&plan, true).await;
            }
        });
        join_all(parts).await;
    }

    /// Asks once, and says whether that is the end of it.
    async fn ask(&self, plan: &Plan, is_final: bool) -> bool {
        let key = command::text(self.seed, plan.command.key);
        let mut request = self.edges[plan.edge].order(&key, plan.command.body());
        if plan.waits {
            request = request.header("prefer", "wait=2");
        }
        let at = self.history.now();
        let answer = Answer::to(request);
        let outcome = match plan.patience {
            Some(patience) => timeout(patience, answer).await.ok(),
            None => Some(answer.await),
        };
        let asked = Asked {
            at,
            until: self.history.now(),
            edge: plan.edge,
            command: plan.command,
            is_final,
            outcome: outcome.map_or(Outcome::Left, ended),
        };
        let ends = asked.archived().is_some() || asked.answer().is_some_and(|a| a.status == 422);
        self.history.note(asked);
        ends
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

fn plan(choices: &mut Rng, step: usize, edges: usize) -> Plan {
    let mut once_in = |percent: u32| choices.u32(0..100) < percent;
    let (is_old, is_other) = (once_in(OLD_KEYS), once_in(MISMATCHES));
    let (waits, leaves) = (once_in(WAITING), once_in(IMPATIENT));
    let newest = (step + 1) * KEYS_A_STEP;
    let oldest = if is_old { 0 } else { newest - KEYS_A_STEP };
    Plan {
        command: Command {
            key: choices.usize(oldest..newest),
            is_other,
        },
        edge: 0,
        waits,
        patience: leaves.then(|| Duration::from_millis(choices.u64(1..300))),
        twin_after: None,
    }
    .again(choices, edges)
}

impl Plan {
    /// The same, by whichever edge, or by both.
    fn again(self, choices: &mut Rng, edges: usize) -> Self {
        let twin_after = Duration::from_millis(choices.u64(0..800));
        Self {
            edge: choices.usize(0..edges),
            twin_after: (choices.u32(0..100) < TWINS).then_some(twin_after),
            ..self
        }
    }
}
