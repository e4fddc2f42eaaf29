//! Postgres for one key: the record's statements, each atomic, each naming what origin/src/store
//! names in its WHERE. What a row becomes is decided by protocol's transitions.

use crate::{
    command::Command,
    provider::ChildKey,
    world::{Defect, LEASE, NOW, RETENTION},
};
use protocol::record::{Archive, Hold, HoldLost, Outcome, Owner, Pending, Record};

/// How an operation ended, as its client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    /// 201.
    Placed,
    /// 402.
    Declined,
    /// 409, and the charge is given back.
    SoldOut,
    /// 410: the order is older than its record.
    EffectExists,
}

/// A response, equal to another only if the same attempt made it: its body bears a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Answer {
    pub(crate) ending: Ending,
    pub(crate) command: Command,
    pub(crate) generation: i32,
    pub(crate) by: Owner,
}

/// A row of `orders`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Order {
    pub(crate) command: Command,
    pub(crate) generation: i32,
    pub(crate) charge: ChildKey,
}

/// All tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Database {
    pub(crate) record: Option<Record>,
    pub(crate) archived: Vec<Answer>,
    pub(crate) orders: Vec<Order>,
    /// Charges to be given back.
    pub(crate) refunds: Vec<ChildKey>,
}

/// What placing an order comes to.
pub(crate) enum Placed {
    Done(Answer),
    HoldLost,
    /// UNIQUE (scope, generation).
    EffectExists,
    /// Held, and not enough on the shelves: nothing was written.
    SoldOut,
}

impl Database {
    /// `INSERT … ON CONFLICT DO NOTHING`.
    pub(crate) fn insert(&mut self, command: Command, owner: Owner) -> Option<Hold> {
        let hold = Hold {
            generation: 1,
            fence: 1,
            owner,
        };
        let claimed = self.record.is_none();
        claimed.then(|| self.set_pending(Pending::claim(command.fingerprint(), hold, LEASE)))
    }

    fn set_pending(&mut self, pending: Pending) -> Hold {
        let hold = pending.hold;
        self.record = Some(Record::Pending(pending));
        hold
    }

    /// `UPDATE … WHERE state <> 'pending' AND` the hold that was met.
    pub(crate) fn claim_again(
        &mut self,
        command: Command,
        met: &Hold,
        hold: Hold,
        defect: Option<Defect>,
    ) -> Option<Hold> {
        let there = match self.record.as_ref()? {
            Record::Pending(_) => return None,
            Record::Finished(finished) => finished.hold,
            Record::Released(hold) => *hold,
        };
        let claimed = there == *met || defect == Some(Defect::HoldUnchecked);
        claimed.then(|| self.set_pending(Pending::claim(command.fingerprint(), hold, LEASE)))
    }

    /// The row that `WHERE state = 'pending'` finds.
    fn pending(&self, defect: Option<Defect>) -> Option<Pending> {
        match self.record.clone()? {
            Record::Pending(pending) => Some(pending),
            Record::Finished(finished) if defect == Some(Defect::StateUnchecked) => Some(Pending {
                lease_end: NOW,
                may_have_acted: true,
                ..Pending::claim(finished.fingerprint, finished.hold, NOW)
            }),
            Record::Finished(_) | Record::Released(_) => None,
        }
    }

    /// The row, and the hold that the statement names.
    fn held(&self, hold: &Hold, defect: Option<Defect>) -> Result<(Pending, Hold), HoldLost> {
        let pending = self.pending(defect).ok_or(HoldLost)?;
        let unchecked = defect == Some(Defect::HoldUnchecked);
        let named = if unchecked { pending.hold } else { *hold };
        Ok((pending, named))
    }

    /// Takes over what was met, or, as the completer does, whatever is free.
    pub(crate) fn take_over(
        &mut self,
        met: Option<&Hold>,
        owner: Owner,
        defect: Option<Defect>,
    ) -> Option<(Hold, Command)> {
        let pending = self.pending(defect)?;
        let other = met.is_some_and(|met| *met != pending.hold);
        if other && defect != Some(Defect::HoldUnchecked) {
            return None;
        }
        let taken = pending.take_over(owner, LEASE, NOW)?;
        let command = Command::of(&taken.fingerprint);
        Some((self.set_pending(taken), command))
    }

