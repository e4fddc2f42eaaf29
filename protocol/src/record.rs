//! The record: the origin's state machine (DESIGN section 5).
//!
//! Transitions consume the state they start from. The store repeats each one in SQL: its WHERE
//! names the expected state, the fence and the owner.

use crate::fingerprint::{Comparison, Fingerprint};

/// Microseconds since the Unix epoch, on the database's clock.
pub type Instant = i64;

/// Names one attempt, fresh and random for each claim and takeover.
pub type Owner = [u8; 16];

/// What an attempt holds and every write names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hold {
    /// 1, and one more for each execution that policy allows after retention.
    pub generation: i32,
    /// One more with every claim and takeover.
    pub fence: i64,
    /// Whose attempt.
    pub owner: Owner,
}

/// A record as it stands in the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Record {
    /// Claimed and not finished.
    Pending(Pending),
    /// Succeeded or failed for good; its response is archived until it expires.
    Finished(Finished),
    /// Nothing happened: counts as absent, keeps its fence.
    Released(Hold),
}

/// An operation under way, or abandoned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pending {
    /// What is being done.
    pub fingerprint: Fingerprint,
    /// Who does it.
    pub hold: Hold,
    /// From when on another may take over.
    pub lease_end: Instant,
    /// Whether an attempt since the last release may have reached the outside.
    pub may_have_acted: bool,
    /// Whether it waits for an operator, and nothing else may take over.
    pub needs_operator: bool,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The effect happened.
    Succeeded,
    /// It failed for good, and will never happen.
    Failed,
}

/// What is left of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Archive {
    /// Byte for byte.
    Kept,
    /// It was over `response_max`.
    NotKept,
    /// Its partition is gone: the record is a tombstone.
    Gone,
}

/// An operation at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finished {
    /// What was done.
    pub fingerprint: Fingerprint,
    /// By whom.
    pub hold: Hold,
    /// How it ended.
    pub outcome: Outcome,
    /// When retention is over.
    pub expires: Instant,
    /// What is left of the response.
    pub archive: Archive,
}

/// What policy says of a retry after retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRetention {
    /// 410: the operation was done.
    #[default]
    Gone,
    /// Any command is a new request.
    Execute,
}

/// What the origin does with a request that met a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Claim it: released, or expired where policy executes again. The new hold has no owner yet.
    Claim {
        /// Generation of the claim.
        generation: i32,
        /// Fence of the claim.
        fence: i64,
    },
    /// Answer the archived response.
    Replay,
    /// 422: the key names another command.
    Mismatch,
    /// 409, or wait.
    InProgress,
    /// The lease is over: drive the operation on.
    TakeOver,
    /// 410: done, and the answer is no longer kept.
    Expired,
    /// 410: done, and the answer was too large to keep.
    ResponseNotKept,
    /// 503: written by a newer version.
    UnknownVersion,
}

/// A write whose fence or owner no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the attempt no longer holds the record")]
pub struct HoldLost;

/// A release of an operation that may have acted outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseRefused {
    /// Fence or owner no longer hold.
    #[error(transparent)]
    HoldLost(#[from] HoldLost),
    /// An earlier attempt may have acted: what it did is unknown, whatever this one met.
    #[error("an attempt may have acted outside")]
    MayHaveActed,
}

impl Record {
    /// Decides, 422 before 409 (CASES C20). `compare` says how the request relates to the stored
    /// fingerprint.
    pub fn decide(
        &self,
        compare: impl FnOnce(&Fingerprint) -> Comparison,
        after_retention: AfterRetention,
        now: Instant,
    ) -> Decision {
        match self {
            Self::Released(hold) => Decision::Claim {
                generation: hold.generation,
                fence: hold.fence + 1,
            },
            Self::Finished(finished)
                if finished.is_over(now) && after_retention == AfterRetention::Execute =>
            {
                let Hold {
                    generation, fence, ..
                } = finished.hold;
                Decision::Claim {
                    generation: generation + 1,
                    fence: fence + 1,
                }
            }
            Self::Finished(finished) => match compare(&finished.fingerprint) {
                Comparison::Different => Decision::Mismatch,
                Comparison::Unknown => Decision::UnknownVersion,
                Comparison::Same => finished.decide(now),
            },
            Self::Pending(pending) => match compare(&pending.fingerprint) {
                Comparison::Different => Decision::Mismatch,
                Comparison::Unknown => Decision::UnknownVersion,
                Comparison::Same if pending.is_free(now) => Decision::TakeOver,
                Comparison::Same => Decision::InProgress,
            },
        }
    }
}

