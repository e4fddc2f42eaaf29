//! `POST /v1/payment_intents` and `GET /v1/payment_intents/{id}`.

use std::collections::BTreeMap;

use axum::http::StatusCode;

use super::answer::{Answer, ApiError};
use super::call::Received;
use super::ledger::{LastPaymentError, Ledger, PaymentIntent, Status, TransferData, new_id, now_s};
use super::parameters::Parameters;

/// The destination whose payments are declined.
const DECLINED_DESTINATION: &str = "acct_declined";

/// Stripe's limits on metadata: members, characters of a name, characters of a value.
const METADATA_MEMBERS_MAX: usize = 50;
const METADATA_NAME_CHARS_MAX: usize = 40;
const METADATA_VALUE_CHARS_MAX: usize = 500;

/// What may be sent. Those that `intent` doesn't read only steer parts of Stripe that the sandbox
/// doesn't have, such as redirects.
const KNOWN: [&str; 12] = [
    "amount",
    "automatic_payment_methods",
    "confirm",
    "currency",
    "description",
    "error_on_requires_action",
    "metadata",
    "off_session",
    "payment_method",
    "payment_method_types",
    "return_url",
    "transfer_data",
];

/// Creates an intent and, with `confirm=true`, moves the money or is declined. `Err` is a request
/// that was refused before anything was executed.
pub(super) fn create(ledger: &mut Ledger, received: &Received) -> Result<Answer, Answer> {
    let intent = intent(received)?;
    let answer = match intent.last_payment_error {
        Some(_) => declined(&intent),
        None => Answer::ok(&intent),
    };
    ledger.add(intent);
    Ok(answer)
}

/// Reads an intent.
pub(super) fn retrieve(ledger: &Ledger, id: &str) -> Result<Answer, Answer> {
    ledger
        .find(id)
        .map(Answer::ok)
        .ok_or_else(|| missing(id, "intent"))
}

/// 404 for an intent that nobody created.
pub(super) fn missing(id: &str, param: &str) -> Answer {
    ApiError::invalid(format!("No such payment_intent: '{id}'"))
        .code("resource_missing")
        .param(param)
        .answer(StatusCode::NOT_FOUND)
}

fn intent(received: &Received) -> Result<PaymentIntent, Answer> {
    let parameters = &received.parameters;
    parameters.only(&KNOWN)?;
    parameters.required("amount")?;
    let amount = parameters.amount("amount")?.unwrap_or_default();
    let status = status(parameters)?;
    let attempted = parameters.flag("confirm")?;
    Ok(PaymentIntent {
        id: new_id("pi"),
        object: "payment_intent",
        amount,
        amount_received: if status == Status::Succeeded {
            amount
        } else {
            0
        },
        created: now_s(),
        currency: currency(parameters)?,
        description: parameters.get("description").map(str::to_owned),
        last_payment_error: (attempted && status != Status::Succeeded).then_some(DECLINE),
        latest_charge: attempted.then(|| new_id("ch")),
        livemode: false,
        metadata: metadata(parameters)?,
        payment_method: parameters.get("payment_method").map(str::to_owned),
        status,
        transfer_data: destination(parameters).map(|d| TransferData {
            destination: d.to_owned(),
        }),
        idempotency_key: received.key.clone(),
        amount_refunded: 0,
    })
}

fn destination(parameters: &Parameters) -> Option<&str> {
    parameters.get("transfer_data[destination]")
}

fn status(parameters: &Parameters) -> Result<Status, Answer> {
    let confirm = parameters.flag("confirm")?;
    match (confirm, parameters.get("payment_method")) {
        (true, None) => Err(ApiError::invalid(
            "You cannot confirm this PaymentIntent because it's missing a payment method.",
        )
        .code("payment_intent_unexpected_state")
        .bad_request()),
        (true, _) if destination(parameters) == Some(DECLINED_DESTINATION) => {
            Ok(Status::RequiresPaymentMethod)
        }
        (true, _) => Ok(Status::Succeeded),
        (false, Some(_)) => Ok(Status::RequiresConfirmation),
        (false, None) => Ok(Status::RequiresPaymentMethod),
    }
}

fn currency(parameters: &Parameters) -> Result<String, Answer> {
    let text = parameters.required("currency")?;
    if text.len() == 3 && text.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err(ApiError::invalid(format!("Invalid currency: {text}"))
        .param("currency")
        .bad_request())
}

fn metadata(parameters: &Parameters) -> Result<BTreeMap<String, String>, Answer> {
    let metadata: BTreeMap<String, String> = parameters
        .members("metadata")
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let fits = metadata.iter().all(|(name, value)| {
        name.chars().count() <= METADATA_NAME_CHARS_MAX
            && value.chars().count() <= METADATA_VALUE_CHARS_MAX
    });
    if fits && metadata.len() <= METADATA_MEMBERS_MAX {
        return Ok(metadata);
    }
    let message = "Metadata takes 50 members, names of 40 and values of 500 characters.";
    Err(ApiError::invalid(message).param("metadata").bad_request())
}

const DECLINE: LastPaymentError = LastPaymentError {
    kind: "card_error",
    code: "card_declined",
    decline_code: "generic_decline",
    message: "Your card was declined.",
};

fn declined(intent: &PaymentIntent) -> Answer {
    let error = ApiError {
        decline_code: Some(DECLINE.decline_code),
        payment_intent: Some(intent),
        ..ApiError::new(DECLINE.kind, DECLINE.message).code(DECLINE.code)
    };
    error.answer(StatusCode::PAYMENT_REQUIRED)
}
