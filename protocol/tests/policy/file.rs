//! What `policy.toml` may say, and what becomes of it.

use crate::{ORDERS, UPSTREAM};
use protocol::{
    canonical::Pointer,
    policy::{
        KeyRule, OnLockFailure, OnUnknown, Policy, PrincipalRule, Route, ScopeRule, Target,
        UpstreamKey, file::parse,
    },
    record::AfterRetention,
};
use std::time::Duration;

fn policy(text: &str) -> Policy {
    parse(text, "policy.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn route(text: &str) -> Route {
    let mut routes = policy(text).routes;
    assert_eq!(routes.len(), 1);
    routes.remove(0)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn selection(route: &Route) -> serde_json::Value {
    serde_json::to_value(&route.selection).unwrap()
}

#[test]
fn a_route_has_the_defaults_of_the_contract() {
    let route = route("[[route]]\nmatch = 'POST /orders'\noperation = 'orders'");
    assert_eq!(route.name(), "POST /orders");
    assert_eq!(route.target, Target::Operation("orders".into()));
    assert_eq!(route.key, KeyRule::Required);
    assert_eq!(route.principal, PrincipalRule::Anonymous);
    assert_eq!(route.scope, ScopeRule::Principal);
    assert_eq!(route.lock_ttl, seconds(600));
    assert_eq!(route.wait_max, seconds(30));
    assert_eq!(route.retention, seconds(86_400));
    assert_eq!(route.after_retention, AfterRetention::Gone);
    assert_eq!(route.tombstones_for, None);
    assert_eq!((route.body_max, route.response_max), (1 << 20, 1 << 20));
    assert_eq!(route.on_unknown, OnUnknown::Hold);
    assert_eq!(route.upstream_key, UpstreamKey::Child);
    assert_eq!(route.edge_replay, seconds(60));
    assert_eq!(route.on_lock_failure, OnLockFailure::Origin);
    assert!(!route.ignore_credentials);
}

#[test]
fn a_route_says_everything_itself() {
    let route = route(
        r#"
        [[route]]
        match = "PATCH /carts/{id}"
        upstream = "https://backend:8443/v1/"
        key = "derived"
        derive = ["/merchantReference", "/a~1b"]
        principal = "header:X-Api-Key"
        scope = "route"
        fingerprint.include = ["/order"]
        fingerprint.exclude = ["/order/sent_at"]
        fingerprint.headers = ["Accept-Language"]
        lock_ttl = "30m"
        retention = "7d"
        after_retention = "execute"
        tombstones_for = "30d"
        wait_max = "500ms"
        body_max = "64KiB"
        response_max = 1000
        archive = ["2xx", 404]
        release = ["500-503", "429 with Retry-After"]
        on_unknown = "ask"
        status_url = "https://backend:8443/operations/{key}"
        upstream_key = "client"
        first_byte_timeout = "5s"
        edge_replay = "off"
        on_lock_failure = "refuse"
        "#,
    );
    assert_eq!(route.name(), "PATCH /carts/{id}");
    assert_eq!(
        route.target,
        Target::Upstream("https://backend:8443/v1".into())
    );
    let KeyRule::Derived(fields) = &route.key else {
        panic!("{:?}", route.key)
    };
    let fields: Vec<_> = fields.iter().map(Pointer::as_str).collect();
    assert_eq!(fields, ["/merchantReference", "/a~1b"]);
    assert_eq!(route.principal, PrincipalRule::Header("x-api-key".into()));
    assert_eq!(route.scope, ScopeRule::Route);
    let lists = serde_json::json!({"include": ["/order"], "exclude": ["/order/sent_at"]});
    assert_eq!(selection(&route), lists);
    assert_eq!(route.fingerprint_headers, ["accept-language"]);
    assert_eq!(
        (route.lock_ttl, route.retention),
        (seconds(1800), seconds(7 * 86_400))
    );
    assert_eq!(route.after_retention, AfterRetention::Execute);
    assert_eq!(route.tombstones_for, Some(seconds(30 * 86_400)));
    assert_eq!(
        (route.wait_max, route.edge_replay),
        (Duration::from_millis(500), Duration::ZERO)
    );
    assert_eq!((route.body_max, route.response_max), (65_536, 1000));
    assert_eq!(
        (route.on_unknown, route.upstream_key),
        (OnUnknown::Ask, UpstreamKey::Client)
    );
    assert_eq!(route.first_byte_timeout, seconds(5));
    let status_url = "https://backend:8443/operations/{key}";
    assert_eq!(route.status_url.as_deref(), Some(status_url));
    assert_eq!(route.on_lock_failure, OnLockFailure::Refuse);
    let archived = |status| {
        route
            .archive
            .iter()
            .any(|range| range.includes(status, false))
    };
    assert!(archived(200) && archived(299) && archived(404) && !archived(300));
    let released = |status, retry| route.release.iter().any(|it| it.includes(status, retry));
    assert!(released(500, false) && released(503, false) && !released(504, true));
    assert!(released(429, true) && !released(429, false));
}

#[test]
fn bearer_names_its_claim_or_takes_sub() {
    for (text, claim) in [("bearer-jwt", "sub"), ("bearer-jwt:tenant", "tenant")] {
        let text = format!("[defaults]\nprincipal = '{text}'\n{ORDERS}");
        let claim = claim.to_owned();
        assert_eq!(route(&text).principal, PrincipalRule::BearerJwt { claim });
    }
}

#[test]
fn defaults_hold_where_a_route_says_nothing_and_where_they_fit() {
    let defaults = "
        [defaults]
        lock_ttl = '20s'
        archive = ['2xx']
        key = 'derived'
        derive = ['/id']
        tombstones_for = '2d'
        fingerprint.exclude = ['/sent_at']
        fingerprint.headers = ['x-a']
    ";
    let own = "key = 'optional'\nlock_ttl = '10s'\nfingerprint.headers = ['x-b']\n";
    let policy = policy(&format!("{defaults}\n{ORDERS}{own}{UPSTREAM}"));
    let [orders, upstream] = policy.routes.as_slice() else {
        panic!("{policy:?}")
    };
    assert_eq!(
        (orders.lock_ttl, upstream.lock_ttl),
        (seconds(10), seconds(20))
    );
    assert_eq!(
        (orders.wait_max, upstream.wait_max),
        (seconds(10), seconds(20))
    );
    assert_eq!(orders.key, KeyRule::Optional);
    assert!(matches!(&upstream.key, KeyRule::Derived(fields) if fields.len() == 1));
    assert_eq!(
        (orders.tombstones_for, upstream.tombstones_for),
        (None, Some(seconds(172_800)))
    );
    assert_eq!(upstream.archive.len(), 1);
    let lists = serde_json::json!({"include": [], "exclude": ["/sent_at"]});
    assert_eq!(selection(orders), lists);
    assert_eq!(selection(upstream), lists);
    assert_eq!(
        (&*orders.fingerprint_headers, &*upstream.fingerprint_headers),
        (&["x-b".to_owned()][..], &["x-a".to_owned()][..])
    );
}

#[test]
fn an_upstream_is_judged_by_the_statuses_of_the_contract() {
    let route = route(UPSTREAM);
    let archived = |status| {
        route
            .archive
            .iter()
            .any(|range| range.includes(status, true))
    };
    let released = |status, retry| route.release.iter().any(|it| it.includes(status, retry));
    for status in [200, 299, 301, 399, 400, 404, 409, 422, 499] {
        assert!(archived(status) && !released(status, true), "{status}");
    }
    for status in [408, 500, 502, 504, 599] {
        assert!(!archived(status) && !released(status, true), "{status}");
    }
    assert!(released(425, false) && released(429, false));
    assert!(released(503, true) && !released(503, false));
    assert!(!archived(425) && !archived(429) && !archived(503));
}

#[test]
fn the_policy_survives_its_way_to_the_edge() {
    let text = include_str!("../../../policy.toml");
    let policy = policy(&format!("{text}\n{UPSTREAM}fingerprint.exclude = ['/a']"));
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy);
}

#[test]
fn the_file_at_the_root_protects_orders() {
    let policy = policy(include_str!("../../../policy.toml"));
    let orders = policy.route("POST", "/orders").expect("a route");
    assert_eq!(orders.target, Target::Operation("orders".into()));
    assert_eq!(policy.cors_allow_origins, ["*"]);
    assert_eq!(policy.route("GET", "/orders"), None);
}

#[test]
fn every_setting_that_the_file_at_the_root_explains_has_the_value_it_shows() {
    let text = include_str!("../../../policy.toml");
    let shown = text
        .replace("# scope", "scope")
        .replace("# lock_ttl", "lock_ttl");
    let shown = [
        "wait_max",
        "retention",
        "after_retention",
        "body_max",
        "response_max",
        "key =",
        "edge_replay",
        "on_lock_failure",
        "fingerprint.",
        "principal",
        "ignore_credentials",
    ]
    .iter()
    .fold(shown, |text, name| text.replace(&format!("# {name}"), name));
    assert_eq!(policy(&shown), policy(text));
    let upstream = shown
        .replace("# [[route]]", "[[route]]")
        .replace("# match", "match");
    let upstream = [
        "archive",
        "release",
        "upstream",
        "on_unknown",
        "upstream_key",
        "first_byte_timeout",
        "tombstones_for",
    ]
    .iter()
    .fold(upstream, |text, name| {
        text.replace(&format!("# {name}"), name)
    });
    let shown = policy(&upstream).routes.pop().unwrap();
    let plain =
        "[[route]]\nmatch = 'POST /carts/{id}/checkout'\nupstream = 'http://127.0.0.1:3000'";
    let plain = policy(plain).routes.pop().unwrap();
    let statuses = |route: &Route| {
        let includes = |list: &[protocol::policy::StatusRange], status, retry| {
            list.iter().any(|range| range.includes(status, retry))
        };
        let both = |status| {
            [false, true].map(|retry| {
                (
                    includes(&route.archive, status, retry),
                    includes(&route.release, status, retry),
                )
            })
        };
        (200..600).map(both).collect::<Vec<_>>()
    };
    assert_eq!(statuses(&shown), statuses(&plain));
    let rest = |route: Route| Route {
        archive: Vec::new(),
        release: Vec::new(),
        ..route
    };
    assert_eq!(rest(shown), rest(plain));
}
