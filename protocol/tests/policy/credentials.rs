//! Which credentials a request is judged by (CASES C24).

use protocol::{
    identity::{self, Credentials},
    policy::{Policy, file::parse},
    principal::Principal,
    problem::{Kind, Problem},
};

type Headers<'a> = [(&'a str, &'a str)];

fn policy() -> Policy {
    let route = |path, principal: &str| {
        format!("[[route]]\nmatch = 'POST {path}'\noperation = 'orders'\n{principal}\n")
    };
    let text = [
        route("/open", ""),
        route("/careless", "ignore_credentials = true"),
        route("/bearer", "principal = 'bearer-jwt'"),
        route("/tenant", "principal = 'bearer-jwt:tenant'"),
        route("/key", "principal = 'header:x-api-key'"),
    ];
    parse(&text.concat(), "policy.toml").unwrap()
}

fn value<'a>(headers: &Headers<'a>) -> impl Fn(&str) -> Option<&'a [u8]> {
    move |asked| {
        let found = headers.iter().find(|(name, _)| *name == asked);
        found.map(|(_, value)| value.as_bytes())
    }
}

fn on<'a>(
    policy: &'a Policy,
    path: &str,
    headers: &Headers<'a>,
) -> Result<Credentials<'a>, Problem> {
    identity::credentials(policy.route("POST", path).unwrap(), value(headers))
}

fn status<'a>(
    policy: &'a Policy,
    route: Option<&str>,
    headers: &Headers<'a>,
) -> Result<Credentials<'a>, Problem> {
    let named = route.and_then(|path| policy.route("POST", path));
    identity::status_credentials(named, &policy.routes, value(headers))
}

#[allow(clippy::unnecessary_wraps)] // What it is compared with may be refused.
fn bearer(claim: &str) -> Result<Credentials<'_>, Problem> {
    Ok(Credentials::Bearer { token: "t", claim })
}

const ANONYMOUS: Result<Credentials<'_>, Problem> = Ok(Credentials::Known(Principal::Anonymous));
const TOKEN: &Headers<'_> = &[("authorization", "Bearer t")];
const KEY: &Headers<'_> = &[("x-api-key", "k")];

fn api_key() -> Principal {
    Principal::from_header("x-api-key", b"k")
}

#[test]
fn each_route_looks_at_its_own_credentials() {
    let policy = policy();
    assert_eq!(on(&policy, "/open", &[]), ANONYMOUS);
    assert_eq!(on(&policy, "/open", KEY), ANONYMOUS);
    assert_eq!(on(&policy, "/careless", TOKEN), ANONYMOUS);
    assert_eq!(on(&policy, "/bearer", TOKEN), bearer("sub"));
    assert_eq!(on(&policy, "/tenant", TOKEN), bearer("tenant"));
    assert_eq!(on(&policy, "/key", KEY), Ok(Credentials::Known(api_key())));
}

#[test]
fn credentials_on_an_anonymous_route_are_refused() {
    let policy = policy();
    for value in ["Bearer t", "Basic x", ""] {
        let problem = on(&policy, "/open", &[("authorization", value)]).unwrap_err();
        assert_eq!(
            (problem.kind, problem.status()),
            (Kind::CredentialsUnexpected, 403)
        );
    }
}

#[test]
fn absent_and_malformed_credentials_are_refused() {
    let policy = policy();
    for value in ["", "Bearer", "Bearer ", "Basic t", "t"] {
        let problem = on(&policy, "/bearer", &[("authorization", value)]).unwrap_err();
        assert_eq!(
            (problem.kind, problem.status()),
            (Kind::CredentialsInvalid, 401),
            "{value}"
        );
    }
    for (path, headers) in [
        ("/bearer", KEY),
        ("/key", TOKEN),
        ("/key", &[("x-api-key", "")]),
    ] {
        assert_eq!(
            on(&policy, path, headers).unwrap_err().kind,
            Kind::CredentialsInvalid
        );
    }
}

#[test]
fn the_scheme_is_read_in_any_case() {
    let policy = policy();
    for value in ["bearer t", "BEARER  t", " Bearer t "] {
        assert_eq!(
            on(&policy, "/bearer", &[("authorization", value)]),
            bearer("sub")
        );
    }
}

#[test]
fn a_question_without_a_route_is_judged_by_what_was_sent() {
    let policy = policy();
    assert_eq!(status(&policy, None, &[]), ANONYMOUS);
    assert_eq!(status(&policy, None, TOKEN), bearer("sub"));
    assert_eq!(
        status(&policy, None, KEY),
        Ok(Credentials::Known(api_key()))
    );
    let malformed = status(&policy, None, &[("authorization", "Basic x")]).unwrap_err();
    assert_eq!(malformed.kind, Kind::CredentialsInvalid);
}

#[test]
fn a_question_is_judged_by_the_route_it_names_and_never_403() {
    let policy = policy();
    assert_eq!(status(&policy, Some("/open"), TOKEN), ANONYMOUS);
    assert_eq!(status(&policy, Some("/tenant"), TOKEN), bearer("tenant"));
    assert_eq!(
        status(&policy, Some("/bearer"), KEY).unwrap_err().status(),
        401
    );
    let orders = "[[route]]\nmatch = 'POST /orders'\noperation = 'orders'";
    let anonymous = parse(orders, "policy.toml").unwrap();
    assert_eq!(status(&anonymous, None, TOKEN), ANONYMOUS);
}
