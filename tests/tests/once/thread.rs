//! The thread: an order placed once, from the client to Postgres and back.

use serde_json::json;
use std::time::{Duration, Instant};
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    eventually::eventually,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(10);

/// [`ORDER`], written by another serialiser.
const SAME_ORDER: &str = "\n{ \"items\": [ {\"quantity\": 2e0, \"\\u0073ku\": \"A1\"} ],\t\
    \"destination\":\"acct_1\", \"currency\": \"EUR\", \"amount\": 1250.00 }\r\n";

fn other_amount() -> String {
    ORDER.replace("1250", "1251")
}

#[tokio::test]
async fn the_first_request_is_carried_out_and_the_same_again_is_replayed() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    first.assert_executed();
    assert!(
        first
            .header("idempotency-expires")
            .is_some_and(|expires| expires.ends_with('Z'))
    );
    assert_eq!(
        first.header("unavez-archive"),
        None,
        "this header is between edge and origin"
    );
    for _ in 0..2 {
        let again = world.client().place(&key, ORDER).await;
        again.assert_replayed();
        assert_eq!(again.lasting(), first.lasting());
        assert_eq!(again.header("cache-control"), Some("no-store"));
    }
    world.assert_orders(1).await;
    assert_eq!(world.database.records().await, 1);
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}

#[tokio::test]
async fn the_answer_describes_the_order_as_it_can_be_read_again() {
    let world = World::start().await;
    let metadata = r#"{"metadata":{"note":"é","n":10000000000000000.01},"#;
    let placed = world
        .client()
        .place(&fresh_key(), ORDER.replacen('{', metadata, 1))
        .await;
    let order = placed.json();
    let charge = world.sandbox.charges().await.remove(0);
    assert_eq!((charge.amount, charge.currency.as_str()), (1250, "eur"));
    assert_eq!(order["status"], "paid");
    assert_eq!(order["amount"], 1250);
    assert_eq!(order["items"], json!([{"sku": "A1", "quantity": 2}]));
    assert_eq!(order["charge_id"], charge.id.as_str());
    assert!(order["created_at"].is_string());
    assert!(String::from_utf8_lossy(&placed.body).contains("10000000000000000.01"));
    let location = format!(
        "/orders/{}",
        order["id"].as_str().expect("an id that is a string")
    );
    assert_eq!(placed.header("location"), Some(location.as_str()));
    let read = world.client().get(&location).await;
    assert_eq!((read.status, read.json()), (200, order));
}

#[tokio::test]
async fn key_order_and_white_space_do_not_make_another_command() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    let again = world.client().place(&key, SAME_ORDER).await;
    assert_eq!(
        (again.lasting(), again.replayed()),
        (first.lasting(), Some(true))
    );
    world.assert_orders(1).await;
}

#[tokio::test]
async fn another_command_under_the_same_key_is_refused() {
    let (mut world, key) = (World::start().await, fresh_key());
    world.client().place(&key, ORDER).await;
    world
        .client()
        .place(&key, other_amount())
        .await
        .assert_problem(422, "key-reused");
    // The same without what the edge remembers.
    world.edges[0].kill();
    world.edges[0].restart().await;
    world
        .client()
        .place(&key, other_amount())
        .await
        .assert_problem(422, "key-reused");
    world.client().place(&key, ORDER).await;
    world
        .client()
        .place(&key, other_amount())
        .await
        .assert_problem(422, "key-reused");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn another_command_is_refused_at_once_while_the_first_one_runs() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.begin_order(&key, 2_000).await;
    let client = world.client();
    let asked = Instant::now();
    client
        .place(&key, other_amount())
        .await
        .assert_problem(422, "key-reused");
    client
        .place(&key, ORDER)
        .await
        .assert_problem(409, "request-in-progress");
    assert!(
        asked.elapsed() < Duration::from_secs(1),
        "{:?}",
        asked.elapsed()
    );
    let joined = client.place_patiently(&key, ORDER).await;
    let first = first.await.expect("no panic").expect("an answer");
    first.assert_executed();
    assert_eq!(joined.replayed(), Some(true));
    assert_eq!(joined.header("preference-applied"), Some("wait=10"));
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_wait_that_is_over_before_the_first_one_ends_is_answered_409() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.begin_order(&key, 2_000).await;
    let asked = Instant::now();
    let request = world.client().order(&key, ORDER).header("prefer", "wait=1");
    let second = Answer::to(request).await.expect("an answer");
    let waited = asked.elapsed();
    let first = first.await.expect("no panic").expect("an answer");
    assert_eq!(first.status, 201);
    second.assert_problem(409, "request-in-progress");
    assert_eq!(second.header("preference-applied"), Some("wait=1"));
    assert!((1_000..1_900).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test]
async fn an_origin_says_how_long_it_is_ready_to_wait() {
    let (world, key) = (World::builder().unsigned().start().await, fresh_key());
    let first = world.begin_order(&key, 500).await;
    let origin = world.origins[0].client();
    let second = origin.place_patiently(&key, ORDER).await;
    second.assert_replayed();
    assert_eq!(second.header("preference-applied"), Some("wait=10"));
    let refused = origin.place_patiently(&fresh_key(), "{").await;
    refused.assert_problem(400, "body-not-canonical");
    assert_eq!(refused.header("preference-applied"), None);
    let first = first.await.expect("no panic").expect("an answer");
    first.assert_executed();
    assert_eq!(first.header("preference-applied"), None);
    world.assert_orders(1).await;
}

#[tokio::test]
async fn two_keys_with_an_equal_body_are_two_orders() {
    let world = World::start().await;
    let first = world.client().place(&fresh_key(), ORDER).await;
    let second = world.client().place(&fresh_key(), ORDER).await;
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(
        (first.replayed(), second.replayed()),
        (Some(false), Some(false))
    );
    assert_ne!(first.header("location"), second.header("location"));
    world.assert_orders(2).await;
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_its_order() {
    let (world, key) = (World::start().await, fresh_key());
    world.sandbox.delay(1_000).await;
    let client = world.client();
    let left = tokio::time::timeout(Duration::from_millis(50), client.place(&key, ORDER)).await;
    assert!(left.is_err(), "the client was answered before it left");
    eventually("the order", LIMIT, async || {
        world.database.orders().await == 1
    })
    .await;
    // Written down, but perhaps not yet landed at the edge.
    let retry = client.place_patiently(&key, ORDER).await;
    retry.assert_replayed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}

#[tokio::test]
async fn nobody_waits_for_longer_than_the_policy_allows() {
    let (world, key) = (World::builder().unsigned().start().await, fresh_key());
    world.client().place(&key, ORDER).await;
    for client in [world.client(), world.origins[0].client()] {
        for (asked, applied) in [("29", "wait=29"), ("30", "wait=30"), ("31", "wait=30")] {
            let request = client.order(&key, ORDER);
            let request = request.header("prefer", format!("wait={asked}"));
            let answer = Answer::to(request).await.expect("an answer");
            assert_eq!(
                answer.header("preference-applied"),
                Some(applied),
                "{answer:?}"
            );
        }
    }
}
