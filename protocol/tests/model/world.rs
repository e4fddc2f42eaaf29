//! The small world: what is in it, and everything that can happen.

use crate::{
    client::{Request, Said},
    command::Command,
    database::Database,
    provider::{Provider, Verdict},
    shard::{Call, Shard},
    task::{How, Task},
};
use protocol::{
    record::{AfterRetention, Instant, Record},
    scope::Scope,
};

/// The one key's scope.
pub(crate) const SCOPE: Scope = Scope([7; 32]);
/// The database's clock stands still; time passes by moving what is compared with it to here.
pub(crate) const NOW: Instant = 0;
/// The end of a lease that runs.
pub(crate) const LEASE: Instant = 1;
/// The end of a retention that runs.
pub(crate) const RETENTION: Instant = 1;

/// A check that is taken out, to see that the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Statements name no fence and no owner.
    HoldUnchecked,
    /// Statements name no state.
    StateUnchecked,
    /// Each call to the provider has a key of its own.
    ChildKeyAbsent,
    /// A release does not ask whether an attempt may have acted.
    TouchedReleased,
}

/// Which world.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// The commands that clients send, each until it has a final answer.
    pub(crate) requests: Vec<Command>,
    /// How many completers; they and the requests' tasks are spread over two origins.
    pub(crate) completers: usize,
    /// How many edges; none means that all locks are lost for ever.
    pub(crate) edges: usize,
    /// Whether retention can end, and what policy says then.
    pub(crate) retention_ends: bool,
    pub(crate) after_retention: AfterRetention,
    /// Whether Postgres always answers, cards are good and shelves full: where edges are asked for.
    pub(crate) calm: bool,
    pub(crate) defect: Option<Defect>,
}

/// All there is at one time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) requests: Vec<Request>,
    pub(crate) shards: Vec<Shard>,
    /// One for each request, then the completers'.
    pub(crate) tasks: Vec<Task>,
    pub(crate) database: Database,
    pub(crate) provider: Provider,
    pub(crate) said: Said,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Ask { request: usize, edge: usize },
    Leave { request: usize },
    Land { request: usize },
    EdgeForgets { edge: usize },
    EdgeTimePasses { edge: usize },
    Step { task: usize, how: How },
    Renew { task: usize },
    Crash { task: usize },
    LeaseEnds,
    RetentionEnds,
    Reap,
    Deliver { at: usize, card: Verdict },
    Refund,
}

/// Generations that a world goes through at most.
const GENERATIONS: i32 = 2;

impl World {
    /// These requests, no edge, one completer; everything fails, and retention lasts.
    pub(crate) fn of(requests: &[Command]) -> Self {
        Self {
            requests: requests.to_vec(),
            completers: 1,
            edges: 0,
            retention_ends: false,
            after_retention: AfterRetention::Gone,
            calm: false,
            defect: None,
        }
    }

    pub(crate) fn start(&self) -> State {
        State {
            requests: vec![Request::Unanswered; self.requests.len()],
            shards: vec![Shard::default(); self.edges],
            tasks: vec![Task::Idle; self.requests.len() + self.completers],
            database: Database::default(),
            provider: Provider::default(),
            said: Said::default(),
        }
    }

    /// Everything that can come next.
    pub(crate) fn successors(&self, state: &State) -> Vec<(Event, State)> {
        let happen = |event| {
            let mut next = state.clone();
            next.happen(self, event)?;
            next.relabel(self);
            (next != *state).then_some((event, next))
        };
        self.events(state).into_iter().filter_map(happen).collect()
    }

    fn events(&self, state: &State) -> Vec<Event> {
        let mut events = vec![
            Event::LeaseEnds,
            Event::RetentionEnds,
            Event::Reap,
            Event::Refund,
        ];
        for edge in 0..self.edges {
            events.extend([Event::EdgeForgets { edge }, Event::EdgeTimePasses { edge }]);
        }
        for (at, request) in state.requests.iter().enumerate() {
            events.extend(self.requests_events(at, *request));
        }
        for (task, at) in state.tasks.iter().enumerate() {
            if *at != Task::Idle {
                events.extend([Event::Renew { task }, Event::Crash { task }]);
            }
            let ways = at.ways().iter().filter(|how| !self.calm || how.is_calm());
            events.extend(ways.map(|how| Event::Step { task, how: *how }));
        }
        for at in 0..state.provider.under_way.len() {
            events.push(Event::Deliver {
                at,
                card: Verdict::Charged,
            });
            if !self.calm {
                events.push(Event::Deliver {
                    at,
                    card: Verdict::Declined,
                });
            }
        }
        events
    }

    fn requests_events(&self, request: usize, state: Request) -> Vec<Event> {
        match state {
            Request::Unanswered => {
                let edges = 0..self.edges.max(1);
                edges.map(|edge| Event::Ask { request, edge }).collect()
            }
            // Without edges, a client that left is one whose task's answer nobody notes.
            Request::Forwarded(_) if self.edges == 0 => vec![],
            Request::Forwarded(_) => vec![Event::Leave { request }],
            Request::Landing { .. } => vec![Event::Leave { request }, Event::Land { request }],
            Request::Answered => vec![],
        }
    }
}

impl State {
    /// `None` where it can't happen.
    fn happen(&mut self, world: &World, event: Event) -> Option<()> {
        match event {
            Event::Ask { request, edge } => self.ask(world, request, edge)?,
            Event::Leave { request } => self.leave(request)?,
            Event::Land { request } => self.land(request)?,
            Event::EdgeForgets { edge } => self.shards[edge] = Shard::default(),
            Event::EdgeTimePasses { edge } => self.shards[edge].call(Call::TimePasses),
            Event::Step { task, how } => self.step(world, task, how)?,
            Event::Renew { task } => self.renew(world, task)?,
            Event::Crash { task } => self.crash(world, task),
            Event::LeaseEnds => self.lease_ends(),
            Event::RetentionEnds => self.retention_ends(world),
            Event::Reap => self.database.delete_released(),
            Event::Deliver { at, card } => self.provider.deliver(at, card),
            Event::Refund => {
                let charge = self.database.refunds.pop()?;
                self.provider.refunded.push(charge);
            }
        }
        Some(())
    }

    fn renew(&mut self, world: &World, task: usize) -> Option<()> {
        let hold = self.tasks[task].attempt()?.hold;
        self.database.renew(&hold, world.defect).ok()
    }

    /// The process is killed, and started again.
    fn crash(&mut self, world: &World, task: usize) {
        self.tasks[task] = Task::Idle;
        self.origin_answers(world, task, None);
    }

    fn lease_ends(&mut self) {
        if let Some(Record::Pending(pending)) = &mut self.database.record {
            pending.lease_end = NOW;
        }
    }

    fn retention_ends(&mut self, world: &World) {
        if let Some(Record::Finished(finished)) = &mut self.database.record
            && world.retention_ends
            && finished.hold.generation < GENERATIONS
        {
            finished.expires = NOW;
        }
    }
}
