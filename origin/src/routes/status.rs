//! `GET /idempotency/status`: what became of a key (DESIGN section 11).

use crate::{App, Error};
use axum::{
    Json,
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use http::HeaderMap;
use protocol::{
    identity,
    key::Key,
    policy::{Route, ScopeRule},
    problem::{Kind, Problem},
    record::{Outcome, Record},
    scope::{KeyKind, Scope},
    wire,
};
use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;

#[derive(Deserialize)]
pub(super) struct Asked {
    route: Option<String>,
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    attempts: i32,
    first_seen: String,
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    needs_operator: bool,
}

pub(super) async fn show(
    State(app): State<App>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let key = headers
        .get_all(wire::IDEMPOTENCY_KEY)
        .into_iter()
        .map(http::HeaderValue::as_bytes);
    let key = Key::parse(key)
        .map_err(|error| Problem::new(Kind::KeyMalformed, format!("Refused: {error}.")))?
        .ok_or_else(|| Problem::new(Kind::KeyMissing, "Send the Idempotency-Key to ask about."))?;
    let scope = scope(&app, asked.route.as_deref(), &key, &headers).await?;
    let stored = app.engine.store.find(&scope, None).await?;
    let unknown = || {
        Problem::new(
            Kind::RecordUnknown,
            "No operation is recorded under this key.",
        )
    };
    let stored = stored.ok_or_else(unknown)?;
    let (state, needs_operator) = match &stored.record {
        _ if stored.is_forgotten() => return Err(unknown().into()),
        Record::Released(_) => return Err(unknown().into()),
        Record::Pending(pending) => ("pending", pending.needs_operator),
        Record::Finished(_) if stored.expires.is_some_and(|e| stored.now >= e) => {
            ("expired", false)
        }
        Record::Finished(finished) if finished.outcome == Outcome::Failed => ("failed", false),
        Record::Finished(_) => ("succeeded", false),
    };
    let text = |time: time::OffsetDateTime| time.format(&Rfc3339).unwrap_or_default();
    let status = Status {
        state,
        attempts: stored.attempts,
        first_seen: text(stored.first_seen),
        expires: stored.expires.map(text),
        location: stored.location,
        needs_operator,
    };
    Ok(([("cache-control", "no-store")], Json(status)).into_response())
}

/// The record that is asked about: its principal is judged as on the route, or by what is sent.
async fn scope(
    app: &App,
    route: Option<&str>,
    key: &Key,
    headers: &HeaderMap,
) -> Result<Scope, Error> {
    let header = |name: &str| super::credential(headers, name);
    let named = route.map(|name| find(app, name)).transpose()?;
    let all = app.routes.iter().map(|route| &**route);
    let credentials = identity::status_credentials(named, all, header)?;
    let principal = app.principal(credentials).await?;
    let by_route = named.filter(|route| route.scope == ScopeRule::Route);
    let name = by_route.map(Route::name);
    Ok(Scope::new(&principal, KeyKind::Sent, key, name.as_deref()))
}

fn find<'a>(app: &'a App, name: &str) -> Result<&'a Route, Problem> {
    let route = app.routes.iter().find(|route| route.name() == name);
    let unknown = || Problem::new(Kind::NotFound, "The policy has no such route.");
    route.map(|route| &**route).ok_or_else(unknown)
}
