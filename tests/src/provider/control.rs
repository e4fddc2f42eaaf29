//! The controls under `/_sandbox`, for people and tests; Stripe has nothing of the kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};

use super::Sandbox;
use super::faults::Faults;
use super::journal::{Call, Delivery};
use super::world::Charge;

/// The routes of the controls.
pub(super) fn routes() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/_sandbox/charges", get(charges).delete(forget_charges))
        .route("/_sandbox/requests", get(requests))
        .route("/_sandbox/faults", get(faults).put(set_faults))
        .route(
            "/_sandbox/webhook",
            post(receive).get(deliveries).delete(forget_deliveries),
        )
}

async fn charges(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<Charge>> {
    Json(sandbox.world().charges())
}

async fn forget_charges(State(sandbox): State<Arc<Sandbox>>) -> StatusCode {
    sandbox.world().forget_charges();
    StatusCode::NO_CONTENT
}

async fn requests(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<Call>> {
    Json(sandbox.world().calls.entries().iter().cloned().collect())
}

async fn faults(State(sandbox): State<Arc<Sandbox>>) -> Json<Faults> {
    Json(sandbox.world().faults)
}

/// Replaces all switches and answers with them.
async fn set_faults(State(sandbox): State<Arc<Sandbox>>, body: Bytes) -> Response {
    match serde_json::from_slice::<Faults>(&body) {
        Ok(faults) => {
            sandbox.world().faults = faults;
            Json(faults).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    }
}

/// Takes a webhook delivery and keeps it, also one that a fault answers with 500.
async fn receive(
    State(sandbox): State<Arc<Sandbox>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let Ok(body) = String::from_utf8(body.into()) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut world = sandbox.world();
    let status = if world.faults.take_webhook() {
        StatusCode::INTERNAL_SERVER_ERROR
    } else {
        StatusCode::OK
    };
    world.deliveries.push(Delivery {
        status: status.as_u16(),
        headers: readable(&headers),
        body,
    });
    status
}

/// Headers as JSON can hold them: one member for each name, repeated values joined by commas.
fn readable(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut readable = BTreeMap::<String, String>::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        readable
            .entry(name.to_string())
            .and_modify(|joined| joined.extend([", ", value.as_ref()]))
            .or_insert_with(|| value.into_owned());
    }
    readable
}

async fn deliveries(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<Delivery>> {
    let world = sandbox.world();
    Json(world.deliveries.entries().iter().cloned().collect())
}

async fn forget_deliveries(State(sandbox): State<Arc<Sandbox>>) -> StatusCode {
    sandbox.world().deliveries.forget();
    StatusCode::NO_CONTENT
}
