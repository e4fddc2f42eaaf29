//! What an upstream's answer, or its silence, means: archived, released, or unknown.

use crate::call::{SETTLED, arrived, ended, post, post_patiently, request};
use serde_json::json;
use std::time::Duration;
use tests::{answer::Answer, client::fresh_key, eventually::eventually, world::World};

#[tokio::test]
async fn statuses_mean_what_policy_says() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let client = world.client();
    let table = [
        // Definitive by default, released by default, and neither.
        ("/hold", 403, false, "archived"),
        ("/hold", 425, false, "released"),
        ("/hold", 429, false, "released"),
        ("/hold", 503, true, "released"),
        ("/hold", 503, false, "unknown"),
        ("/hold", 408, false, "unknown"),
        ("/hold", 500, false, "unknown"),
        ("/hold", 504, false, "unknown"),
        // As the route says.
        ("/listed", 201, false, "archived"),
        ("/listed", 500, false, "archived"),
        ("/listed", 404, false, "released"),
        ("/listed", 403, false, "unknown"),
        ("/listed", 429, false, "unknown"),
    ];
    for (path, status, has_retry_after, meaning) in table {
        let key = fresh_key();
        let mut headers = vec![json!(["X-Mine", "1"])];
        headers.extend(has_retry_after.then(|| json!(["Retry-After", "1"])));
        let first = json!({"status": status, "headers": headers, "refuses": meaning != "archived"});
        let behaves = json!([first, {"status": 201}]);
        let answer = post(&client, path, &key, &behaves).await;
        let retry = post(&client, path, &key, &behaves).await;
        let what = format!("{path} {status}");
        match meaning {
            "archived" => {
                assert_eq!(
                    (answer.status, answer.replayed()),
                    (status, Some(false)),
                    "{what}"
                );
                assert_eq!(
                    (retry.status, retry.replayed()),
                    (status, Some(true)),
                    "{what}"
                );
            }
            "released" => {
                // The upstream's own answer, whole, and a retry runs.
                assert_eq!(
                    (answer.status, answer.header("x-mine")),
                    (status, Some("1")),
                    "{what}"
                );
                assert_eq!(
                    (retry.status, retry.replayed()),
                    (201, Some(false)),
                    "{what}"
                );
            }
            _ => {
                answer.assert_problem(502, "outcome-unknown");
                retry.assert_problem(409, "request-in-progress");
            }
        }
    }
    assert_eq!(world.upstream().executions().await, 3 + 4);
}

#[tokio::test]
async fn the_upstream_overrides_the_policy_for_one_answer() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let client = world.origins[0].client();
    let say = |status: u16, word: &str| json!([{"status": status, "headers": [["Idempotency-Archive", word], ["Location", "/things/9"]]}, {}]);
    let send = async |key: &str, behaves| post(&client, "/hold", key, &behaves).await;

    let key = fresh_key();
    assert_eq!(send(&key, say(500, "yes")).await.status, 500);
    let replay = send(&key, say(500, "yes")).await;
    assert_eq!((replay.status, replay.replayed()), (500, Some(true)));

    let key = fresh_key();
    assert_eq!(send(&key, say(200, "release")).await.status, 200);
    let again = send(&key, say(200, "release")).await;
    assert_eq!((again.status, again.replayed()), (201, Some(false)));

    let key = fresh_key();
    let first = send(&key, say(201, "no")).await;
    assert_eq!(
        (first.status, first.json()["done"].as_bool()),
        (201, Some(true))
    );
    let replay = send(&key, say(201, "no")).await;
    replay.assert_problem(410, "response-not-kept");
    assert_eq!(replay.header("location"), Some("/things/9"));

    let key = fresh_key();
    send(&key, say(500, "no"))
        .await
        .assert_problem(502, "outcome-unknown");

    let key = fresh_key();
    assert_eq!(send(&key, say(201, "yes; max-age=1")).await.status, 201);
    let expired = async || send(&key, json!([{}])).await.status == 410;
    eventually("the end of a retention of 1 s", SETTLED, expired).await;
    assert_eq!(world.upstream().executions().await, 5);
}

#[tokio::test]
async fn nothing_listens_nothing_happened() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    world.upstream().kill().await;
    let refused = post(&client, "/hold", &key, &json!([{}])).await;
    refused.assert_problem(503, "origin-unavailable");
    assert_eq!(client.status(&key).await.status, 404);
    world.upstream().restart().await;
    let retry = post(&client, "/hold", &key, &json!([{}])).await;
    assert_eq!((retry.status, retry.replayed()), (201, Some(false)));
}

#[tokio::test]
async fn cut_before_or_after_it_acted_it_is_sent_again_with_the_same_key() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for (n, cut) in [(1, "before"), (2, "after")] {
        let (client, key) = (world.client(), fresh_key());
        let behaves = json!([{"cut": cut}, {}]);
        let unknown = post(&client, "/resend", &key, &behaves).await;
        unknown.assert_problem(502, "outcome-unknown");
        // Nobody asks: the completer does.
        ended(&world, &key).await;
        let truth = post(&client, "/resend", &key, &behaves).await;
        assert_eq!((truth.status, truth.replayed()), (201, Some(true)), "{cut}");
        assert_eq!(world.upstream().executions().await, n);
        let arrivals = world.upstream().arrivals().await;
        let [.., first, second] = arrivals.as_slice() else {
            panic!("{arrivals:?}");
        };
        assert_eq!(first.key, second.key);
        assert_eq!((first.attempt(), second.attempt()), ("1", "2"));
        assert_eq!((&first.body, &first.target), (&second.body, &second.target));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_none() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"broken": 5}, {"body": "whole"}]);
    let broken = post(&client, "/resend", &key, &behaves).await;
    broken.assert_problem(502, "outcome-unknown");
    ended(&world, &key).await;
    let truth = post(&client, "/resend", &key, &behaves).await;
    assert_eq!(truth.body, b"whole");
    let packed = json!([{"coding": "gzip", "broken": 15}, {"body": "whole"}]);
    let broken = post(&client, "/resend", &fresh_key(), &packed).await;
    broken.assert_problem(502, "outcome-unknown");
    assert_eq!(world.upstream().executions().await, 2);
}

