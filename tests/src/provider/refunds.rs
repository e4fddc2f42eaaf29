//! `POST /v1/refunds`: gives back all, or part, of a payment.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::{Answer, ApiError};
use super::call::Received;
use super::ledger::{Ledger, PaymentIntent, Status, new_id, now_s};
use super::payment_intents::missing;

/// What may be sent.
const KNOWN: [&str; 4] = ["amount", "metadata", "payment_intent", "reason"];

/// Stripe's `Refund`.
#[derive(Debug, Serialize)]
struct Refund {
    id: String,
    object: &'static str,
    amount: u64,
    charge: Option<String>,
    created: u64,
    currency: String,
    metadata: BTreeMap<String, String>,
    payment_intent: String,
    reason: Option<String>,
    status: &'static str,
}

/// Refunds `amount`, or what is left. `Err` is a request that was refused before anything was
/// executed; a refusal that follows from the state of the charge is an executed one, and saved.
pub(super) fn create(ledger: &mut Ledger, received: &Received) -> Result<Answer, Answer> {
    let parameters = &received.parameters;
    parameters.only(&KNOWN)?;
    let id = parameters.required("payment_intent")?;
    let wanted = parameters.amount("amount")?;
    let intent = ledger
        .find_mut(id)
        .ok_or_else(|| missing(id, "payment_intent"))?;
    Ok(match refundable(intent, wanted) {
        Ok(amount) => {
            intent.amount_refunded += amount;
            Answer::ok(&refund(intent, amount, received))
        }
        Err(refusal) => refusal,
    })
}

fn refundable(intent: &PaymentIntent, wanted: Option<u64>) -> Result<u64, Answer> {
    let left = intent.amount - intent.amount_refunded;
    if intent.status != Status::Succeeded {
        let message = format!(
            "This PaymentIntent ({}) does not have a successful charge to refund.",
            intent.id
        );
        return Err(ApiError::invalid(message).bad_request());
    }
    if left == 0 {
        let charge = intent.latest_charge.as_deref().unwrap_or_default();
        let message = format!("Charge {charge} has already been refunded.");
        return Err(ApiError::invalid(message)
            .code("charge_already_refunded")
            .bad_request());
    }
    match wanted {
        Some(amount) if amount > left => {
            let message =
                format!("Refund amount ({amount}) is greater than what is left ({left}).");
            Err(ApiError::invalid(message).param("amount").bad_request())
        }
        _ => Ok(wanted.unwrap_or(left)),
    }
}

fn refund(intent: &PaymentIntent, amount: u64, received: &Received) -> Refund {
    let members = received.parameters.members("metadata");
    Refund {
        id: new_id("re"),
        object: "refund",
        amount,
        charge: intent.latest_charge.clone(),
        created: now_s(),
        currency: intent.currency.clone(),
        metadata: members.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        payment_intent: intent.id.clone(),
        reason: received.parameters.get("reason").map(str::to_owned),
        status: "succeeded",
    }
}
