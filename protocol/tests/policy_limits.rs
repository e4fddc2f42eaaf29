//! Durations, sizes and statuses of `policy.toml`: just inside and just outside each limit.

use protocol::policy::file::parse;

const ORDERS: &str = "[[route]]\nmatch = 'POST /orders'\noperation = 'orders'";
const UPSTREAM: &str = "[[route]]\nmatch = 'POST /up'\nupstream = 'http://u'";

fn refusal(route: &str, line: &str) -> Option<String> {
    let error = parse(&format!("{route}\n{line}"), "p").err()?;
    assert_eq!(error.line, 4, "{error}");
    Some(format!("{}; write {}", error.wrong, error.instead))
}

fn assert_refused(route: &str, cases: &[(&str, &str)]) {
    for (line, message) in cases {
        assert_eq!(refusal(route, line).as_deref(), Some(*message), "{line}");
    }
}

fn assert_taken(route: &str, lines: &[&str]) {
    for line in lines {
        assert_eq!(refusal(route, line), None, "{line}");
    }
}

#[test]
fn durations() {
    let instead = r#"write lock_ttl = "500ms", "600s", "30m", "24h" or "7d""#;
    for text in [
        "'600'",
        "'1.5h'",
        "'-1s'",
        "'1 s'",
        "'99999999999999999999s'",
        "'1w'",
    ] {
        let message = format!("lock_ttl is no duration; {instead}");
        assert_refused(ORDERS, &[(&format!("lock_ttl = {text}"), &message)]);
    }
    assert_refused(
        ORDERS,
        &[(
            "lock_ttl = 600",
            &format!("lock_ttl is a number; {instead}"),
        )],
    );
}

#[test]
fn lock_ttl_is_one_second_to_one_day() {
    assert_taken(
        ORDERS,
        &["lock_ttl = '1s'", "lock_ttl = '1000ms'", "lock_ttl = '24h'"],
    );
    assert_refused(
        ORDERS,
        &[
            (
                "lock_ttl = '0s'",
                "lock_ttl is shorter than 1s; write lock_ttl = \"1s\" or longer",
            ),
            (
                "lock_ttl = '999ms'",
                "lock_ttl is shorter than 1s; write lock_ttl = \"1s\" or longer",
            ),
            (
                "lock_ttl = '86401s'",
                "lock_ttl is longer than 1d; write lock_ttl = \"1d\" or shorter",
            ),
        ],
    );
}

#[test]
fn retention_is_one_second_to_400_days() {
    assert_taken(ORDERS, &["retention = '1s'", "retention = '400d'"]);
    assert_refused(
        ORDERS,
        &[
            (
                "retention = '0s'",
                "retention is shorter than 1s; write retention = \"1s\" or longer",
            ),
            (
                "retention = '999ms'",
                "retention is shorter than 1s; write retention = \"1s\" or longer",
            ),
            (
                "retention = '401d'",
                "retention is longer than 400d; write retention = \"400d\" or shorter",
            ),
            (
                "after_retention = 'forget'",
                "after_retention is \"forget\"; write after_retention = \"gone\" or \"execute\"",
            ),
        ],
    );
}

#[test]
fn nothing_waits_longer_than_an_operation_may_run() {
    assert_taken(
        ORDERS,
        &["wait_max = '0s'", "wait_max = '600s'", "lock_ttl = '10s'"],
    );
    assert_refused(
        ORDERS,
        &[
            (
                "wait_max = '601s'",
                "wait_max is longer than lock_ttl, which is 10m; write wait_max = \"10m\" or shorter",
            ),
            (
                "wait_max = '11s'\nlock_ttl = '10s'",
                "wait_max is longer than lock_ttl, which is 10s; write wait_max = \"10s\" or shorter",
            ),
        ],
    );
}

#[test]
fn no_edge_replays_longer_than_the_origin() {
    assert_taken(
        ORDERS,
        &[
            "edge_replay = 'off'",
            "edge_replay = '24h'",
            "retention = '2s'",
        ],
    );
    assert_refused(
        ORDERS,
        &[
            (
                "edge_replay = '25h'",
                "edge_replay is longer than retention, which is 1d; write edge_replay = \"1d\" or shorter",
            ),
            (
                "edge_replay = '0s'",
                "edge_replay is shorter than 1s; write edge_replay = \"1s\" or longer",
            ),
        ],
    );
}

