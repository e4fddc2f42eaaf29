//! Durations and sizes: just inside and just outside each limit.

use crate::{ORDERS, UPSTREAM, assert_refused_below, assert_taken_below};

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
        assert_refused_below(ORDERS, &[(&format!("lock_ttl = {text}"), &message)]);
    }
    assert_refused_below(
        ORDERS,
        &[(
            "lock_ttl = 600",
            &format!("lock_ttl is a number; {instead}"),
        )],
    );
}

#[test]
fn lock_ttl_is_one_second_to_one_day() {
    assert_taken_below(
        ORDERS,
        &["lock_ttl = '1s'", "lock_ttl = '1000ms'", "lock_ttl = '24h'"],
    );
    assert_refused_below(
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
    assert_taken_below(ORDERS, &["retention = '1s'", "retention = '400d'"]);
    assert_refused_below(
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
    assert_taken_below(
        ORDERS,
        &["wait_max = '0s'", "wait_max = '600s'", "lock_ttl = '10s'"],
    );
    assert_refused_below(
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
    assert_taken_below(
        ORDERS,
        &[
            "edge_replay = 'off'",
            "edge_replay = '24h'",
            "retention = '2s'",
        ],
    );
    assert_refused_below(
        ORDERS,
        &[
            (
                "edge_replay = '25h'",
                "edge_replay is longer than retention, which is 1d; write edge_replay = \"1d\" or shorter",
            ),
            (
                "edge_replay = '0s'",
                "edge_replay is shorter than 1s; write edge_replay = \"off\" or \"1s\" or longer",
            ),
        ],
    );
}

#[test]
fn tombstones_outlive_the_answer_and_end_only_where_an_upstream_executes() {
    assert_taken_below(ORDERS, &["tombstones_for = 'forever'"]);
    assert_taken_below(
        UPSTREAM,
        &["tombstones_for = 'forever'", "tombstones_for = '24h'"],
    );
    assert_refused_below(
        ORDERS,
        &[(
            "tombstones_for = '30d'",
            "tombstones_for has an end, and a built-in operation is done once for ever; write tombstones_for = \"forever\"",
        )],
    );
    assert_refused_below(
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
            assert_taken_below(ORDERS, &[&format!("{name} = {size}")]);
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
            assert_refused_below(ORDERS, &[(&format!("{name} = {size}"), &message)]);
        }
    }
}
