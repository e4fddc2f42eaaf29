//! Each rule that refuses a `policy.toml`, with the line that its author reads.

use protocol::policy::{OPERATIONS, file::parse};

/// Each text follows line 1 `[[route]]`, and has the message.
fn assert_refused(cases: &[(&str, &str)]) {
    for (text, message) in cases {
        let text = format!("[[route]]\n{text}");
        let error = parse(&text, "policy.toml").expect_err(&text);
        assert_eq!(
            error.to_string(),
            format!("policy.toml:{message}"),
            "{text}"
        );
    }
}

/// Each line is the fourth one of a built-in route.
fn assert_refused_on_orders(cases: &[(&str, &str)]) {
    for (line, message) in cases {
        let text = format!("match = 'POST /orders'\noperation = 'orders'\n{line}");
        assert_refused(&[(&text, &format!("4: {message}"))]);
    }
}

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
    assert_refused_on_orders(&[(
        "\"a\\n\\u001b\" = 1",
        "a\\n\\u{1b} is unknown; write one of match, operation, upstream, principal, \
         ignore_credentials, fingerprint, lock_ttl, retention, wait_max, edge_replay, \
         after_retention, tombstones_for, archive, release, upstream_key, on_unknown, \
         status_url, key, derive, scope, body_max, response_max, on_lock_failure",
    )]);
    let cors = "match = 'POST /orders'\noperation = 'orders'\n[cors]\nallow = 1";
    let message = "5: cors.allow is unknown; write one of allow_origins";
    assert_refused(&[(cors, message)]);
    assert_refused_on_orders(&[
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
    ]);
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

#[test]
fn keys() {
    let choice = r#"write key = "required" or "optional" or "derived""#;
    let beside = r#"write key = "derived" beside it"#;
    let example = r#"write derive = ["/merchantReference"]"#;
    assert_refused_on_orders(&[
        ("key = 'always'", &format!("key is \"always\"; {choice}")),
        ("key = ''", &format!("key is empty; {choice}")),
        ("key = true", &format!("key is true or false; {choice}")),
        (
            "key = 'derived'",
            &format!("key is \"derived\", but derive names no field; {example} beside it"),
        ),
        (
            "derive = ['/id']",
            &format!("derive needs key = \"derived\"; {beside}"),
        ),
        (
            "derive = ['/id']\nkey = 'optional'",
            &format!("derive needs key = \"derived\"; {beside}"),
        ),
        (
            "derive = []\nkey = 'derived'",
            &format!("derive is empty; {example}"),
        ),
        ("derive = 'id'", &format!("derive is a text; {example}")),
        ("derive = [1]", &format!("derive is a number; {example}")),
        (
            "derive = ['id']",
            &format!("derive is refused: the JSON pointer `id` must start with `/`; {example}"),
        ),
        (
            "derive = ['/~2']",
            &format!(
                "derive is refused: the JSON pointer `/~2` must write `~` as `~0` and `/` as `~1`; {example}"
            ),
        ),
        (
            "derive = ['/a', '/a']",
            "derive names one thing twice; write derive = each of them once",
        ),
    ]);
}

#[test]
fn an_element_is_refused_at_its_own_line() {
    let list = "derive = [\n'/a',\n'b',\n]";
    let message = "6: derive is refused: the JSON pointer `b` must start with `/`; write derive = [\"/merchantReference\"]";
    assert_refused(&[(
        &format!("match = 'POST /a'\noperation = 'orders'\n{list}"),
        message,
    )]);
}

#[test]
fn principals() {
    let forms =
        r#"write principal = "anonymous", "bearer-jwt", "bearer-jwt:<claim>" or "header:<name>""#;
    let instead = r#"write principal = "header:x-api-key" or "bearer-jwt""#;
    assert_refused_on_orders(&[
        (
            "principal = 'jwt'",
            &format!("principal is \"jwt\"; {forms}"),
        ),
        (
            "principal = 'anonymous:x'",
            &format!("principal is \"anonymous:x\"; {forms}"),
        ),
        (
            "principal = 'header:'",
            &format!("principal names \"\", which is no header; {instead}"),
        ),
        (
            "principal = 'header:a b'",
            &format!("principal names \"a b\", which is no header; {instead}"),
        ),
        (
            "principal = 'header:Authorization'",
            &format!("principal names authorization, which changes between retries; {instead}"),
        ),
        (
            "principal = 'header:cookie'",
            &format!("principal names cookie, which changes between retries; {instead}"),
        ),
        (
            "principal = 'header:Idempotency-Key'",
            &format!("principal names idempotency-key, which is the key itself; {instead}"),
        ),
        (
            "principal = 'header:unavez-x'",
            &format!("principal names unavez-x, which only Unavez's own parts may send; {instead}"),
        ),
        (
            "ignore_credentials = 'yes'",
            "ignore_credentials is a text; write ignore_credentials = true or false",
        ),
        (
            "ignore_credentials = true\nprincipal = 'bearer-jwt'",
            "ignore_credentials has no meaning where credentials tell callers apart; write it only beside principal = \"anonymous\"",
        ),
        (
            "scope = 'global'",
            "scope is \"global\"; write scope = \"principal\" or \"route\"",
        ),
    ]);
}

#[test]
fn fingerprints() {
    let inside = "write fingerprint.exclude = only places inside what is included";
    let headers = r#"write fingerprint.headers = ["accept-language"]"#;
    assert_refused_on_orders(&[
        (
            "fingerprint = []",
            "fingerprint is a list; write a table [fingerprint]",
        ),
        (
            "fingerprint.exclude = ['']",
            "fingerprint.exclude excludes the whole body; write fingerprint.exclude = [\"/sent_at\"]",
        ),
        (
            "fingerprint = { include = ['/a/b'], exclude = ['/a'] }",
            &format!(
                "fingerprint.exclude takes away /a/b, which fingerprint.include names; {inside}"
            ),
        ),
        (
            "fingerprint = { include = ['/a'], exclude = ['/a'] }",
            &format!(
                "fingerprint.exclude takes away /a, which fingerprint.include names; {inside}"
            ),
        ),
        (
            "fingerprint = { include = ['/a'], exclude = ['/b'] }",
            &format!("fingerprint.exclude takes away /b, which is not included anyway; {inside}"),
        ),
        (
            "fingerprint.headers = ['Content-Type']",
            &format!(
                "fingerprint.headers names content-type, which is always part of the fingerprint; {headers}"
            ),
        ),
        (
            "fingerprint.headers = ['host']",
            &format!("fingerprint.headers names host, which belongs to the hop; {headers}"),
        ),
        (
            "fingerprint.headers = ['Date']",
            &format!("fingerprint.headers names date, which changes between retries; {headers}"),
        ),
        (
            "fingerprint.headers = ['X-A', 'x-a']",
            "fingerprint.headers names one thing twice; write fingerprint.headers = each of them once",
        ),
    ]);
}
