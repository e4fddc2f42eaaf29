//! The reference operation: `POST /orders` (DESIGN sections 6 and 11).
//!
//! Charge at the provider, then in one transaction: stock, order, events and response.

mod form;
pub mod provider;
mod view;

use super::Performed;
use crate::{
    idempotency::Attempt,
    store::{Event, Finishing, NewRecord, Order, Placement},
};
use fail::fail_point;
use form::Form;
use protocol::{
    canonical::{self, Selection},
    problem::{Kind, Problem},
    record::Outcome,
    response::Response,
};
use provider::{Charged, Provider};
use serde_json::json;
use sqlx::types::Json;
use std::{sync::Arc, time::Duration};
use time::OffsetDateTime;

pub use view::{problem_response, view};

/// Its name in policy.toml.
pub const NAME: &str = "orders";

/// The provider keeps a key for 24 hours at least; after this age a charge is searched for, never
/// made again.
const KEY_KEPT_FOR: Duration = Duration::from_hours(23);

/// Orders, and the provider that is charged for them.
#[derive(Debug, Clone)]
pub struct Orders {
    /// Where charges are made.
    pub provider: Provider,
}

/// Reads the order, or says which member is wrong.
pub fn validate(record: &NewRecord) -> Result<(), Problem> {
    read(record).map(drop)
}

fn read(record: &NewRecord) -> Result<Form, Problem> {
    let content_type = record
        .headers
        .iter()
        .find(|(name, _)| name == "content-type");
    let content_type = content_type.and_then(|(_, value)| std::str::from_utf8(value).ok());
    let essence = protocol::fingerprint::media_type_essence(content_type.unwrap_or_default());
    if !protocol::fingerprint::is_json(&essence) {
        return Err(form::invalid(
            "content-type",
            "send the order as application/json",
        ));
    }
    // The canonical text judges numbers by their value: 1250.0 is 1250.
    let text = canonical::text(&record.body, &Selection::whole());
    let text = text.map_err(|error| Problem::new(Kind::BodyNotCanonical, error.to_string()))?;
    Form::read(&text)
}

impl Orders {
    /// Charges, and says what to commit.
    pub async fn perform(&self, record: &NewRecord, attempt: &Attempt) -> Performed {
        let form = match read(record) {
            Ok(form) => form,
            Err(problem) => return Performed::Nothing(problem.into()),
        };
        if !attempt.has_time_left() {
            return Performed::Unknown;
        }
        fail_point!("before-charge", |_| std::process::abort());
        let charge = if attempt.age < KEY_KEPT_FOR {
            self.provider.charge(&form, attempt).await
        } else {
            self.provider.find_charge(attempt).await
        };
        fail_point!("charged", |_| std::process::abort());
        match charge {
            Charged::Succeeded(id) => Performed::Finish(place(form, attempt, id)),
            Charged::Declined(why) => Performed::Finish(Finishing::Response {
                outcome: Outcome::Failed,
                response: Arc::new(problem_response(&Problem::new(Kind::CardDeclined, why))),
            }),
            Charged::Nothing(problem) => Performed::Nothing(problem.into()),
            Charged::Unknown => Performed::Unknown,
        }
    }
}

/// No finer than Postgres keeps it, so that the first answer and `GET` agree.
fn to_milliseconds(time: OffsetDateTime) -> OffsetDateTime {
    let milliseconds = u32::from(time.millisecond());
    time.replace_nanosecond(milliseconds * 1_000_000)
        .unwrap_or(time)
}

/// The order, its events and both answers, built before the transaction.
fn place(form: Form, attempt: &Attempt, charge_id: String) -> Finishing {
    let pieces = form.pieces();
    let order = Order {
        id: format!(
            "ord_{}",
            attempt.child_key("order").get(..32).unwrap_or_default()
        ),
        amount: form.amount,
        currency: form.currency,
        destination: form.destination,
        items: Json(form.items),
        metadata: form.metadata.map(Json),
        charge_id,
        created_at: to_milliseconds(OffsetDateTime::now_utc()),
    };
    let body = view(&order);
    let event = |r#type: &str, data: Vec<u8>| Event {
        id: format!(
            "evt_{}",
            attempt.child_key(r#type).get(..32).unwrap_or_default()
        ),
        r#type: r#type.to_owned(),
        data: String::from_utf8_lossy(&data).into_owned(),
    };
    let payment = json!({
        "order_id": order.id, "charge_id": order.charge_id,
        "amount": order.amount, "currency": order.currency,
    });
    let events = vec![
        event("payment.succeeded", payment.to_string().into_bytes()),
        event("order.created", body.clone()),
    ];
    let placed = Response {
        status: 201,
        headers: view::headers(&order.id),
        body,
    };
    let sold_out = problem_response(&Problem::new(
        Kind::OutOfStock,
        "A piece of this order is sold out; the charge is refunded.",
    ));
    Finishing::Order(Box::new(Placement {
        order,
        pieces,
        events,
        placed: Arc::new(placed),
        sold_out: Arc::new(sold_out),
    }))
}
