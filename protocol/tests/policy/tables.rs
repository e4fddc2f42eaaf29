//! The form of the file: its tables, and names that it does not know.

use crate::{ORDERS, assert_refused, assert_refused_below};
use protocol::policy::file::parse;

#[test]
fn what_is_no_toml() {
    assert_refused(&[
        (
            "match = 'POST /orders",
            "2: invalid literal string, expected `'`; write valid TOML (toml.io)",
        ),
        (
            "key = 'required'\nkey = 'optional'",
            "3: duplicate key; write valid TOML (toml.io)",
        ),
    ]);
}

#[test]
fn a_file_without_routes() {
    let instead = r#"write a [[route]] with match = "POST /orders" and operation = "orders""#;
    let error = parse("[cors]\nallow_origins = []", "other.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("other.toml:1: no route is protected; {instead}")
    );
}

#[test]
fn tables_of_another_form() {
    let cases = [
        (
            "route = 1",
            "policy.toml:1: route is no list of tables; write [[route]]",
        ),
        (
            "route = [1]",
            "policy.toml:1: route is no list of tables; write [[route]]",
        ),
        (
            "[route]",
            "policy.toml:1: route is no list of tables; write [[route]]",
        ),
        (
            "defaults = 1",
            "policy.toml:1: defaults is a number; write a table [defaults]",
        ),
        (
            "\ncors = []",
            "policy.toml:2: cors is a list; write a table [cors]",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text, "policy.toml").unwrap_err().to_string(), message);
    }
}

#[test]
fn unknown_settings() {
    assert_refused_below(
        ORDERS,
        &[(
            "\"a\\n\\u001b\" = 1",
            "a\\n\\u{1b} is unknown; write one of match, operation, upstream, principal, \
         ignore_credentials, fingerprint, lock_ttl, retention, wait_max, edge_replay, \
         after_retention, tombstones_for, archive, release, upstream_key, \
         first_byte_timeout, on_unknown, status_url, key, derive, scope, body_max, response_max, on_lock_failure",
        )],
    );
    let cors = "match = 'POST /orders'\noperation = 'orders'\n[cors]\nallow = 1";
    let message = "5: cors.allow is unknown; write one of allow_origins";
    assert_refused(&[(cors, message)]);
    assert_refused_below(
        ORDERS,
        &[
            ("lock_tll = '1s'", "lock_tll is unknown; write lock_ttl"),
            (
                "fingerprint.exlude = []",
                "fingerprint.exlude is unknown; write fingerprint.exclude",
            ),
            (
                "fingerprint.x = []",
                "fingerprint.x is unknown; write one of include, exclude, headers",
            ),
            ("[default]", "default is unknown; write defaults"),
            (
                "[other]",
                "other is unknown; write one of defaults, route, cors",
            ),
        ],
    );
}

#[test]
fn defaults_that_belong_to_one_route() {
    for name in ["match", "operation", "upstream"] {
        let text = format!("[defaults]\n{name} = 'x'\n[[route]]");
        let error = parse(&text, "policy.toml").unwrap_err().to_string();
        let expected =
            format!("policy.toml:2: {name} can't be a default; write it in each [[route]]");
        assert_eq!(error, expected);
    }
}

#[test]
fn a_default_is_refused_at_its_own_line() {
    let route = "[[route]]\nmatch = 'POST /orders'\noperation = 'orders'";
    let error = parse(&format!("[defaults]\nretention = '0s'\n{route}"), "p").unwrap_err();
    let expected = "p:2: retention is shorter than 1s; write retention = \"1s\" or longer";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn origins_of_browsers() {
    let head = "[[route]]\nmatch = 'POST /orders'\noperation = 'orders'\n[cors]";
    let line = |origins: &str| {
        parse(&format!("{head}\nallow_origins = {origins}"), "p").map_err(|error| error.to_string())
    };
    let policy = line("['https://shop.example', 'http://localhost:5173']").unwrap();
    assert_eq!(policy.cors_allow_origins.len(), 2);
    let example = r#"write cors.allow_origins = ["https://shop.example"] or ["*"]"#;
    for origin in [
        "shop.example",
        "https://shop.example/",
        "https://Shop.example",
        "null",
        "https://",
    ] {
        let message =
            format!("p:5: cors.allow_origins holds {origin:?}, which is no origin; {example}");
        assert_eq!(line(&format!("['{origin}']")), Err(message));
    }
}
