//! Operations: what is done once. Each is a validation, the work outside, and what to commit.

#[cfg(feature = "bench")]
mod insert;
pub mod orders;

use crate::{
    idempotency::{Attempt, Command},
    store::Finishing,
};
use orders::Orders;
use protocol::{
    policy::Target,
    problem::{Kind, Problem},
};

/// How the work outside went.
#[derive(Debug)]
pub enum Performed {
    /// It is settled, one way or the other: write this down.
    Finish(Finishing),
    /// It did not happen; a retry may run.
    Nothing(Problem),
    /// It may have happened.
    Unknown,
}

/// The operations that this origin knows.
#[derive(Debug)]
pub struct Operations {
    /// `orders`.
    pub orders: Orders,
}

impl Operations {
    /// Whether the request can run at all. Decided before the claim, so that a bad request takes
    /// no lock; a request taken over was valid once and is not asked again.
    pub fn validate(&self, command: &Command) -> Result<(), Problem> {
        match &command.route.target {
            Target::Operation(name) if name == orders::NAME => orders::validate(&command.record),
            #[cfg(feature = "bench")]
            Target::Operation(name) if name == insert::NAME => Ok(()),
            _ => Err(unknown()),
        }
    }

    /// Does the work outside, with no transaction open.
    pub async fn perform(&self, command: &Command, attempt: &Attempt) -> Performed {
        match &command.route.target {
            Target::Operation(name) if name == orders::NAME => {
                self.orders.perform(&command.record, attempt).await
            }
            #[cfg(feature = "bench")]
            Target::Operation(name) if name == insert::NAME => insert::perform(attempt),
            _ => Performed::Nothing(unknown()),
        }
    }
}

fn unknown() -> Problem {
    Problem::new(
        Kind::NotFound,
        "This route names an operation that this origin does not have.",
    )
}
