//! The provider, which honours keys, and the network before it, in which a request may still be on
//! its way when its sender has long gone.

use crate::command::Command;

/// The first 8 hex digits of a child key, which tell the few of this world apart.
pub(crate) type ChildKey = u32;

/// A request to charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Charge {
    pub(crate) key: ChildKey,
    /// As the charge's metadata says.
    pub(crate) generation: i32,
    pub(crate) command: Command,
}

/// What the provider decided under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Money moved.
    Charged,
    /// The card was declined.
    Declined,
    /// The key names another command.
    KeyReused,
}

/// Both sides of the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Provider {
    pub(crate) under_way: Vec<Charge>,
    pub(crate) decided: Vec<(Charge, Verdict)>,
    pub(crate) refunded: Vec<ChildKey>,
}

impl Provider {
    pub(crate) fn send(&mut self, charge: Charge) {
        // One that is decided, or on its way already, has no further effect.
        if self.verdict(&charge).is_none() && !self.under_way.contains(&charge) {
            self.under_way.push(charge);
            self.under_way.sort_unstable();
        }
    }

    /// A request arrives, and the card is what it is.
    pub(crate) fn deliver(&mut self, at: usize, card: Verdict) {
        let charge = self.under_way.remove(at);
        if self.verdict(&charge).is_none() {
            self.decided.push((charge, card));
        }
    }

    /// What is answered to a request that has arrived.
    pub(crate) fn verdict(&self, charge: &Charge) -> Option<Verdict> {
        let (first, verdict) = self
            .decided
            .iter()
            .find(|(first, _)| first.key == charge.key)?;
        let same = first.command == charge.command;
        Some(if same { *verdict } else { Verdict::KeyReused })
    }

    /// The charges that moved money, given back or not.
    pub(crate) fn effects(&self) -> impl Iterator<Item = &Charge> {
        let charged = self
            .decided
            .iter()
            .filter(|(_, verdict)| *verdict == Verdict::Charged);
        charged.map(|(charge, _)| charge)
    }
}
