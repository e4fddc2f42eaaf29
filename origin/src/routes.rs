//! Everything that HTTP sees, in one ordered list.

mod discovery;
mod health;
mod openapi;
mod orders;
mod policy_page;
mod problems;
mod protected;
mod signed;
mod status;
mod unprotected;

use crate::{App, Error, idempotency::header_map};
use axum::{Router, body::Body, middleware::from_fn_with_state, response::Response, routing::get};
use http::HeaderMap;
use protocol::problem::{Kind, Problem};

/// The service. Layers run from the bottom up: signature, then protected routes, then the rest.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/orders/{id}", get(orders::show))
        .route("/idempotency", get(policy_page::show))
        .route("/idempotency/status", get(status::show))
        .route("/.well-known/idempotency", get(discovery::show))
        .route("/openapi.json", get(openapi::show))
        .route("/problems/{slug}", get(problems::show))
        .fallback(nothing_here)
        .layer(from_fn_with_state(app.clone(), protected::answer))
        .layer(from_fn_with_state(app.clone(), signed::check))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .with_state(app)
}

async fn nothing_here() -> Error {
    Problem::new(Kind::NotFound, "There is nothing at this address.").into()
}

/// The one value of a header that names the caller. Repeated lines name nobody: which of them a
/// proxy would have shown can't be known.
fn credential<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.as_bytes();
    Some(values.next().map_or(value, |_| &[]))
}

/// A response of the protocol as one of axum's, raw header bytes included.
pub(crate) fn respond(response: protocol::response::Response) -> Response {
    let protocol::response::Response {
        status,
        headers,
        body,
    } = response;
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    *answer.headers_mut() = header_map(headers);
    answer
}