impl Finished {
    /// One rule: over when now >= expiry; and a record whose archive is gone is over.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.expires || self.archive == Archive::Gone
    }

    fn decide(&self, now: Instant) -> Decision {
        match self.archive {
            _ if self.is_over(now) => Decision::Expired,
            Archive::NotKept => Decision::ResponseNotKept,
            Archive::Kept | Archive::Gone => Decision::Replay,
        }
    }
}

impl Pending {
    /// A first claim.
    pub fn claim(fingerprint: Fingerprint, hold: Hold, lease_end: Instant) -> Self {
        Self {
            fingerprint,
            hold,
            lease_end,
            may_have_acted: false,
            needs_operator: false,
        }
    }

    /// Whether another may take over.
    pub fn is_free(&self, now: Instant) -> bool {
        now >= self.lease_end && !self.needs_operator
    }

    fn held_by(self, hold: &Hold) -> Result<Self, HoldLost> {
        if self.hold == *hold {
            Ok(self)
        } else {
            Err(HoldLost)
        }
    }

    /// Another attempt, with the next fence; what the abandoned one did is unknown. `None` while
    /// the lease still runs.
    pub fn take_over(self, owner: Owner, lease_end: Instant, now: Instant) -> Option<Self> {
        let hold = Hold {
            fence: self.hold.fence + 1,
            owner,
            ..self.hold
        };
        let free = self.is_free(now);
        free.then_some(Self {
            hold,
            lease_end,
            may_have_acted: true,
            ..self
        })
    }

    /// Keeps the lease of a running attempt.
    pub fn renew(self, hold: &Hold, lease_end: Instant) -> Result<Self, HoldLost> {
        Ok(Self {
            lease_end,
            ..self.held_by(hold)?
        })
    }

    /// The outcome is not known: the lease ends, another attempt may follow from `lease_end` on.
    pub fn suspend(
        self,
        hold: &Hold,
        lease_end: Instant,
        needs_operator: bool,
    ) -> Result<Self, HoldLost> {
        let pending = self.held_by(hold)?;
        Ok(Self {
            lease_end,
            needs_operator,
            may_have_acted: true,
            ..pending
        })
    }

    /// The end.
    pub fn finish(
        self,
        hold: &Hold,
        outcome: Outcome,
        archive: Archive,
        expires: Instant,
    ) -> Result<Finished, HoldLost> {
        let Self {
            fingerprint, hold, ..
        } = self.held_by(hold)?;
        Ok(Finished {
            fingerprint,
            hold,
            outcome,
            expires,
            archive,
        })
    }

