//! All that the sandbox remembers, and the two moments at which a call touches it: when it
//! arrives, and when it settles.

use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;

use super::answer::{Answer, ApiError};
use super::call::Received;
use super::faults::{CallFaults, Fate, Faults};
use super::journal::{Call, Delivery, Journal, Outcome};
use super::keys::{Admission, Keys};
use super::ledger::{Ledger, PaymentIntent, Status};

/// Everything in memory, behind one lock that is never held across an await.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) ledger: Ledger,
    pub(super) keys: Keys,
    pub(super) faults: Faults,
    pub(super) calls: Journal<Call>,
    pub(super) deliveries: Journal<Delivery>,
}

/// What a call took with it when it arrived.
#[derive(Debug)]
pub(super) struct Arrival {
    number: usize,
    faults: CallFaults,
    admission: Admission,
}

impl Arrival {
    /// How long the call waits before it settles. A refusal doesn't wait: it is decided already.
    pub(super) fn delay(&self) -> Duration {
        match self.admission {
            Admission::Refuse(_) => Duration::ZERO,
            _ => self.faults.delay,
        }
    }
}

impl World {
    /// Notes the call, takes its faults and asks its key, in one step.
    pub(super) fn arrive(&mut self, received: &Received) -> Arrival {
        let admission = match &received.key {
            Some(key) => self.keys.admit(key, received.command()),
            None => Admission::Execute,
        };
        Arrival {
            number: self.calls.push(Call {
                method: received.method.to_string(),
                path: received.path.clone(),
                idempotency_key: received.key.clone(),
                outcome: Outcome::Running,
                status: None,
            }),
            faults: self.faults.take(),
            admission,
        }
    }

    /// Ends the call; `None` means that its connection is cut.
    pub(super) fn settle<E>(
        &mut self,
        arrival: Arrival,
        call: &Received,
        execute: E,
    ) -> Option<Answer>
    where
        E: FnOnce(&mut Ledger, &Received) -> Result<Answer, Answer>,
    {
        let fate = arrival.faults.fate;
        let answer = match fate {
            Fate::CutBeforeCommit | Fate::Error500 => {
                self.abandon(&arrival.admission, call);
                ApiError::new("api_error", "An unknown error occurred.")
                    .answer(StatusCode::INTERNAL_SERVER_ERROR)
            }
            Fate::Error429 => {
                self.abandon(&arrival.admission, call);
                ApiError::invalid("Too many requests.")
                    .code("rate_limit")
                    .answer(StatusCode::TOO_MANY_REQUESTS)
            }
            Fate::CutAfterCommit | Fate::Answered => match arrival.admission {
                Admission::Execute => self.execute(call, execute),
                Admission::Replay(answer) | Admission::Refuse(answer) => answer,
            },
        };
        let answer = (!fate.cuts()).then_some(answer);
        if let Some(entry) = self.calls.get_mut(arrival.number) {
            entry.end(answer.as_ref().map(Answer::status));
        }
        answer
    }

    /// Executes and keeps the outcome. As with Stripe, what was refused before execution is not
    /// kept, and what was executed is, failures too.
    fn execute<E>(&mut self, call: &Received, execute: E) -> Answer
    where
        E: FnOnce(&mut Ledger, &Received) -> Result<Answer, Answer>,
    {
        let result = execute(&mut self.ledger, call);
        if let Some(key) = &call.key {
            match &result {
                Ok(executed) => self.keys.save(key, executed),
                Err(_) => self.keys.release(key),
            }
        }
        result.unwrap_or_else(|refusal| refusal)
    }

    /// Ends a call that a fault stopped before it executed: nothing is kept under its key.
    fn abandon(&mut self, admission: &Admission, call: &Received) {
        if let (Admission::Execute, Some(key)) = (admission, &call.key) {
            self.keys.release(key);
        }
    }

    /// One row for each charge that moved money, in order of creation.
    pub(super) fn charges(&self) -> Vec<Charge> {
        let moved = |intent: &&PaymentIntent| intent.status == Status::Succeeded;
        let intents = self.ledger.intents().iter().filter(moved);
        intents.map(|intent| self.charge(intent)).collect()
    }

    fn charge(&self, intent: &PaymentIntent) -> Charge {
        let key = intent.idempotency_key.as_deref();
        Charge {
            id: intent.id.clone(),
            idempotency_key: intent.idempotency_key.clone(),
            amount: intent.amount,
            currency: intent.currency.clone(),
            status: if intent.refunded() {
                "refunded"
            } else {
                "succeeded"
            },
            requests: key.map_or(1, |key| self.keys.requests(key)),
        }
    }

    /// Forgets money, saved keys and calls. Faults stay as they are.
    pub(super) fn forget_charges(&mut self) {
        self.ledger = Ledger::default();
        self.keys.forget();
        self.calls.forget();
    }
}

/// A row of `GET /_sandbox/charges`.
#[derive(Debug, Serialize)]
pub(super) struct Charge {
    /// The id of the `PaymentIntent`.
    id: String,
    idempotency_key: Option<String>,
    amount: u64,
    currency: String,
    status: &'static str,
    /// How many HTTP calls carried the key; 1 without a key.
    requests: u64,
}
