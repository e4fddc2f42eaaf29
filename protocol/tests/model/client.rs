//! Clients, and the Workers that carry their requests.

use crate::{
    command::Command,
    database::Answer,
    shard::Call,
    task::Task,
    world::{State, World},
};
use protocol::{flight::Taken, record::Record};

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    /// With its client, who may ask (again).
    Unanswered,
    /// At an origin; its Worker may hold a lock.
    Forwarded(Option<Lock>),
    /// Answered, finally or not; its Worker is about to land.
    Landing {
        lock: Lock,
        landing: Option<Answer>,
        answered: bool,
    },
    /// Its client has an answer that no retry will change.
    Answered,
}

/// A lock that a Worker took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lock {
    pub(crate) edge: usize,
    pub(crate) token: u8,
}

/// A final answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    /// The operation's own.
    Answer(Answer),
    /// 422.
    Mismatch,
    /// 410.
    Expired,
}

/// What was ever said, for the rules to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Said {
    /// Operations' answers, each with the command that was asked.
    pub(crate) answers: Vec<(Command, Answer)>,
    /// 422s: the command that was asked, and the record's at that moment.
    pub(crate) mismatches: Vec<(Command, Option<Command>)>,
}

impl State {
    /// A client sends its request to an edge; where the world has none, to the origin.
    pub(crate) fn ask(&mut self, world: &World, at: usize, edge: usize) -> Option<()> {
        if self.requests[at] != Request::Unanswered || self.tasks[at] != Task::Idle {
            return None;
        }
        let command = world.requests[at];
        let token = token(at);
        let found = match self.shards.get_mut(edge) {
            Some(shard) => shard.take(token, command),
            None => Taken::AskOrigin,
        };
        match found {
            Taken::Lead => self.forward(at, Some(Lock { edge, token })),
            Taken::AskOrigin => self.forward(at, None),
            Taken::Replay(answer) => self.tell(world, at, Told::Answer(answer)),
            Taken::Mismatch => self.tell(world, at, Told::Mismatch),
            // Whoever waits is woken at some time and takes again; a 409 comes to the same.
            Taken::Wait { .. } | Taken::Full => return None,
        }
        Some(())
    }

    fn forward(&mut self, at: usize, lock: Option<Lock>) {
        self.requests[at] = Request::Forwarded(lock);
        self.tasks[at] = Task::Insert;
    }

    /// The client is gone, or its Worker: the lock stays, and so does the work at the origin.
    pub(crate) fn leave(&mut self, at: usize) -> Option<()> {
        self.requests[at] = match self.requests[at] {
            Request::Forwarded(_)
            | Request::Landing {
                answered: false, ..
            } => Request::Unanswered,
            Request::Landing { answered: true, .. } => Request::Answered,
            Request::Unanswered | Request::Answered => return None,
        };
        Some(())
    }

    /// The origin answers: first the client is told, then the Worker lands.
    pub(crate) fn origin_answers(&mut self, world: &World, at: usize, told: Option<Told>) {
        let Some(Request::Forwarded(lock)) = self.requests.get(at).copied() else {
            return;
        };
        self.requests[at] = Request::Unanswered;
        if let Some(told) = told {
            self.tell(world, at, told);
        }
        if let Some(lock) = lock {
            let landing = match told {
                Some(Told::Answer(answer)) => Some(answer),
                _ => None,
            };
            let answered = told.is_some();
            self.requests[at] = Request::Landing {
                lock,
                landing,
                answered,
            };
        }
    }

    /// The Worker lands what is archived, or nothing.
    pub(crate) fn land(&mut self, at: usize) -> Option<()> {
        let Request::Landing { lock, landing, .. } = self.requests[at] else {
            return None;
        };
        self.shards[lock.edge].call(Call::Land(lock.token, landing));
        self.leave(at)
    }

    fn tell(&mut self, world: &World, at: usize, told: Told) {
        self.requests[at] = Request::Answered;
        let asked = world.requests[at];
        match told {
            Told::Answer(answer) => note(&mut self.said.answers, (asked, answer)),
            Told::Mismatch => {
                let owner = match &self.database.record {
                    Some(Record::Pending(pending)) => Some(&pending.fingerprint),
                    Some(Record::Finished(finished)) => Some(&finished.fingerprint),
                    Some(Record::Released(_)) | None => None,
                };
                note(&mut self.said.mismatches, (asked, owner.map(Command::of)));
            }
            Told::Expired => {}
        }
    }
}

/// A request's token: fresh each time it takes, since shards forget those that nobody bears.
pub(crate) fn token(at: usize) -> u8 {
    u8::try_from(at + 1).expect("a few requests")
}

fn note<T: PartialEq>(notes: &mut Vec<T>, said: T) {
    if !notes.contains(&said) {
        notes.push(said);
    }
}