    /// Nothing happened. Only where no attempt since the last release can have acted.
    pub fn release(self, hold: &Hold) -> Result<Hold, ReleaseRefused> {
        let pending = self.held_by(hold)?;
        if pending.may_have_acted {
            return Err(ReleaseRefused::MayHaveActed);
        }
        Ok(pending.hold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Fingerprint = Fingerprint {
        version: 1,
        digest: [1; 32],
    };
    const OTHER: Fingerprint = Fingerprint {
        version: 1,
        digest: [2; 32],
    };
    const HOLD: Hold = Hold {
        generation: 1,
        fence: 1,
        owner: [7; 16],
    };

    fn pending() -> Pending {
        Pending::claim(OURS, HOLD, 100)
    }

    fn finished(archive: Archive) -> Record {
        let finished = pending().finish(&HOLD, Outcome::Succeeded, archive, 1_000);
        Record::Finished(finished.unwrap())
    }

    fn decide(record: &Record, asked: Fingerprint, now: Instant) -> Decision {
        record.decide(|stored| asked.compare(stored), AfterRetention::Gone, now)
    }

    #[test]
    fn mismatch_is_decided_before_in_progress_and_after_expiry() {
        assert_eq!(
            decide(&Record::Pending(pending()), OTHER, 50),
            Decision::Mismatch
        );
        assert_eq!(
            decide(&Record::Pending(pending()), OTHER, 100),
            Decision::Mismatch
        );
        assert_eq!(
            decide(&finished(Archive::Kept), OTHER, 5_000),
            Decision::Mismatch
        );
        assert_eq!(
            decide(&finished(Archive::Gone), OTHER, 0),
            Decision::Mismatch
        );
    }

    #[test]
    fn a_lease_ends_at_its_instant() {
        assert_eq!(
            decide(&Record::Pending(pending()), OURS, 99),
            Decision::InProgress
        );
        assert_eq!(
            decide(&Record::Pending(pending()), OURS, 100),
            Decision::TakeOver
        );
    }

    #[test]
    fn retention_ends_at_its_instant() {
        assert_eq!(
            decide(&finished(Archive::Kept), OURS, 999),
            Decision::Replay
        );
        assert_eq!(
            decide(&finished(Archive::Kept), OURS, 1_000),
            Decision::Expired
        );
        assert_eq!(
            decide(&finished(Archive::NotKept), OURS, 999),
            Decision::ResponseNotKept
        );
        assert_eq!(decide(&finished(Archive::Gone), OURS, 0), Decision::Expired);
    }

    #[test]
    fn policy_may_execute_any_command_after_retention_as_a_new_generation() {
        let record = finished(Archive::Kept);
        let execute = AfterRetention::Execute;
        let after = record.decide(|stored| OTHER.compare(stored), execute, 1_000);
        assert_eq!(
            after,
            Decision::Claim {
                generation: 2,
                fence: 2
            }
        );
        let before = record.decide(|stored| OTHER.compare(stored), execute, 999);
        assert_eq!(before, Decision::Mismatch);
    }

    #[test]
    fn an_unknown_version_is_neither_a_match_nor_a_mismatch() {
        let newer = Fingerprint { version: 9, ..OURS };
        assert_eq!(
            decide(&Record::Pending(pending()), newer, 50),
            Decision::UnknownVersion
        );
        assert_eq!(
            decide(&finished(Archive::Kept), newer, 50),
            Decision::UnknownVersion
        );
    }

    #[test]
    fn a_zombie_changes_nothing() {
        let taken = pending().take_over([8; 16], 300, 100).unwrap();
        assert_eq!(taken.hold.fence, 2);
        assert_eq!(taken.clone().renew(&HOLD, 999), Err(HoldLost));
        assert_eq!(taken.clone().suspend(&HOLD, 0, false), Err(HoldLost));
        let finish = taken
            .clone()
            .finish(&HOLD, Outcome::Failed, Archive::Kept, 9);
        assert_eq!(finish, Err(HoldLost));
        assert_eq!(
            taken.release(&HOLD),
            Err(ReleaseRefused::HoldLost(HoldLost))
        );
    }

    #[test]
    fn a_running_lease_is_not_taken_over() {
        assert_eq!(pending().take_over([8; 16], 300, 99), None);
        let held = pending().suspend(&HOLD, 0, true).unwrap();
        assert_eq!(
            held.take_over([8; 16], 300, 100),
            None,
            "an operator has it"
        );
    }

    #[test]
    fn a_release_needs_an_untouched_outside() {
        assert_eq!(pending().release(&HOLD), Ok(HOLD));
        let taken = pending().take_over([8; 16], 300, 100).unwrap();
        let hold = taken.hold;
        assert_eq!(taken.release(&hold), Err(ReleaseRefused::MayHaveActed));
        let suspended = pending().suspend(&HOLD, 0, false).unwrap();
        assert_eq!(suspended.release(&HOLD), Err(ReleaseRefused::MayHaveActed));
    }

    #[test]
    fn a_released_record_counts_as_absent_and_keeps_its_fence() {
        let record = Record::Released(HOLD);
        assert_eq!(
            decide(&record, OTHER, 0),
            Decision::Claim {
                generation: 1,
                fence: 2
            }
        );
    }
}
