//! `/.well-known/idempotency`: the policy, for programs. Where an upstream is stays ours.

use crate::App;
use axum::{Json, extract::State};
use protocol::{
    canonical::Selection,
    key::KEY_BYTES_MAX,
    policy::{KeyRule, PrincipalRule, Route, ScopeRule},
    record::AfterRetention,
};
use serde::Serialize;
use std::time::Duration;

/// All of it.
#[derive(Serialize)]
pub(super) struct Discovery {
    header: &'static str,
    key: KeySyntax,
    wait: &'static str,
    status: &'static str,
    policy: &'static str,
    openapi: &'static str,
    problems: &'static str,
    routes: Vec<Protection>,
}

#[derive(Serialize)]
struct KeySyntax {
    forms: [&'static str; 2],
    characters: &'static str,
    bytes_min: usize,
    bytes_max: usize,
    case_sensitive: bool,
}

/// One route; durations in seconds, sizes in bytes.
#[derive(Serialize)]
struct Protection {
    #[serde(rename = "match")]
    matched: String,
    key: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derive: Vec<String>,
    principal: String,
    scope: ScopeRule,
    fingerprint: Fingerprint,
    retention: f64,
    after_retention: AfterRetention,
    /// Null is for ever.
    tombstones_for: Option<f64>,
    wait_max: f64,
    lock_ttl: f64,
    body_max: usize,
    response_max: usize,
}

#[derive(Serialize)]
struct Fingerprint {
    #[serde(flatten)]
    selection: Selection,
    headers: Vec<String>,
}

pub(super) async fn show(State(app): State<App>) -> Json<Discovery> {
    Json(Discovery {
        header: "Idempotency-Key",
        key: KeySyntax {
            forms: ["bare, without a comma", "a string of RFC 8941"],
            characters: "visible ASCII",
            bytes_min: 1,
            bytes_max: KEY_BYTES_MAX,
            case_sensitive: true,
        },
        wait: "Prefer: wait=<seconds>",
        status: "/idempotency/status",
        policy: "/idempotency",
        openapi: "/openapi.json",
        problems: "/problems/{slug}",
        routes: app.routes.iter().map(|route| protection(route)).collect(),
    })
}

fn protection(route: &Route) -> Protection {
    let (key, derive) = match &route.key {
        KeyRule::Required => ("required", Vec::new()),
        KeyRule::Optional => ("optional", Vec::new()),
        KeyRule::Derived(fields) => {
            let fields = fields.iter().map(|field| field.as_str().to_owned());
            ("derived", fields.collect())
        }
    };
    let seconds = |duration: Duration| duration.as_secs_f64();
    Protection {
        matched: route.name(),
        key,
        derive,
        principal: principal(&route.principal),
        scope: route.scope,
        fingerprint: Fingerprint {
            selection: route.selection.clone(),
            headers: route.fingerprint_headers.clone(),
        },
        retention: seconds(route.retention),
        after_retention: route.after_retention,
        tombstones_for: route.tombstones_for.map(seconds),
        wait_max: seconds(route.wait_max),
        lock_ttl: seconds(route.lock_ttl),
        body_max: route.body_max,
        response_max: route.response_max,
    }
}

/// As policy.toml writes it.
fn principal(rule: &PrincipalRule) -> String {
    match rule {
        PrincipalRule::Anonymous => "anonymous".to_owned(),
        PrincipalRule::BearerJwt { claim } => format!("bearer-jwt:{claim}"),
        PrincipalRule::Header(name) => format!("header:{name}"),
    }
}
