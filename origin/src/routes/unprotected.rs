//! Requests without a key where policy makes it optional: done, not protected, and marked so.

use super::protected;
use crate::{App, Error, idempotency::Answer};
use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::HeaderValue;
use protocol::{
    identity::KeySource,
    key::Key,
    policy::{Route, Target},
    wire,
};
use std::{sync::Arc, time::Duration};

/// Answers a request that brings no key: each time is a first time.
pub(super) async fn answer(app: &App, route: &Arc<Route>, request: Request) -> Response {
    let answer = match &route.target {
        Target::Upstream(upstream) => pass(app, route, upstream, request).await,
        Target::Operation(_) => run(app, route, request).await,
    };
    app.metrics.answered(&route.name(), "unprotected");
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    let marked = HeaderValue::from_static("unprotected");
    response.headers_mut().insert(wire::STATUS, marked);
    response
}

/// Sends it on, as any proxy would.
async fn pass(
    app: &App,
    route: &Route,
    upstream: &str,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let body = protected::read(route, &parts.headers, body).await?;
    protected::principal(app, route, &parts.headers).await?;
    Ok(app.gateway.pass(upstream, route, &parts, body).await?)
}

/// A built-in operation needs a name even so, to end well when its process dies: one that nobody
/// knows, and that is forgotten with the answer.
async fn run(app: &App, route: &Arc<Route>, request: Request) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let key = Key::new(uuid::Uuid::new_v4().to_string().into_bytes());
    let source = key.map_or(KeySource::Unprotected, KeySource::Sent);
    let command = protected::command(app, route, &source, parts, body).await?;
    let scope = command.record.scope;
    let engine = Arc::clone(&app.engine);
    let answer = engine.execute(command, Duration::ZERO).await;
    if let Err(error) = app.engine.store.forget(&scope).await {
        tracing::warn!(scope = %scope.prefix(), %error, "an unprotected operation is kept");
    }
    let Answer {
        archived, aside, ..
    } = answer?;
    let answer = Answer {
        archived,
        aside,
        replayed: false,
        remaining: Duration::ZERO,
    };
    let mut response = answer.respond(Duration::ZERO);
    for name in [wire::REPLAYED, wire::EXPIRES] {
        response.headers_mut().remove(name);
    }
    Ok(response)
}
