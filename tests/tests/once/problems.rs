//! Bad requests: edge and origin refuse each with the same problem, in one order of checks.

use reqwest::Method;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    world::World,
};

/// A request with some of what can be wrong with it.
#[derive(Clone, Copy, Debug)]
struct Bad {
    key: Option<&'static str>,
    authorization: bool,
    body: Body,
    status: u16,
    problem: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Body {
    Text(&'static [u8]),
    Large,
}

const DUPLICATE: Body = Body::Text(b"{\"amount\":1,\"\\u0061mount\":1}");

const NOT_CANONICAL: [&[u8]; 12] = [
    b"{\"a\":1}garbage",
    b"{\"a\":1}{\"b\":2}",
    b"\xef\xbb\xbf{\"a\":1}",
    b"{\"a\":1}\0",
    b"",
    b"  ",
    b"{\"a\":1,\"a\":1}",
    b"[\"\\ud83d\"]",
    b"[\"\xff\"]",
    b"{\"o\":{\"a\":1,\"\\u0061\":1}}",
    b"[1e9999999]",
    b"nul",
];

const FINE: Bad = Bad {
    key: Some("fine"),
    authorization: false,
    body: Body::Text(ORDER.as_bytes()),
    status: 0,
    problem: "",
};

async fn send(client: &Client, bad: &Bad) -> Answer {
    let body = match bad.body {
        Body::Text(text) => text.to_vec(),
        Body::Large => vec![b' '; 1024 * 1024 + 1],
    };
    let mut request = client.request(Method::POST, "/orders").body(body);
    request = request.header("content-type", "application/json");
    if let Some(key) = bad.key {
        request = request.header("idempotency-key", key);
    }
    if bad.authorization {
        request = request.header("authorization", "Bearer x.y.z");
    }
    Answer::to(request).await.expect("an answer")
}

/// Fails unless edge and origin give the same problem, each in its own name.
async fn assert_same(world: &World, bad: Bad) {
    let at_edge = send(&world.client(), &bad).await;
    let at_origin = send(&world.origins[0].client(), &bad).await;
    at_edge.assert_problem(bad.status, bad.problem);
    at_origin.assert_problem(bad.status, bad.problem);
    let (mut at_edge, at_origin) = (at_edge.json(), at_origin.json());
    assert_eq!(
        (&at_edge["source"], &at_origin["source"]),
        (&"edge".into(), &"origin".into())
    );
    at_edge["source"] = "origin".into();
    assert_eq!(at_edge, at_origin, "{bad:?}");
}

#[tokio::test]
async fn what_comes_first_in_the_order_of_checks_is_named_by_both() {
    let world = World::builder().unsigned().start().await;
    let table = [
        Bad {
            key: None,
            body: Body::Large,
            status: 400,
            problem: "key-missing",
            ..FINE
        },
        Bad {
            key: Some("a b"),
            body: Body::Large,
            status: 400,
            problem: "key-malformed",
            ..FINE
        },
        Bad {
            authorization: true,
            body: Body::Large,
            status: 413,
            problem: "body-too-large",
            ..FINE
        },
        Bad {
            authorization: true,
            body: DUPLICATE,
            status: 403,
            problem: "credentials-unexpected",
            ..FINE
        },
        Bad {
            body: DUPLICATE,
            status: 400,
            problem: "body-not-canonical",
            ..FINE
        },
    ];
    for bad in table {
        assert_same(&world, bad).await;
    }
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn json_that_two_readers_read_in_two_ways_is_refused_by_both_at_the_same_byte() {
    let world = World::builder().unsigned().start().await;
    for body in NOT_CANONICAL {
        let body = Body::Text(body);
        assert_same(
            &world,
            Bad {
                body,
                status: 400,
                problem: "body-not-canonical",
                ..FINE
            },
        )
        .await;
    }
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn a_bad_request_under_a_known_key_is_judged_before_its_record() {
    let world = World::builder().unsigned().start().await;
    send(&world.client(), &FINE).await;
    let bad = Bad {
        body: DUPLICATE,
        status: 400,
        problem: "body-not-canonical",
        ..FINE
    };
    assert_same(&world, bad).await;
    let bad = Bad {
        authorization: true,
        status: 403,
        problem: "credentials-unexpected",
        ..FINE
    };
    assert_same(&world, bad).await;
}

#[tokio::test]
async fn another_command_is_refused_by_both_and_the_origin_says_which_was_first() {
    let (world, key) = (World::builder().unsigned().start().await, fresh_key());
    world.client().place(&key, ORDER).await;
    for client in [world.client(), world.origins[0].client()] {
        client
            .place(&key, "{}")
            .await
            .assert_problem(422, "key-reused");
        let request = client.request(Method::POST, "/orders").body(ORDER);
        let as_text = request
            .header("content-type", "text/plain")
            .header("idempotency-key", &key);
        Answer::to(as_text)
            .await
            .expect("an answer")
            .assert_problem(422, "key-reused");
    }
    let refused = world.origins[0].client().place(&key, "{}").await.json();
    let detail = refused["detail"].as_str().expect("a detail").to_owned();
    let words: Vec<_> = detail.split([' ', '(', ')']).collect();
    let is_prefix = |word: &&&str| word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit());
    assert!(
        words
            .iter()
            .any(|word| word.ends_with('Z') && word.contains('T')),
        "{detail}"
    );
    assert_eq!(words.iter().filter(is_prefix).count(), 1, "{detail}");
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_taken() {
    let world = World::builder().unsigned().start().await;
    for client in [world.client(), world.origins[0].client()] {
        let mut body = ORDER.to_owned();
        body.push_str(&" ".repeat(1024 * 1024 - body.len()));
        assert_eq!(client.place(&fresh_key(), body.clone()).await.status, 201);
        body.push(' ');
        client
            .place(&fresh_key(), body)
            .await
            .assert_problem(413, "body-too-large");
    }
    world.assert_orders(2).await;
}

#[tokio::test]
async fn a_body_that_ends_early_is_refused_and_nothing_is_kept() {
    let world = World::builder().unsigned().start().await;
    let mut answers = Vec::new();
    for client in [world.client(), world.origins[0].client()] {
        let head = "POST /orders HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
            idempotency-key: short\r\n";
        let bodies = [
            format!("content-length: 500\r\n\r\n{ORDER}"),
            "transfer-encoding: chunked\r\n\r\n5\r\n{\"amo".to_owned(),
        ];
        for body in bodies {
            let request = format!("{head}{body}");
            let answer = client.send_truncated(request.as_bytes()).await;
            // A runtime may hang up on such a client without a word.
            let is_refused = answer.is_empty() || answer.contains("/problems/body-incomplete");
            assert!(is_refused, "{answer}");
            answers.push(answer);
        }
    }
    let said = |answer: &String| answer.contains("/problems/body-incomplete");
    assert!(answers.iter().any(said), "{answers:?}");
    assert_eq!(world.origins[0].client().get("/readyz").await.status, 200);
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn a_defect_of_ours_says_so_and_its_retry_is_safe() {
    let (world, key) = (World::start().await, fresh_key());
    let broken = "ALTER TABLE idempotency_records ADD CONSTRAINT broken CHECK (false) NOT VALID";
    world.database.execute(broken).await;
    let failed = world.client().place(&key, ORDER).await;
    assert_eq!(
        (failed.status, failed.problem().as_str()),
        (500, "internal")
    );
    assert_eq!(failed.json()["retry_with_same_key"], true);
    let mended = "ALTER TABLE idempotency_records DROP CONSTRAINT broken";
    world.database.execute(mended).await;
    world.client().place(&key, ORDER).await.assert_executed();
    world.assert_orders(1).await;
}
