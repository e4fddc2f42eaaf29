//! Once: claim, run, finish; replay, refuse or wait (DESIGN sections 2, 5 and 6).

mod answer;
mod archive_cache;
mod archived;
mod attempt;
mod leases;
mod run;

pub use answer::{Answer, Aside, Refusal};
use archive_cache::ArchiveCache;
pub use archived::Archived;
pub(crate) use archived::header_map;
use attempt::Turn;
pub use attempt::{Attempt, backoff};
pub use leases::Leases;

use crate::{
    operations::{Operations, gateway::Head},
    store::{self, Claimed, NewRecord, Store, Stored, TakenOver},
};
use protocol::{
    policy::Route,
    problem::Kind,
    record::{AfterRetention, Decision, Hold},
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What a caller wants done once.
#[derive(Debug, Clone)]
pub struct Command {
    /// The policy that holds for it.
    pub route: Arc<Route>,
    /// Its names and the request itself.
    pub record: Arc<NewRecord>,
    /// The head that an upstream gets, of the request that is here; a completer has none.
    pub head: Option<Arc<Head>>,
}

/// Times and sizes of the engine.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long an unrenewed attempt holds its record.
    pub lease: Duration,
    /// The longest pause before an unknown outcome is asked for again.
    pub retry_max: Duration,
    /// Memory for archived responses, in bytes.
    pub cache_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            retry_max: Duration::from_secs(5),
            cache_bytes: 64 << 20,
        }
    }
}

/// The engine: the only place that starts operations.
#[derive(Debug)]
pub struct Engine {
    /// The authority.
    pub store: Store,
    operations: Operations,
    leases: Arc<Leases>,
    cache: ArchiveCache,
    draining: CancellationToken,
    tasks: TaskTracker,
    limits: Limits,
}

/// One look at the record: an answer, or the reason to wait.
enum Step {
    Answer(Answer),
    InProgress(Box<Stored>),
    /// Another was quicker: look again at once.
    Again,
}

impl Engine {
    /// An engine that runs these operations.
    pub fn new(store: Store, operations: Operations, limits: Limits) -> Self {
        let leases = Arc::new(Leases::new(limits.lease));
        let cache = ArchiveCache::new(limits.cache_bytes);
        Self {
            store,
            operations,
            leases,
            cache,
            draining: CancellationToken::new(),
            tasks: TaskTracker::new(),
            limits,
        }
    }

    /// The leases of what runs here.
    pub fn leases(&self) -> &Leases {
        &self.leases
    }

    /// Answers a command, waiting up to `wait` where another attempt is running. It runs in a task
    /// of its own, which no disconnect cancels (CASES C34, C60).
    pub async fn execute(
        self: Arc<Self>,
        command: Command,
        wait: Duration,
    ) -> Result<Answer, Refusal> {
        let NewRecord {
            scope, fingerprint, ..
        } = &*command.record;
        if let Some((archived, remaining)) = self.cache.find(scope, fingerprint) {
            return Ok(Answer {
                archived,
                replayed: true,
                remaining,
                aside: None,
            });
        }
        let tasks = self.tasks.clone();
        let task = tasks.spawn(async move { self.answer(&command, wait).await });
        task.await
            .unwrap_or_else(|error| Err(Refusal::Panicked(error)))
    }

