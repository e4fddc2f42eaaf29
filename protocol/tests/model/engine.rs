//! The engine of origin/src/idempotency.rs, one statement or call at a time. Between any two steps
//! of a task anything else may happen: a pause is a task that takes no step while its lease ends.

use crate::{
    client::Told,
    command::Command,
    database::{Answer, Ending, Placed},
    labels::{FRESH, hold_of},
    provider::{Charge, ChildKey, Verdict},
    task::{Attempt, How, Task},
    world::{Defect, NOW, SCOPE, State, World},
};
use protocol::record::{Decision, Hold, HoldLost};

impl State {
    /// One step of a task. `None` where it can't be taken.
    pub(crate) fn step(&mut self, world: &World, at: usize, how: How) -> Option<()> {
        let lost = how == How::AnswerLost;
        match self.tasks[at] {
            Task::Idle => self.complete(world, at, lost)?,
            Task::Insert => self.insert(world, at, lost),
            Task::Find => self.find(world, at),
            Task::ClaimAgain { met, next } => self.claim_again(world, at, &met, next, lost),
            Task::TakeOver { met } => self.take_over(world, at, &met, lost),
            Task::Perform(attempt) => self.perform(world, at, attempt, how),
            Task::Await(attempt, charge) => self.hear(at, attempt, &charge, how)?,
            Task::Place(attempt, charge) => self.place(world, at, attempt, charge, how),
            Task::SoldOut(attempt, charge) => {
                let Attempt { hold, command, .. } = attempt;
                let ended = self
                    .database
                    .finish_sold_out(&hold, command, charge, world.defect);
                self.finished(
                    world,
                    at,
                    attempt,
                    ended,
                    lost.then_some(Task::Place(attempt, charge)),
                );
            }
            Task::Decline(attempt) => {
                let ended = self.finish(world, &attempt, Ending::Declined);
                self.finished(
                    world,
                    at,
                    attempt,
                    ended,
                    lost.then_some(Task::Decline(attempt)),
                );
            }
            Task::Settle(attempt) => {
                let ended = self.finish(world, &attempt, Ending::EffectExists);
                match (ended, lost) {
                    (Ok(answer), false) => self.end(world, at, Some(Told::Answer(answer))),
                    _ => self.end(world, at, None),
                }
            }
            Task::Suspend(attempt) => {
                let done = self.database.suspend(&attempt.hold, world.defect);
                self.let_go(world, at, attempt, done, lost);
            }
            Task::Release(attempt) => {
                let done = self.database.release(&attempt.hold, world.defect);
                self.let_go(world, at, attempt, done, lost);
            }
            Task::Look(attempt) => self.look(world, at, &attempt),
        }
        Some(())
    }

    /// A completer takes over what is free, with nobody asking.
    fn complete(&mut self, world: &World, at: usize, lost: bool) -> Option<()> {
        if at < world.requests.len() {
            return None;
        }
        let owner = FRESH;
        let (hold, command) = self.database.take_over(None, owner, world.defect)?;
        if !lost {
            self.begin(at, hold, command, false);
        }
        Some(())
    }

    fn begin(&mut self, at: usize, hold: Hold, command: Command, first: bool) {
        self.tasks[at] = Task::Perform(Attempt {
            hold,
            command,
            first,
        });
    }

    fn insert(&mut self, world: &World, at: usize, lost: bool) {
        let (command, owner) = (world.requests[at], FRESH);
        match self.database.insert(command, owner) {
            _ if lost => self.end(world, at, None),
            Some(hold) => self.begin(at, hold, command, true),
            None => self.tasks[at] = Task::Find,
        }
    }

    fn find(&mut self, world: &World, at: usize) {
        let Some(record) = &self.database.record else {
            self.tasks[at] = Task::Insert;
            return;
        };
        let asked = world.requests[at].fingerprint();
        let decision = record.decide(|first| asked.compare(first), world.after_retention, NOW);
        let met = *hold_of(record);
        match decision {
            Decision::Replay => self.end(world, at, self.database.response().map(Told::Answer)),
            Decision::Mismatch => self.end(world, at, Some(Told::Mismatch)),
            Decision::Expired => self.end(world, at, Some(Told::Expired)),
            // To wait here is to ask again.
            Decision::InProgress => self.end(world, at, None),
            Decision::TakeOver => self.tasks[at] = Task::TakeOver { met },
            Decision::Claim { generation, fence } => {
                let next = Hold {
                    generation,
                    fence,
                    owner: [0; 16],
                };
                self.tasks[at] = Task::ClaimAgain { met, next };
            }
            Decision::ResponseNotKept | Decision::UnknownVersion => {
                unreachable!("all responses are small and all versions known")
            }
        }
    }

