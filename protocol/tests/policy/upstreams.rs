//! What an upstream's answers mean, and what follows where there is none.

use crate::{ORDERS, UPSTREAM, assert_refused_below, assert_taken_below};

#[test]
fn statuses_are_final_ones() {
    assert_taken_below(
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
        assert_refused_below(UPSTREAM, &[(&format!("archive = [{status}]"), &message)]);
    }
}

#[test]
fn settings_of_an_upstream_on_a_built_in_operation() {
    for line in [
        "archive = ['2xx']",
        "release = [429]",
        "on_unknown = 'hold'",
        "upstream_key = 'child'",
        "first_byte_timeout = '1s'",
    ] {
        let name = line.split(' ').next().unwrap();
        let message = format!(
            "{name} has no meaning for a built-in operation; write it only where the route has an upstream"
        );
        assert_refused_below(ORDERS, &[(line, &message)]);
    }
}

#[test]
fn unknown_outcomes_are_asked_for_at_a_url() {
    let url = "status_url = 'http://u/{key}'";
    assert_taken_below(
        UPSTREAM,
        &[
            &format!("{url}\non_unknown = 'ask'"),
            "on_unknown = 'resend'",
        ],
    );
    let example = r#"status_url = "http://backend:8080/operations/{key}""#;
    assert_refused_below(
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
