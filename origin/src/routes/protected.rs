//! Protected routes: read once, identify, execute once.

use crate::{
    App, Error,
    idempotency::{Answer, Command},
    store::NewRecord,
};
use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, request::Parts};
use protocol::{
    fingerprint,
    identity::{self, Credentials, Identity, KeySource},
    policy::Route,
    principal::Principal,
    problem::{Kind, Problem},
    wire::{self, signature},
};
use std::{sync::Arc, time::Duration};

pub(super) async fn answer(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    let (method, path) = (request.method().as_str(), request.uri().path());
    let Some(route) = app.route(method, path).cloned() else {
        return Ok(next.run(request).await);
    };
    let (parts, body) = request.into_parts();
    let source = identity::key(&route, lines(&parts.headers, wire::IDEMPOTENCY_KEY))?;
    let body = read(&route, &parts.headers, body).await?;
    check_digest(&parts.headers, &body)?;
    let principal = principal(&route, &parts.headers)?;
    let identity = identify(&route, &source, &principal, &parts, &body)?;
    check_hint(&parts.headers, &identity);
    let wait = wait(&route, &parts.headers);
    let record = Arc::new(record(&identity, &principal, &parts, body));
    let edge_replay = route.edge_replay;
    let answer = Arc::clone(&app.engine)
        .execute(Command { route, record }, wait)
        .await?;
    let Answer {
        archived,
        replayed,
        remaining,
    } = answer;
    Ok(archived.respond(replayed, remaining.min(edge_replay).as_secs()))
}

/// All values of a header, in their order.
fn lines<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    headers
        .get_all(name)
        .into_iter()
        .map(http::HeaderValue::as_bytes)
}

/// The body, once, into bounded bytes (CASES C51).
async fn read(route: &Route, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let announced = headers.get(http::header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse().ok());
    identity::body_size(route, announced.unwrap_or(0))?;
    let body = http_body_util::Limited::new(body, route.body_max);
    match http_body_util::BodyExt::collect(body).await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            identity::body_size(route, u64::MAX)?;
            Ok(Bytes::new())
        }
        Err(_) => Err(Problem::new(
            Kind::BodyIncomplete,
            "The body ended before its length.",
        )),
    }
}

/// A digest that came along must be that of the bytes that arrived; an edge has signed it.
fn check_digest(headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let Some(digest) = headers.get(signature::CONTENT_DIGEST) else {
        return Ok(());
    };
    if digest.as_bytes() == signature::content_digest(body).as_bytes() {
        return Ok(());
    }
    let error = signature::SignatureError::Mismatch;
    tracing::warn!(%error, "a body that is not the signed one");
    Err(Problem::new(
        Kind::EdgeSignatureInvalid,
        format!("Refused: {error}."),
    ))
}

fn principal(route: &Route, headers: &HeaderMap) -> Result<Principal, Problem> {
    let header = |name: &str| headers.get(name).map(http::HeaderValue::as_bytes);
    match identity::credentials(route, header)? {
        Credentials::Known(principal) => Ok(principal),
        Credentials::Bearer { .. } => Err(Problem::new(
            Kind::CredentialsInvalid,
            "No keys are configured to verify tokens.",
        )),
    }
}

fn identify(
    route: &Route,
    source: &KeySource,
    principal: &Principal,
    parts: &Parts,
    body: &[u8],
) -> Result<Identity, Problem> {
    let content_type = parts.headers.get(http::header::CONTENT_TYPE);
    let selected: Vec<_> = route
        .fingerprint_headers
        .iter()
        .map(|name| {
            (
                name.as_str(),
                parts.headers.get(name).map(http::HeaderValue::as_bytes),
            )
        })
        .collect();
    let command = fingerprint::Command {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query().unwrap_or_default(),
        content_type: content_type.and_then(|value| value.to_str().ok()),
        headers: &selected,
        body,
    };
    identity::identify(route, source, principal, &command)
}

/// The edge's hint is compared and counted, never trusted.
fn check_hint(headers: &HeaderMap, identity: &Identity) {
    let hint = headers
        .get(wire::FINGERPRINT)
        .and_then(|hint| hint.to_str().ok());
    if hint.is_some_and(|hint| hint != identity.fingerprint.to_field()) {
        tracing::error!(scope = %identity.scope.prefix(), "the edge has another fingerprint");
    }
}

fn wait(route: &Route, headers: &HeaderMap) -> Duration {
    let prefer = headers.get("prefer").and_then(|value| value.to_str().ok());
    let seconds = prefer.and_then(wire::prefer_wait_seconds).unwrap_or(0);
    Duration::from_secs(seconds.into()).min(route.wait_max)
}

fn record(identity: &Identity, principal: &Principal, parts: &Parts, body: Bytes) -> NewRecord {
    let content_type = parts.headers.get(http::header::CONTENT_TYPE);
    NewRecord {
        scope: identity.scope,
        fingerprint: identity.fingerprint,
        principal: principal.to_bytes(),
        key_hash: identity.key_hash,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: content_type
            .map(|value| ("content-type".to_owned(), value.as_bytes().to_vec()))
            .into_iter()
            .collect(),
        body: body.into(),
    }
}
