//! What a route matches, and what it runs.

use crate::assert_refused;
use protocol::policy::{OPERATIONS, file::parse};

#[test]
fn matches() {
    let orders = r#"write match = "POST /orders""#;
    assert_refused(&[
        (
            "operation = 'orders'",
            &format!("1: this route has no match; {orders}"),
        ),
        ("match = 1", &format!("2: match is a number; {orders}")),
        (
            "match = '/orders'",
            &format!("2: match is not a method and a path; {orders}"),
        ),
        (
            "match = 'POST orders'",
            &format!("2: match is refused: a path starts with /; {orders}"),
        ),
        (
            "match = 'POST  /orders'",
            &format!("2: match is refused: a path starts with /; {orders}"),
        ),
        (
            "match = 'POST /a{b}'",
            &format!("2: match is refused: a parameter is a whole segment: /{{name}}/; {orders}"),
        ),
        (
            "match = 'PUT /a'",
            "2: match protects PUT, which needs no key; write match = \"POST /a\" or \"PATCH /a\"",
        ),
        (
            "match = 'post /a'",
            "2: match protects post, which needs no key; write match = \"POST /a\" or \"PATCH /a\"",
        ),
    ]);
}

#[test]
fn overlapping_routes() {
    let first = "match = 'POST /a/{x}'\noperation = 'orders'\n[[route]]\n";
    let second = "match = 'POST /a/b'\noperation = 'orders'";
    let instead = "write paths of which no request can match both";
    let message = format!("5: POST /a/b overlaps POST /a/{{x}}; {instead}");
    assert_refused(&[(&format!("{first}{second}"), &message)]);
    let other = second.replace("POST", "PATCH");
    assert!(parse(&format!("[[route]]\n{first}{other}"), "policy.toml").is_ok());
}

#[test]
fn targets() {
    let either = r#"write operation = "orders" or upstream = "http://backend:8080""#;
    let base = r#"upstream is no base URL; write upstream = "http://backend:8080""#;
    assert_refused(&[
        (
            "match = 'POST /a'",
            &format!("1: this route has neither operation nor upstream; {either}"),
        ),
        (
            "match = 'POST /a'\noperation = 'orders'\nupstream = 'http://u'",
            "4: this route has both an operation and an upstream; write only one of them",
        ),
        (
            "match = 'POST /a'\nupstream = 'backend:8080'",
            &format!("3: {base}"),
        ),
        (
            "match = 'POST /a'\nupstream = 'ftp://u'",
            &format!("3: {base}"),
        ),
        (
            "match = 'POST /a'\nupstream = 'http://'",
            &format!("3: {base}"),
        ),
        (
            "match = 'POST /a'\nupstream = 'http://:80'",
            &format!("3: {base}"),
        ),
        (
            "match = 'POST /a'\nupstream = 'http://me:secret@u'",
            &format!("3: {base}"),
        ),
        (
            "match = 'POST /a'\nupstream = 'http://u/?q'",
            &format!("3: {base}"),
        ),
    ]);
}

#[test]
fn operations_that_are_not_built_in() {
    let names = OPERATIONS.map(|name| format!("\"{name}\"")).join(" or ");
    let message =
        format!("3: operation is \"order\", which is not built in; write operation = {names}");
    assert_refused(&[("match = 'POST /a'\noperation = 'order'", &message)]);
}
