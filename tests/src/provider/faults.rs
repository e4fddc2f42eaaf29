//! The faults that can be switched on, and what one call takes of them when it arrives.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The switches as `PUT /_sandbox/faults` sets them. A member that is left out is 0; an unknown
/// one is refused.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Faults {
    /// Every following call waits this long, in milliseconds, before it commits.
    delay_ms: u32,
    /// The next calls commit and save their answer, and the connection is cut.
    drop_after_commit: u32,
    /// The connection of the next calls is cut and nothing happens.
    drop_before_commit: u32,
    /// The next calls answer 500 and nothing happens.
    error_500: u32,
    /// The next calls are answered 429, too many, and nothing happens.
    error_429: u32,
    /// The next webhook deliveries are answered 500.
    webhook_500: u32,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered,
    CutAfterCommit,
    CutBeforeCommit,
    Error500,
    Error429,
}

impl Fate {
    /// True when the connection is cut instead of answered.
    pub(super) fn cuts(self) -> bool {
        matches!(self, Self::CutAfterCommit | Self::CutBeforeCommit)
    }
}

/// The faults of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFaults {
    pub(super) delay: Duration,
    pub(super) fate: Fate,
}

impl Faults {
    /// Takes the faults of one arriving call. A call counts for every switch that is on; where
    /// several are, the earliest point in a call's life wins.
    pub(super) fn take(&mut self) -> CallFaults {
        let cut_before = spend(&mut self.drop_before_commit);
        let error = spend(&mut self.error_500);
        let too_many = spend(&mut self.error_429);
        let cut_after = spend(&mut self.drop_after_commit);
        let fate = match (cut_before, error, too_many, cut_after) {
            (true, _, _, _) => Fate::CutBeforeCommit,
            (_, true, _, _) => Fate::Error500,
            (_, _, true, _) => Fate::Error429,
            (_, _, _, true) => Fate::CutAfterCommit,
            _ => Fate::Answered,
        };
        let delay = Duration::from_millis(self.delay_ms.into());
        CallFaults { delay, fate }
    }

    /// True when this webhook delivery fails.
    pub(super) fn take_webhook(&mut self) -> bool {
        spend(&mut self.webhook_500)
    }
}

fn spend(count: &mut u32) -> bool {
    let on = *count > 0;
    *count = count.saturating_sub(1);
    on
}
