//! The order as a client sees it, in the first answer and in `GET /orders/{id}`.

use crate::store::Order;
use protocol::{
    problem::{Problem, Source},
    response::{Header, Response},
};
use serde::Serialize;
use serde_json::value::RawValue;
use time::format_description::well_known::Rfc3339;

#[derive(Serialize)]
struct View<'a> {
    id: &'a str,
    status: &'static str,
    amount: i64,
    currency: &'a str,
    destination: &'a str,
    items: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    charge_id: &'a str,
    created_at: String,
}

/// The order as JSON.
pub fn view(order: &Order) -> Vec<u8> {
    let view = View {
        id: &order.id,
        status: "paid",
        amount: order.amount,
        currency: &order.currency,
        destination: &order.destination,
        items: &order.items.0,
        metadata: order.metadata.as_ref().map(|metadata| &*metadata.0),
        charge_id: &order.charge_id,
        created_at: order.created_at.format(&Rfc3339).unwrap_or_default(),
    };
    // Strings, numbers and JSON that was parsed before: this always serialises.
    serde_json::to_vec(&view).unwrap_or_default()
}

/// The headers of a placed order.
pub(super) fn headers(id: &str) -> Vec<Header> {
    vec![
        ("content-type".into(), b"application/json".to_vec()),
        ("cache-control".into(), b"no-store".to_vec()),
        ("location".into(), format!("/orders/{id}").into_bytes()),
    ]
}

/// A problem as a response that can be archived.
pub fn problem_response(problem: &Problem) -> Response {
    let headers = problem.headers().into_iter();
    Response {
        status: problem.status(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.into_bytes()))
            .collect(),
        body: problem.to_json(Source::Origin),
    }
}
