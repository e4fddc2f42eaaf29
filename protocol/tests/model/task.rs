//! A task at an origin: what it is about to do, and how that can go.

use crate::{
    command::Command,
    provider::{Charge, ChildKey},
};
use protocol::record::Hold;

/// A hold that was won, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Attempt {
    pub(crate) hold: Hold,
    pub(crate) command: Command,
    /// Whether no attempt before this one can have acted outside.
    pub(crate) first: bool,
}

/// What a task at an origin is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// Nothing; a completer looks for what is abandoned.
    Idle,
    Insert,
    Find,
    ClaimAgain {
        met: Hold,
        next: Hold,
    },
    TakeOver {
        met: Hold,
    },
    Perform(Attempt),
    Await(Attempt, Charge),
    Place(Attempt, ChildKey),
    SoldOut(Attempt, ChildKey),
    Decline(Attempt),
    Settle(Attempt),
    Suspend(Attempt),
    Release(Attempt),
    Look(Attempt),
}

/// How a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Well,
    /// Postgres does it, and its answer is lost.
    AnswerLost,
    /// The provider takes no connection, or says that it did nothing.
    Refused,
    /// The attempt sees by its own clock that its lease is over.
    OutOfTime,
    /// No answer comes from the provider, or one that says nothing.
    Cut,
    /// Not enough on the shelves.
    SoldOut,
}

impl How {
    pub(crate) fn is_calm(self) -> bool {
        matches!(self, Self::Well | Self::Refused | Self::Cut)
    }
}

impl Task {
    /// The ways that its next step can go.
    pub(crate) fn ways(&self) -> &'static [How] {
        match self {
            Self::Find | Self::Look(_) => &[How::Well],
            Self::Perform(_) => &[How::Well, How::Refused, How::OutOfTime],
            Self::Await(..) => &[How::Well, How::Cut],
            Self::Place(..) => &[How::Well, How::AnswerLost, How::SoldOut],
            _ => &[How::Well, How::AnswerLost],
        }
    }

    /// What it holds, where it runs an attempt.
    pub(crate) fn attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Idle
            | Self::Insert
            | Self::Find
            | Self::ClaimAgain { .. }
            | Self::TakeOver { .. } => None,
            Self::Perform(attempt)
            | Self::Await(attempt, _)
            | Self::Place(attempt, _)
            | Self::SoldOut(attempt, _)
            | Self::Decline(attempt)
            | Self::Settle(attempt)
            | Self::Suspend(attempt)
            | Self::Release(attempt)
            | Self::Look(attempt) => Some(attempt),
        }
    }

    /// The hold that its next statement will name.
    pub(crate) fn hold_mut(&mut self) -> Option<&mut Hold> {
        match self {
            Self::Idle | Self::Insert | Self::Find => None,
            Self::ClaimAgain { met, .. } | Self::TakeOver { met } => Some(met),
            Self::Perform(attempt)
            | Self::Await(attempt, _)
            | Self::Place(attempt, _)
            | Self::SoldOut(attempt, _)
            | Self::Decline(attempt)
            | Self::Settle(attempt)
            | Self::Suspend(attempt)
            | Self::Release(attempt)
            | Self::Look(attempt) => Some(&mut attempt.hold),
        }
    }
}