    fn claim_again(&mut self, world: &World, at: usize, met: &Hold, next: Hold, lost: bool) {
        let command = world.requests[at];
        let hold = Hold {
            owner: FRESH,
            ..next
        };
        match self.database.claim_again(command, met, hold, world.defect) {
            _ if lost => self.end(world, at, None),
            Some(hold) => self.begin(at, hold, command, true),
            None => self.tasks[at] = Task::Insert,
        }
    }

    fn take_over(&mut self, world: &World, at: usize, met: &Hold, lost: bool) {
        let owner = FRESH;
        match self.database.take_over(Some(met), owner, world.defect) {
            _ if lost => self.end(world, at, None),
            Some((hold, command)) => self.begin(at, hold, command, false),
            None => self.tasks[at] = Task::Insert,
        }
    }

    fn perform(&mut self, world: &World, at: usize, attempt: Attempt, how: How) {
        let may_release = attempt.first || world.defect == Some(Defect::TouchedReleased);
        self.tasks[at] = match how {
            How::Refused if may_release => Task::Release(attempt),
            How::Refused | How::OutOfTime => Task::Suspend(attempt),
            _ => {
                let Attempt { hold, command, .. } = attempt;
                let key = self.child_key(world, hold.generation);
                let charge = Charge {
                    key,
                    generation: hold.generation,
                    command,
                };
                self.provider.send(charge);
                Task::Await(attempt, charge)
            }
        };
    }

    fn child_key(&self, world: &World, generation: i32) -> ChildKey {
        let provider = &self.provider;
        let step = match world.defect {
            Some(Defect::ChildKeyAbsent) => {
                format!("{}", provider.decided.len() + provider.under_way.len())
            }
            _ => "charge".to_owned(),
        };
        let key = SCOPE.child_key(generation, &step);
        u32::from_str_radix(&key[..8], 16).expect("a child key is hex digits")
    }

    fn hear(&mut self, at: usize, attempt: Attempt, charge: &Charge, how: How) -> Option<()> {
        self.tasks[at] = if how == How::Cut {
            Task::Suspend(attempt)
        } else {
            match self.provider.verdict(charge)? {
                Verdict::Charged => Task::Place(attempt, charge.key),
                Verdict::Declined => Task::Decline(attempt),
                Verdict::KeyReused => Task::Suspend(attempt),
            }
        };
        Some(())
    }

    fn finish(
        &mut self,
        world: &World,
        attempt: &Attempt,
        ending: Ending,
    ) -> Result<Answer, HoldLost> {
        let Attempt { hold, command, .. } = attempt;
        self.database.finish(hold, ending, *command, world.defect)
    }

    fn place(&mut self, world: &World, at: usize, attempt: Attempt, charge: ChildKey, how: How) {
        let Attempt { hold, command, .. } = attempt;
        let enough = how != How::SoldOut;
        match self
            .database
            .place(&hold, command, charge, enough, world.defect)
        {
            // Finishing again will show what became of it.
            _ if how == How::AnswerLost => {}
            Placed::Done(answer) => self.end(world, at, Some(Told::Answer(answer))),
            Placed::HoldLost => self.tasks[at] = Task::Look(attempt),
            Placed::EffectExists => self.tasks[at] = Task::Settle(attempt),
            Placed::SoldOut => self.tasks[at] = Task::SoldOut(attempt, charge),
        }
    }

    fn finished(
        &mut self,
        world: &World,
        at: usize,
        attempt: Attempt,
        ended: Result<Answer, HoldLost>,
        again: Option<Task>,
    ) {
        match (again, ended) {
            (Some(again), _) => self.tasks[at] = again,
            (None, Ok(answer)) => self.end(world, at, Some(Told::Answer(answer))),
            (None, Err(HoldLost)) => self.tasks[at] = Task::Look(attempt),
        }
    }

    /// After a suspension or a release.
    fn let_go(
        &mut self,
        world: &World,
        at: usize,
        attempt: Attempt,
        done: Result<(), HoldLost>,
        lost: bool,
    ) {
        if lost || done.is_ok() {
            self.end(world, at, None);
        } else {
            self.tasks[at] = Task::Look(attempt);
        }
    }

    /// What became of an operation that an attempt no longer holds.
    fn look(&mut self, world: &World, at: usize, attempt: &Attempt) {
        let found = self.database.response();
        let ours = found.filter(|answer| answer.command == attempt.command);
        self.end(world, at, ours.map(Told::Answer));
    }

    /// The task is over; whoever waits is told, or may ask again.
    fn end(&mut self, world: &World, at: usize, told: Option<Told>) {
        self.tasks[at] = Task::Idle;
        self.origin_answers(world, at, told);
    }
}