    async fn answer(
        self: &Arc<Self>,
        command: &Command,
        wait: Duration,
    ) -> Result<Answer, Refusal> {
        let deadline = Instant::now() + wait;
        let mut pause = Duration::from_millis(25);
        loop {
            let stored = match self.step(command).await? {
                Step::Answer(answer) => return Ok(self.keep(command, answer)),
                Step::Again => continue,
                Step::InProgress(stored) => stored,
            };
            if Instant::now() >= deadline || self.draining.is_cancelled() {
                return Err(answer::in_progress(&stored).into());
            }
            let until = deadline.min(Instant::now() + pause);
            let ended = self.leases.wait(&command.record.scope, until);
            self.draining.run_until_cancelled(ended).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    fn keep(&self, command: &Command, answer: Answer) -> Answer {
        let NewRecord {
            scope, fingerprint, ..
        } = &*command.record;
        let Answer {
            archived,
            remaining,
            ..
        } = &answer;
        let is_kept = !remaining.is_zero();
        if is_kept && archived.bytes() <= command.route.response_max as u64 {
            self.cache.keep(*scope, *fingerprint, archived, *remaining);
        }
        answer
    }

    async fn step(self: &Arc<Self>, command: &Command) -> Result<Step, Refusal> {
        let asked_at = Instant::now();
        let stored = match self.operations.validate(command) {
            Ok(()) => match self.claim(command).await? {
                Claimed::Won(hold) => {
                    return self.run(command.clone(), Turn::first(hold, asked_at)).await;
                }
                Claimed::Met(stored) => *stored,
            },
            // Nothing is claimed for a request that can't run; what is there already still decides.
            Err(problem) => match self.find(command).await? {
                Some(stored) => stored,
                None => return Err(problem.into()),
            },
        };
        self.decide(command, stored).await
    }

    async fn claim(&self, command: &Command) -> Result<Claimed, store::Error> {
        self.store
            .claim(&command.record, attempt::fresh_owner(), self.limits.lease)
            .await
    }

    async fn find(&self, command: &Command) -> Result<Option<Stored>, store::Error> {
        self.store
            .find(&command.record.scope, Some(&command.record.fingerprint))
            .await
    }

    async fn decide(self: &Arc<Self>, command: &Command, stored: Stored) -> Result<Step, Refusal> {
        let asked = command.record.fingerprint;
        let now = store_instant(&stored);
        let after_retention = if stored.is_forgotten() {
            AfterRetention::Execute
        } else {
            command.route.after_retention
        };
        match stored
            .record
            .decide(|first| asked.compare(first), after_retention, now)
        {
            Decision::Replay => Ok(Step::Answer(Answer::replay(stored)?)),
            Decision::InProgress => Ok(Step::InProgress(Box::new(stored))),
            Decision::TakeOver => self.take_over(command, &stored).await,
            Decision::Claim { generation, fence } => {
                self.claim_again(command, &stored, generation, fence).await
            }
            Decision::Mismatch => Err(answer::mismatch(&stored).into()),
            Decision::Expired => Err(answer::gone(Kind::KeyExpired, stored).into()),
            Decision::ResponseNotKept => Err(answer::gone(Kind::ResponseNotKept, stored).into()),
            Decision::UnknownVersion => Err(answer::unknown_version().into()),
        }
    }

    async fn claim_again(
        self: &Arc<Self>,
        command: &Command,
        met: &Stored,
        generation: i32,
        fence: i64,
    ) -> Result<Step, Refusal> {
        self.operations.validate(command)?;
        let hold = Hold {
            generation,
            fence,
            owner: attempt::fresh_owner(),
        };
        let met = answer::hold_of(&met.record);
        let (lease, asked_at) = (self.limits.lease, Instant::now());
        if self
            .store
            .claim_again(&command.record, met, &hold, lease)
            .await?
        {
            self.run(command.clone(), Turn::first(hold, asked_at)).await
        } else {
            Ok(Step::Again)
        }
    }

    async fn take_over(self: &Arc<Self>, command: &Command, met: &Stored) -> Result<Step, Refusal> {
        let hold = answer::hold_of(&met.record);
        let scope = &command.record.scope;
        let owner = attempt::fresh_owner();
        match self
            .store
            .take_over(scope, hold, owner, self.limits.lease)
            .await?
        {
            Some(taken) => {
                self.resume(command.route.clone(), taken, command.head.clone())
                    .await
            }
            None => Ok(Step::Again),
        }
    }

    /// Drives an abandoned operation on, from the request that started it.
    async fn resume(
        self: &Arc<Self>,
        route: Arc<Route>,
        taken: TakenOver,
        head: Option<Arc<Head>>,
    ) -> Result<Step, Refusal> {
        let TakenOver {
            asked_at,
            hold,
            attempts,
            age,
            request,
        } = taken;
        let command = Command {
            route,
            record: Arc::new(request),
            head,
        };
        self.run(
            command,
            Turn {
                asked_at,
                hold,
                attempts,
                age,
            },
        )
        .await
    }

    /// Takes over what was abandoned, up to `limit`.
    pub async fn take_over_abandoned(&self, limit: i64) -> Result<Vec<TakenOver>, store::Error> {
        self.store
            .take_over_abandoned(attempt::fresh_owner(), self.limits.lease, limit)
            .await
    }

    /// Runs a task that [`Self::drain`] waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// The completer's way in: finishes an abandoned operation with no client.
    pub async fn complete(
        self: Arc<Self>,
        route: Arc<Route>,
        taken: TakenOver,
    ) -> Result<(), Refusal> {
        self.resume(route, taken, None).await.map(drop)
    }

    /// Answers who waits, and lets what runs come to its end within `limit`; what does not is
    /// free for another process at once.
    pub async fn drain(&self, limit: Duration) {
        self.draining.cancel();
        self.tasks.close();
        if tokio::time::timeout(limit, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(running = self.leases.len(), "left to the completer");
            if let Err(error) = self.leases.abandon(&self.store).await {
                tracing::warn!(%error, "leases run on to their end");
            }
        }
    }
}

fn store_instant(stored: &Stored) -> protocol::record::Instant {
    i64::try_from(stored.now.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
}
