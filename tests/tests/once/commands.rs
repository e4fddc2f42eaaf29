//! Which two bodies are one command, through the edge (CASES group A).
//!
//! Each value stands in the metadata of an order, which may be any JSON object.

use tests::{
    client::{Client, ORDER, fresh_key},
    world::World,
};

/// An order with this value in its metadata.
fn order(value: &str) -> String {
    ORDER.replacen('{', &format!(r#"{{"metadata":{{"v":{value}}},"#), 1)
}

/// Two spellings of one value, and the canonical one.
const SAME: [(&str, &str, &str, &str); 17] = [
    (
        "C01",
        "0.9999999999999999",
        "0.99999999999999990",
        "0.9999999999999999",
    ),
    (
        "C01",
        "122.416294033786585",
        "1.22416294033786585e2",
        "122.416294033786585",
    ),
    (
        "C03",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740993",
    ),
    ("C04", "1", "10e-1", "1"),
    ("C04", "1E30", "1e+30", "1e+30"),
    (
        "C04",
        "1e20",
        "100000000000000000000",
        "100000000000000000000",
    ),
    ("C04", "0.0000001", "1e-7", "1e-7"),
    (
        "C04",
        "295147905179352825856",
        "295147905179352825856.0",
        "295147905179352825856",
    ),
    ("C04", "1e400", "10e399", "1e+400"),
    ("C04", "-0", "0.0e5", "0"),
    (
        "C06",
        r#"{"a":1,"A":2}"#,
        r#"{"A":2,"a":1}"#,
        r#"{"A":2,"a":1}"#,
    ),
    (
        "C06",
        r#"{"\ufb33":1,"\ud83d\ude00":2}"#,
        "{\"😀\":2,\"\u{fb33}\":1}",
        "{\"😀\":2,\"\u{fb33}\":1}",
    ),
    (
        "C06",
        r#"{"":1,"a":2,"A":3,"10":4,"1":5,"\u0000":6}"#,
        r#"{"\u0000":6,"1":5,"10":4,"A":3,"a":2,"":1}"#,
        r#"{"":1,"\u0000":6,"1":5,"10":4,"A":3,"a":2}"#,
    ),
    ("C10", "[1,2]", " [ 1 ,\r\n\t2 ] ", "[1,2]"),
    ("C11", r#""\u002f\u003c>""#, r#""\/<\u003E""#, r#""/<>""#),
    (
        "C11",
        r#""\u0000\u0008\u0009\u000A\u000b\u000C\u000d\u001F""#,
        r#""\u0000\b\t\n\u000B\f\r\u001f""#,
        r#""\u0000\b\t\n\u000b\f\r\u001f""#,
    ),
    (
        "C12",
        r#"{"__proto__":{"x":1},"b":2}"#,
        r#"{"b":2,"__proto__":{"x":1}}"#,
        r#"{"__proto__":{"x":1},"b":2}"#,
    ),
];

/// Two values that a careless reader takes for one.
const DIFFERENT: [(&str, &str, &str); 14] = [
    ("C01", "0.9999999999999999", "1"),
    ("C01", "122.416294033786585", "122.41629403378658"),
    ("C03", "9007199254740993", "9007199254740992"),
    ("C03", "18446744073709551615", "18446744073709551616"),
    ("C03", "-9223372036854775809", "-9223372036854775808"),
    ("C03", "10000000000000000999", "10000000000000000000"),
    ("C04", "1e400", "null"),
    ("C04", "1e-400", "0"),
    ("C11", r#""\u00e9""#, r#""e\u0301""#),
    ("C12", r#"{"a":"1","b":"2"}"#, r#"{"a":"1\"\u0000b:\"2"}"#),
    ("C12", "null", "{}"),
    ("C12", r#""""#, "{}"),
    ("C12", r#"{"__proto__":{"x":1},"b":2}"#, r#"{"b":2}"#),
    ("C12", "[[1],2]", "[1,[2]]"),
];

/// What is no JSON, or what two readers would read in two ways.
const REFUSED: [(&str, &[u8]); 12] = [
    ("C07", br#"{"a":1,"a":2}"#),
    ("C07", br#"{"a":1,"\u0061":2}"#),
    ("C07", br#"[{"o":{"a":1,"a":1}}]"#),
    ("C08", br#"["\ud83d"]"#),
    ("C08", br#"["\ude00\ud83d"]"#),
    ("C08", br#"{"\udc00":1}"#),
    ("C08", b"[\"\xff\"]"),
    ("C08", b"[\"\xed\xa0\x80\"]"),
    ("C08", b"[\"\xc0\xaf\"]"),
    ("C10", b"1}}garbage"),
    ("C10", b"1}}\0"),
    ("C11", b"\"a\tb\""),
];

async fn assert_same(client: &Client, case: &str, one: &str, other: &str, canonical: &str) {
    let key = fresh_key();
    let first = client.place(&key, order(one)).await;
    first.assert_executed();
    let kept = client
        .get(first.header("location").expect("a location"))
        .await;
    for answer in [&first, &kept] {
        let text = String::from_utf8_lossy(&answer.body);
        let metadata = format!(r#""metadata":{{"v":{canonical}}}"#);
        assert!(text.contains(&metadata), "{case}: {text}");
    }
    let again = client.place(&key, order(other)).await;
    again.assert_replayed();
    assert_eq!(again.lasting(), first.lasting(), "{case}");
}

#[tokio::test]
async fn every_spelling_of_a_command_is_answered_by_the_first() {
    let world = World::start().await;
    for (case, one, other, canonical) in SAME {
        assert_same(&world.client(), case, one, other, canonical).await;
    }
    world.assert_orders(17).await;
}

#[tokio::test]
async fn values_that_only_look_alike_are_two_commands_for_edge_and_origin() {
    let world = World::builder().unsigned().start().await;
    for (case, one, other) in DIFFERENT {
        let key = fresh_key();
        world
            .client()
            .place(&key, order(one))
            .await
            .assert_executed();
        for client in [world.client(), world.origins[0].client()] {
            let refused = client.place(&key, order(other)).await;
            assert_eq!(
                (refused.status, refused.problem().as_str()),
                (422, "key-reused"),
                "{case}"
            );
        }
    }
    world.assert_orders(14).await;
}

#[tokio::test]
async fn a_body_that_is_read_in_two_ways_is_refused_by_edge_and_origin() {
    let world = World::builder().unsigned().start().await;
    for (case, value) in REFUSED {
        let body = [&br#"{"metadata":{"v":"#[..], value, b"}}"].concat();
        for client in [world.client(), world.origins[0].client()] {
            let request = client.order(&fresh_key(), "").body(body.clone());
            let refused = tests::answer::Answer::to(request).await.expect("an answer");
            let problem = refused.problem();
            assert_eq!(
                (refused.status, problem.as_str()),
                (400, "body-not-canonical"),
                "{case}"
            );
        }
    }
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn a_record_of_an_unknown_scheme_is_neither_replayed_nor_refused() {
    let (mut world, key) = (World::builder().unsigned().start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    let execute = async |world: &World, statement| world.database.execute(statement).await;
    execute(
        &world,
        "UPDATE idempotency_records SET fingerprint_version = 2",
    )
    .await;
    // What edge and origin keep in memory is of the version that they know.
    world.edges[0].kill();
    world.edges[0].restart().await;
    world.origins[0].kill().await;
    world.origins[0].restart().await;
    for client in [world.client(), world.origins[0].client()] {
        for body in [ORDER, "{}"] {
            client
                .place(&key, body)
                .await
                .assert_problem(503, "version-unknown");
        }
    }
    execute(
        &world,
        "UPDATE idempotency_records SET fingerprint_version = 1",
    )
    .await;
    let again = world.client().place(&key, ORDER).await;
    again.assert_replayed();
    assert_eq!(again.lasting(), first.lasting());
    world.assert_orders(1).await;
}
