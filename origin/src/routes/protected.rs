//! Protected routes: read once, identify, execute once.

use super::unprotected;
use crate::{
    App, Error,
    idempotency::{Answer, Command},
    operations::gateway::{self, Head},
    store::NewRecord,
};
use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, request::Parts};
use protocol::{
    fingerprint,
    identity::{self, Identity, KeySource},
    policy::{Route, Target},
    principal::Principal,
    problem::{Kind, Problem},
    wire::{self, signature},
};
use sha2::{Digest as _, Sha256};
use std::{sync::Arc, time::Duration};

/// Answers the requests of protected routes; passes on the rest.
pub(super) async fn answer(State(app): State<App>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().as_str(), request.uri().path());
    let Some(route) = app.route(method, path).cloned() else {
        return next.run(request).await;
    };
    if is_keyless(&route, request.headers()) {
        return unprotected::answer(&app, &route, request).await;
    }
    let wait = wait(&route, request.headers());
    let answer = once(&app, &route, request, wait).await;
    fail::fail_point!("before-answer", |_| std::process::abort());
    app.metrics.answered(&route.name(), outcome(&answer));
    // A refusal by the checks has waited for nothing.
    let waits = matches!(answer, Ok(_) | Err(Error::Refused(_))) && !wait.is_zero();
    let mut response = match answer {
        Ok(answer) => answer.respond(route.edge_replay),
        Err(error) => error.into_response(),
    };
    if waits && let Ok(applied) = HeaderValue::from_str(&format!("wait={}", wait.as_secs())) {
        let headers = response.headers_mut();
        headers.insert(wire::PREFERENCE_APPLIED, applied);
    }
    response
}

/// The checks in their one order, then the engine.
async fn once(
    app: &App,
    route: &Arc<Route>,
    request: Request,
    wait: Duration,
) -> Result<Answer, Error> {
    let (parts, body) = request.into_parts();
    let source = identity::key(route, lines(&parts.headers, wire::IDEMPOTENCY_KEY))?;
    let command = command(app, route, &source, parts, body).await?;
    Ok(Arc::clone(&app.engine).execute(command, wait).await?)
}

/// What this request wants done, under the names that its key gives it.
pub(super) async fn command(
    app: &App,
    route: &Arc<Route>,
    source: &KeySource,
    parts: Parts,
    body: Body,
) -> Result<Command, Error> {
    let body = read(route, &parts.headers, body).await?;
    if app.edge_keys.is_some() {
        check_digest(app, &parts.headers, &body)?;
    }
    let principal = principal(app, route, &parts.headers).await?;
    let identity = identify(route, source, &principal, &parts, &body)?;
    check_hint(app, &parts.headers, &identity);
    let head = head(route, source, &parts);
    let mut record = record(&identity, &principal, &parts, body);
    let sealed = app.gateway.stored(route, &identity.scope, &head);
    record.headers.extend(sealed.map(gateway::sealed_line));
    Ok(Command {
        route: Arc::clone(route),
        record: Arc::new(record),
        head: Some(Arc::new(head)),
    })
}

/// Whether policy lets this request go without a key, and it has none.
pub(super) fn is_keyless(route: &Route, headers: &HeaderMap) -> bool {
    let source = identity::key(route, lines(headers, wire::IDEMPOTENCY_KEY));
    source == Ok(KeySource::Unprotected)
}

/// What an upstream gets of the request's head.
fn head(route: &Route, source: &KeySource, parts: &Parts) -> Head {
    match (&route.target, source) {
        (Target::Operation(_), _) => Head::default(),
        (Target::Upstream(_), KeySource::Sent(key)) => Head::of(route, parts, Some(key)),
        (Target::Upstream(_), _) => Head::of(route, parts, None),
    }
}

fn outcome(answer: &Result<Answer, Error>) -> &'static str {
    match answer {
        Ok(answer) if answer.replayed => "replayed",
        Ok(_) => "first",
        Err(error) => error.word(),
    }
}

/// All values of a header, in their order.
fn lines<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    headers.get_all(name).into_iter().map(HeaderValue::as_bytes)
}

/// The body, once, into bounded bytes (CASES C51).
pub(super) async fn read(route: &Route, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
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

/// The digest that an edge has signed must be that of the bytes that arrived.
fn check_digest(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let Some(digest) = headers.get(signature::CONTENT_DIGEST) else {
        return Ok(());
    };
    let arrived = signature::content_digest(&Sha256::digest(body).into());
    if digest.as_bytes() == arrived.as_bytes() {
        return Ok(());
    }
    let error = signature::SignatureError::Mismatch;
    tracing::warn!(%error, "a body that is not the signed one");
    app.metrics.signature_refused("body");
    Err(Problem::new(
        Kind::EdgeSignatureInvalid,
        format!("Refused: {error}."),
    ))
}

pub(super) async fn principal(
    app: &App,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Principal, Problem> {
    let header = |name: &str| super::credential(headers, name);
    app.principal(identity::credentials(route, header)?).await
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
                parts.headers.get(name).map(HeaderValue::as_bytes),
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
fn check_hint(app: &App, headers: &HeaderMap, identity: &Identity) {
    let hint = headers
        .get(wire::FINGERPRINT)
        .and_then(|hint| hint.to_str().ok());
    if hint.is_some_and(|hint| hint != identity.fingerprint.to_field()) {
        tracing::error!(scope = %identity.scope.prefix(), "the edge has another fingerprint");
        app.metrics.hint_wrong();
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
