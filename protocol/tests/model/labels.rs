//! States that differ only in names are one. An attempt's hold matters as far as it is the record's
//! or some answer bears its owner; all others are stale alike, and fences count from the record's.
//! So the world stays finite though attempts go on for ever.

use crate::{
    client::{Lock, Request},
    database::Answer,
    shard::Call,
    task::Task,
    world::{State, World},
};
use protocol::record::{Hold, Owner, Record};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The record's hold, but for its generation.
const RECORDS: (i64, Owner) = (1, [1; 16]);
/// A hold that no statement will ever find again.
const STALE: (i64, Owner) = (0, [2; 16]);
/// The first of those who are known by an answer only.
const ANSWERED: u8 = 3;
/// The owner of the next claim or takeover.
pub(crate) const FRESH: Owner = [u8::MAX; 16];

impl State {
    /// Gives holds, owners, and where no edge knows them, equal requests their names in this state.
    pub(crate) fn relabel(&mut self, world: &World) {
        let holder = self.database.record.as_ref().map(|record| *hold_of(record));
        let mut answered = Vec::new();
        self.for_answers(|answer| {
            let is_holder = holder.is_some_and(|holder| holder.owner == answer.by);
            if !is_holder && !answered.contains(&answer.by) {
                answered.push(answer.by);
            }
        });
        let label = |owner: &Owner| {
            let known = answered.iter().position(|known| known == owner);
            known.map(|n| [ANSWERED + u8::try_from(n).expect("a few answers"); 16])
        };
        self.for_holds(|hold| {
            let (fence, owner) = if Some(*hold) == holder {
                RECORDS
            } else {
                STALE
            };
            *hold = Hold {
                fence,
                owner: label(&hold.owner).unwrap_or(owner),
                ..*hold
            };
        });
        self.for_answers(|answer| answer.by = label(&answer.by).unwrap_or(RECORDS.1));
        if world.edges == 0 {
            self.order_equals(world);
        } else {
            self.forget_tokens();
        }
    }

    fn forget_tokens(&mut self) {
        for (edge, shard) in self.shards.iter_mut().enumerate() {
            shard.forget_token(|token| {
                self.requests.iter().any(|request| match request {
                    Request::Forwarded(Some(lock)) | Request::Landing { lock, .. } => {
                        *lock == Lock { edge, token }
                    }
                    _ => false,
                })
            });
        }
        let [first, second] = &mut self.shards[..] else {
            return;
        };
        if digest(&*first) > digest(&*second) {
            std::mem::swap(first, second);
            for request in &mut self.requests {
                if let Request::Forwarded(Some(lock)) | Request::Landing { lock, .. } = request {
                    lock.edge = 1 - lock.edge;
                }
            }
        }
    }

    /// Which of two equal requests is the first makes no difference, nor which of two completers.
    fn order_equals(&mut self, world: &World) {
        for at in 1..self.tasks.len() {
            let equal = world.requests.get(at - 1) == world.requests.get(at);
            if equal && self.rank(at - 1) > self.rank(at) {
                self.tasks.swap(at - 1, at);
                if at < self.requests.len() {
                    self.requests.swap(at - 1, at);
                }
            }
        }
    }

    /// Any order will do that depends on nothing but where they stand.
    fn rank(&self, at: usize) -> u64 {
        digest((self.requests.get(at), self.tasks[at]))
    }

    fn for_holds(&mut self, mut see: impl FnMut(&mut Hold)) {
        match &mut self.database.record {
            Some(Record::Pending(pending)) => see(&mut pending.hold),
            Some(Record::Finished(finished)) => see(&mut finished.hold),
            Some(Record::Released(hold)) => see(hold),
            None => {}
        }
        self.tasks
            .iter_mut()
            .filter_map(Task::hold_mut)
            .for_each(see);
    }

    fn for_answers(&mut self, mut see: impl FnMut(&mut Answer)) {
        self.database.archived.iter_mut().for_each(&mut see);
        self.said
            .answers
            .iter_mut()
            .for_each(|(_, answer)| see(answer));
        for request in &mut self.requests {
            if let Request::Landing {
                landing: Some(answer),
                ..
            } = request
            {
                see(answer);
            }
        }
        for call in self.shards.iter_mut().flat_map(|shard| &mut shard.0) {
            if let Call::Land(_, Some(answer)) = call {
                see(answer);
            }
        }
    }
}

fn digest(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn hold_of(record: &Record) -> &Hold {
    match record {
        Record::Pending(pending) => &pending.hold,
        Record::Finished(finished) => &finished.hold,
        Record::Released(hold) => hold,
    }
}
