//! Operations: what is done once. Each is a validation, the work outside, and what to commit.

pub mod gateway;
#[cfg(feature = "bench")]
mod insert;
pub mod orders;

use crate::{
    idempotency::{Aside, Attempt, Command, Refusal},
    store::{Finishing, Terms},
};
use gateway::Gateway;
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
    /// An upstream has settled it.
    Relay(Box<Relay>),
    /// It did not happen; a retry may run.
    Nothing(Refusal),
    /// It may have happened.
    Unknown,
}

/// An upstream's definitive answer.
#[derive(Debug)]
pub struct Relay {
    /// What is written down.
    pub finishing: Finishing,
    /// What is kept of it.
    pub terms: Terms,
    /// What only its first client gets.
    pub aside: Aside,
}

/// How a call outside ended without an answer.
pub(crate) enum Unanswered {
    /// No byte of it was sent.
    NotSent,
    /// It may have arrived.
    MayHaveArrived,
}

/// The operations that this origin knows.
#[derive(Debug)]
pub struct Operations {
    /// `orders`.
    pub orders: Orders,
    /// Whatever has an upstream.
    pub gateway: Gateway,
}

impl Operations {
    /// Whether the request can run at all. Decided before the claim, so that a bad request takes
    /// no lock; a request taken over was valid once and is not asked again.
    pub fn validate(&self, command: &Command) -> Result<(), Problem> {
        match &command.route.target {
            Target::Operation(name) if name == orders::NAME => orders::validate(&command.record),
            #[cfg(feature = "bench")]
            Target::Operation(name) if name == insert::NAME => Ok(()),
            Target::Operation(_) => Err(unknown()),
            Target::Upstream(_) => Ok(()),
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
            Target::Operation(_) => Performed::Nothing(unknown().into()),
            Target::Upstream(upstream) => self.gateway.perform(upstream, command, attempt).await,
        }
    }
}

fn unknown() -> Problem {
    Problem::new(
        Kind::NotFound,
        "This route names an operation that this origin does not have.",
    )
}