#[test]
fn tombstones_outlive_the_answer_and_end_only_where_an_upstream_executes() {
    assert_taken(ORDERS, &["tombstones_for = 'forever'"]);
    assert_taken(
        UPSTREAM,
        &["tombstones_for = 'forever'", "tombstones_for = '24h'"],
    );
    assert_refused(
        ORDERS,
        &[(
            "tombstones_for = '30d'",
            "tombstones_for has an end, and a built-in operation is done once for ever; write tombstones_for = \"forever\"",
        )],
    );
    assert_refused(
        UPSTREAM,
        &[(
            "tombstones_for = '23h'",
            "tombstones_for is shorter than retention, which is 1d; write tombstones_for = \"1d\" or longer",
        )],
    );
}

#[test]
fn sizes_are_one_byte_to_32_mib() {
    for name in ["body_max", "response_max"] {
        for size in ["1", "0x10", "'1B'", "'64KiB'", "'32MiB'", "33554432"] {
            assert_taken(ORDERS, &[&format!("{name} = {size}")]);
        }
        let examples = format!("{name} = \"1MiB\", \"64KiB\" or a number of bytes");
        let cases = [
            ("0", format!("{name} is no byte at all; write {examples}")),
            ("-1", format!("{name} is no size; write {examples}")),
            ("'1MB'", format!("{name} is no size; write {examples}")),
            ("1.0", format!("{name} is a number; write {examples}")),
            (
                "33554433",
                format!("{name} is larger than 32MiB; write {name} = \"32MiB\" or less"),
            ),
            (
                "'1GiB'",
                format!("{name} is larger than 32MiB; write {name} = \"32MiB\" or less"),
            ),
        ];
        for (size, message) in cases {
            assert_refused(ORDERS, &[(&format!("{name} = {size}"), &message)]);
        }
    }
}

#[test]
fn statuses_are_final_ones() {
    assert_taken(
        UPSTREAM,
        &[
            "archive = ['2xx', '5xx', 200, '599', '400-499']",
            "release = ['503 with Retry-After', '4xx with Retry-After']",
            "archive = []",
        ],
    );
    let example = r#"write archive = ["2xx", "400-407", 409, "503 with Retry-After"]"#;
    for status in [
        "199",
        "600",
        "'1xx'",
        "'6xx'",
        "'20x'",
        "'499-400'",
        "'ok'",
        "-200",
        "'200 '",
    ] {
        let text = status.trim_matches('\'');
        let message = format!("archive holds {text}, which is no final status; {example}");
        assert_refused(UPSTREAM, &[(&format!("archive = [{status}]"), &message)]);
    }
}

#[test]
fn settings_of_an_upstream_on_a_built_in_operation() {
    for line in [
        "archive = ['2xx']",
        "release = [429]",
        "on_unknown = 'hold'",
        "upstream_key = 'child'",
    ] {
        let name = line.split(' ').next().unwrap();
        let message = format!(
            "{name} has no meaning for a built-in operation; write it only where the route has an upstream"
        );
        assert_refused(ORDERS, &[(line, &message)]);
    }
}

#[test]
fn unknown_outcomes_are_asked_for_at_a_url() {
    let url = "status_url = 'http://u/{key}'";
    assert_taken(
        UPSTREAM,
        &[
            &format!("{url}\non_unknown = 'ask'"),
            "on_unknown = 'resend'",
        ],
    );
    let example = r#"status_url = "http://backend:8080/operations/{key}""#;
    assert_refused(
        UPSTREAM,
        &[
            (
                "on_unknown = 'guess'",
                "on_unknown is \"guess\"; write on_unknown = \"resend\" or \"ask\" or \"hold\"",
            ),
            (
                "on_unknown = 'ask'",
                &format!(
                    "on_unknown is \"ask\", but there is no status_url; write {example} beside it"
                ),
            ),
            (
                url,
                "status_url needs on_unknown = \"ask\"; write on_unknown = \"ask\" beside it",
            ),
            (
                &format!("{url}\non_unknown = 'hold'"),
                "status_url needs on_unknown = \"ask\"; write on_unknown = \"ask\" beside it",
            ),
            (
                "status_url = 'http://u/'",
                &format!("status_url has no {{key}} to ask for; write {example}"),
            ),
            (
                "status_url = 'http://u/{key}/{id}'",
                &format!("status_url is no URL with {{key}} as its only variable; write {example}"),
            ),
            (
                "status_url = 'u/{key}'",
                &format!("status_url is no URL with {{key}} as its only variable; write {example}"),
            ),
            (
                "upstream_key = 'own'",
                "upstream_key is \"own\"; write upstream_key = \"child\" or \"client\"",
            ),
            (
                "on_lock_failure = 'panic'",
                "on_lock_failure is \"panic\"; write on_lock_failure = \"origin\" or \"refuse\"",
            ),
        ],
    );
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