    pub(crate) fn renew(&mut self, hold: &Hold, defect: Option<Defect>) -> Result<(), HoldLost> {
        let (pending, hold) = self.held(hold, defect)?;
        self.set_pending(pending.renew(&hold, LEASE)?);
        Ok(())
    }

    pub(crate) fn suspend(&mut self, hold: &Hold, defect: Option<Defect>) -> Result<(), HoldLost> {
        let (pending, hold) = self.held(hold, defect)?;
        self.set_pending(pending.suspend(&hold, LEASE, false)?);
        Ok(())
    }

    pub(crate) fn release(&mut self, hold: &Hold, defect: Option<Defect>) -> Result<(), HoldLost> {
        let (mut pending, hold) = self.held(hold, defect)?;
        if defect == Some(Defect::TouchedReleased) {
            pending.may_have_acted = false;
        }
        let released = pending.release(&hold).map_err(|_| HoldLost)?;
        self.record = Some(Record::Released(released));
        Ok(())
    }

    /// The reaper: a record that was released long ago, and that no earlier execution needs.
    pub(crate) fn delete_released(&mut self) {
        self.record
            .take_if(|record| matches!(record, Record::Released(hold) if hold.generation == 1));
    }

    /// Finishes with a response and nothing else.
    pub(crate) fn finish(
        &mut self,
        hold: &Hold,
        ending: Ending,
        command: Command,
        defect: Option<Defect>,
    ) -> Result<Answer, HoldLost> {
        let outcome = match ending {
            Ending::Placed | Ending::EffectExists => Outcome::Succeeded,
            Ending::Declined | Ending::SoldOut => Outcome::Failed,
        };
        let (pending, named) = self.held(hold, defect)?;
        let finished = pending.finish(&named, outcome, Archive::Kept, RETENTION)?;
        let generation = finished.hold.generation;
        let answer = Answer {
            ending,
            command,
            generation,
            by: hold.owner,
        };
        self.archived
            .retain(|answer| answer.generation != generation);
        self.archived.push(answer);
        self.record = Some(Record::Finished(finished));
        Ok(answer)
    }

    /// Finishes with an order, where there is `enough` of each piece.
    pub(crate) fn place(
        &mut self,
        hold: &Hold,
        command: Command,
        charge: ChildKey,
        enough: bool,
        defect: Option<Defect>,
    ) -> Placed {
        let Ok((pending, named)) = self.held(hold, defect) else {
            return Placed::HoldLost;
        };
        let generation = pending.hold.generation;
        if pending.hold != named {
            return Placed::HoldLost;
        }
        if !enough {
            return Placed::SoldOut;
        }
        if self
            .orders
            .iter()
            .any(|order| order.generation == generation)
        {
            return Placed::EffectExists;
        }
        self.orders.push(Order {
            command,
            generation,
            charge,
        });
        self.finish(hold, Ending::Placed, command, defect)
            .map_or(Placed::HoldLost, Placed::Done)
    }

    /// The 409 and the refund's order.
    pub(crate) fn finish_sold_out(
        &mut self,
        hold: &Hold,
        command: Command,
        charge: ChildKey,
        defect: Option<Defect>,
    ) -> Result<Answer, HoldLost> {
        let answer = self.finish(hold, Ending::SoldOut, command, defect)?;
        self.refunds.push(charge);
        Ok(answer)
    }

    /// Whether some operation ended so.
    pub(crate) fn has_archived(&self, ending: Ending) -> bool {
        self.archived.iter().any(|answer| answer.ending == ending)
    }

    /// The archived response of the record's generation.
    pub(crate) fn response(&self) -> Option<Answer> {
        let Some(Record::Finished(finished)) = &self.record else {
            return None;
        };
        let generation = finished.hold.generation;
        self.archived
            .iter()
            .find(|answer| answer.generation == generation)
            .copied()
    }
}
