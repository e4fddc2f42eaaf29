//! Each kind of answer reaches the first client as it is, and every later one to the byte.

use crate::call::{post, request};
use serde_json::{Value, json};
use tests::{answer::Answer, client::fresh_key, world::World};

/// The first answer, and those of two retries: at the edge, and past it.
async fn thrice(world: &mut World, path: &str, behaviour: Value) -> (Answer, [Answer; 2]) {
    let key = fresh_key();
    let behaves = json!([behaviour]);
    let before = world.upstream().executions().await;
    let first = post(&world.client(), path, &key, &behaves).await;
    let again = post(&world.client(), path, &key, &behaves).await;
    let past = post(&world.origins[0].client(), path, &key, &behaves).await;
    assert_eq!(world.upstream().executions().await, before + 1);
    (first, [again, past])
}

/// As [`thrice`], where all three are one answer.
async fn replays(world: &mut World, behaviour: Value) -> Answer {
    let (first, retries) = thrice(world, "/hold", behaviour).await;
    assert_eq!(first.replayed(), Some(false), "{first:?}");
    for retry in retries {
        assert_eq!(retry.replayed(), Some(true), "{retry:?}");
        assert_eq!(
            of_both_layers(&retry.lasting()),
            of_both_layers(&first.lasting())
        );
    }
    first
}

/// Without what a replay adds, and what only an edge is told.
fn of_both_layers(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    answer
        .headers
        .retain(|(name, _)| !matches!(name.as_str(), "cache-control" | "unavez-archive"));
    answer
}

#[tokio::test]
async fn every_final_status_is_replayed() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for status in [200, 201, 202, 204, 205, 303, 304, 400, 404, 409, 422, 451] {
        let headers = json!([["Location", "/things/2"], ["ETag", "\"v1\""]]);
        let behaviour = json!({"status": status, "headers": headers});
        let first = replays(&mut world, behaviour).await;
        assert_eq!(first.status, status);
        assert_eq!(first.header("location"), Some("/things/2"), "{first:?}");
        let has_body = ![204, 205, 304].contains(&status);
        assert_eq!(!first.body.is_empty(), has_body, "{first:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_the_clients_to_follow() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let behaviour = json!({"status": 303, "headers": [["Location", "/elsewhere"]]});
    assert_eq!(replays(&mut world, behaviour).await.status, 303);
    let arrivals = world.upstream().arrivals().await;
    assert!(arrivals.iter().all(|arrival| arrival.target == "/hold"));
}

#[tokio::test]
async fn bytes_are_replayed_as_they_came() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let all: String = (0..=255_u8).map(char::from).collect();
    let types = json!([["Content-Type", "application/octet-stream"]]);
    let first = replays(&mut world, json!({"body": all, "headers": types})).await;
    assert_eq!(first.body, (0..=255).collect::<Vec<u8>>());
    for text in [
        r#"{"b":1,"a":1.0,"a":2e2}"#,
        r#"{"a":"\u0000"}"#,
        r#"["\ud83d"]"#,
        r#"{"x":1E400}"#,
        "not JSON",
        "",
    ] {
        let first = replays(&mut world, json!({"body": text})).await;
        assert_eq!(first.body, text.as_bytes());
    }
    let chunks = json!({"chunks": ["one ", "two ", "three"], "headers": types});
    let first = replays(&mut world, chunks).await;
    assert_eq!(first.body, b"one two three");
}

#[tokio::test]
async fn informational_answers_are_not_the_answer() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let first = replays(&mut world, json!({"early": true, "status": 201})).await;
    assert_eq!(first.status, 201);
    assert!(first.header("link").is_none(), "{first:?}");
    let key = fresh_key();
    let request = request(&world.origins[0].client(), "/hold", &key, &json!([{}]));
    let expects = request.header("expect", "100-continue");
    assert_eq!(Answer::to(expects).await.expect("an answer").status, 201);
}

#[tokio::test]
async fn coded_bytes_are_archived_as_identity() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let types = json!([["Content-Type", "text/plain"]]);
    let behaviour = json!({"coding": "gzip", "body": "unpacked", "headers": types});
    let first = replays(&mut world, behaviour).await;
    assert_eq!(first.body, b"unpacked");
    assert_eq!(first.header("content-encoding"), None, "{first:?}");
}

#[tokio::test]
async fn a_coding_that_nobody_asked_for_and_we_do_not_know_is_kept_as_it_came() {
    let world = World::builder().unsigned().gateway().start().await;
    let client = world.origins[0].client();
    let key = fresh_key();
    let behaves = json!([{"coding": "br", "body": "packed", "headers": []}]);
    let first = post(&client, "/hold", &key, &behaves).await;
    let again = post(&client, "/hold", &key, &behaves).await;
    assert_eq!(first.header("content-encoding"), Some("br"));
    assert_eq!(first.header("vary"), Some("accept-encoding"));
    assert_eq!(again.header("content-encoding"), Some("br"));
    assert_eq!(first.body, again.body);
}

#[tokio::test]
async fn lines_are_kept_apart_and_those_of_one_exchange_are_given_once() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let headers = json!([
        ["Content-Type", "application/problem+json; charset=utf-8"],
        ["Location", "/things/3"],
        ["ETag", "\"v2\""],
        ["Content-Disposition", "attachment; filename=\"a,b.txt\""],
        ["Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
        ["Set-Cookie", "b=2"],
        ["Date", "Wed, 21 Oct 2015 07:28:00 GMT"],
        ["Age", "7"],
        ["X-RateLimit-Remaining", "9"],
        ["Connection", "x-of-this-hop"],
        ["X-Of-This-Hop", "1"],
        ["X-Latin-1", "\u{e4}"],
        ["Link", "</a>; rel=x"],
        ["Link", "</b>; rel=y"],
        ["Unavez-Archive", "max-age=99999"],
        ["Idempotency-Archive", "yes"],
        ["Idempotent-Replayed", "true"],
    ]);
    let key = fresh_key();
    let behaves = json!([{"headers": headers}]);
    let client = world.origins[0].client();
    let first = post(&client, "/hold", &key, &behaves).await;
    let again = post(&client, "/hold", &key, &behaves).await;
    assert_eq!(world.upstream().executions().await, 1);
    for answer in [&first, &again] {
        assert_eq!(answer.values("link"), [b"</a>; rel=x", b"</b>; rel=y"]);
        assert_eq!(answer.values("x-latin-1"), [[0xe4]]);
        assert_eq!(answer.header("etag"), Some("\"v2\""));
        let disposition = answer.header("content-disposition");
        assert_eq!(disposition, Some("attachment; filename=\"a,b.txt\""));
        assert_eq!(answer.header("x-of-this-hop"), None, "{answer:?}");
        assert_eq!(answer.header("idempotency-archive"), None, "{answer:?}");
        assert_ne!(answer.header("unavez-archive"), Some("max-age=99999"));
    }
    let cookies = [
        b"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT".as_slice(),
        b"b=2",
    ];
    assert_eq!(first.values("set-cookie"), cookies);
    assert_eq!(first.header("x-ratelimit-remaining"), Some("9"));
    assert_eq!(
        (first.replayed(), again.replayed()),
        (Some(false), Some(true))
    );
    for name in ["set-cookie", "age", "x-ratelimit-remaining"] {
        assert!(again.values(name).is_empty(), "{again:?}");
    }
    let at_edge = post(&world.client(), "/hold", &fresh_key(), &behaves).await;
    assert_eq!(at_edge.values("set-cookie"), cookies, "{at_edge:?}");
}