#[tokio::test]
async fn a_refusal_after_an_attempt_that_may_have_acted_is_no_release() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let released = json!({"status": 429, "headers": []});
    let says_so = json!({"status": 503, "headers": [["Idempotency-Archive", "release"]]});
    let behaves = json!([{"cut": "after"}, released, says_so, released, {}]);
    let unknown = post(&client, "/resend", &key, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    arrived(&mut world, 3).await;
    assert_eq!(client.status(&key).await.json()["state"], "pending");
    ended(&world, &key).await;
    let truth = post(&client, "/resend", &key, &behaves).await;
    assert_eq!((truth.status, truth.replayed()), (201, Some(true)));
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn an_upstream_that_is_gone_after_an_unknown_attempt_stays_unknown() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"cut": "before"}, {"status": 500}, {"status": 500}, {}]);
    let unknown = post(&client, "/resend", &key, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    world.upstream().kill().await;
    let attempts = "SELECT attempts::bigint FROM idempotency_records";
    let tried = async || world.database.number(attempts).await >= 4;
    eventually("attempts that are refused", SETTLED, tried).await;
    assert_eq!(client.status(&key).await.json()["state"], "pending");
    world.upstream().restart().await;
    ended(&world, &key).await;
    let truth = post_patiently(&client, "/resend", &key, &behaves).await;
    assert_eq!((truth.status, truth.replayed()), (201, Some(true)));
}

#[tokio::test]
async fn what_is_held_is_never_sent_again_and_waits_for_an_operator() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"cut": "after"}, {}]);
    let unknown = post(&client, "/hold", &key, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    let status = client.status(&key).await.json();
    assert_eq!(
        (&status["state"], &status["needs_operator"]),
        (&json!("pending"), &json!(true))
    );
    // Long after its lease, and asked again and again.
    let until = std::time::Instant::now() + Duration::from_secs(4);
    while std::time::Instant::now() < until {
        let retry = post(&client, "/hold", &key, &behaves).await;
        retry.assert_problem(409, "request-in-progress");
    }
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn what_is_held_is_not_sent_again_after_a_crash_either() {
    let builder = World::builder().unsigned().gateway();
    let mut world = builder.dying_at("forwarded").start().await;
    let (client, key) = (world.client(), fresh_key());
    let cut = post(&client, "/hold", &key, &json!([{}])).await;
    cut.assert_problem(502, "outcome-unknown");
    world.origins[0].wait_until_ended().await;
    world.origins[0].restart().await;
    let held = async || client.status(&key).await.json()["needs_operator"] == true;
    eventually("the completer's judgement", Duration::from_secs(20), held).await;
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn the_status_url_is_asked_until_it_knows() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"cut": "after"}]);
    let unknown = post(&client, "/ask", &key, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    // 404, 202, and a refusal say nothing of the outcome.
    arrived(&mut world, 2).await;
    for answer in [
        json!({"status": 202}),
        json!({"status": 410, "headers": [["Idempotency-Archive", "release"]]}),
    ] {
        world.upstream().set_status(answer).await;
        let seen = world.upstream().arrivals().await.len();
        arrived(&mut world, seen + 2).await;
        assert_eq!(client.status(&key).await.json()["state"], "pending");
    }
    let known = json!({"status": 200, "body": "known", "headers": [["Location", "/things/7"]]});
    world.upstream().set_status(known).await;
    ended(&world, &key).await;
    let truth = post(&client, "/ask", &key, &behaves).await;
    assert_eq!((truth.status, truth.replayed()), (200, Some(true)));
    assert_eq!(
        (truth.body.as_slice(), truth.header("location")),
        (b"known".as_slice(), Some("/things/7"))
    );
    let arrivals = world.upstream().arrivals().await;
    let (sent, asked) = arrivals.split_first().expect("the request");
    assert!(asked.iter().all(|arrival| {
        arrival.method == "GET" && arrival.target == format!("/operations/{}", sent.key)
    }));
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_stops_nothing() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for client in [world.client(), world.origins[0].client()] {
        let key = fresh_key();
        let before = world.upstream().arrivals().await.len();
        let behaves = json!([{"delay": 1_000}]);
        let asked = tokio::spawn(Answer::to(request(&client, "/hold", &key, &behaves)));
        arrived(&mut world, before + 1).await;
        asked.abort();
        ended(&world, &key).await;
        let retry = post(&client, "/hold", &key, &behaves).await;
        assert_eq!((retry.status, retry.replayed()), (201, Some(true)));
        assert_eq!(world.upstream().arrivals().await.len(), before + 1);
    }
}
