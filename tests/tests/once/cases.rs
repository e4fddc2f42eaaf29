//! The nine cases that a cache of responses gets wrong (DESIGN section 1), each by its name.

use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    eventually::eventually,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(30);
/// As policy.toml, but for a retention of two seconds.
const SHORT_RETENTION: &str = "[defaults]\nretention = \"2s\"\n\n[[route]]\n\
    match = \"POST /orders\"\noperation = \"orders\"\n";

#[tokio::test]
async fn case_1_completed_replay() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    // The resource has changed since; the answer to its making has not.
    world
        .database
        .execute("UPDATE orders SET destination = 'acct_2'")
        .await;
    for client in [world.client(), world.edges[0].client()] {
        let replay = client.place(&key, ORDER).await;
        assert_eq!(
            (replay.lasting(), replay.replayed()),
            (first.lasting(), Some(true))
        );
    }
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_2_concurrent_retry() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.begin_order(&key, 1_000).await;
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(409, "request-in-progress");
    let joined = world.client().place_patiently(&key, ORDER).await;
    let first = first.await.expect("no panic").expect("an answer");
    assert_eq!(joined.replayed(), Some(true));
    assert_eq!(joined.json(), first.json());
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_3_partial_local_success() {
    let (mut world, key) = (World::start().await, fresh_key());
    // The order is written down; the process dies before its events are out.
    world
        .sandbox
        .set_faults(json!({ "webhook_500": 1_000_000 }))
        .await;
    let first = world.client().place(&key, ORDER).await;
    world.origins[0].kill().await;
    world.sandbox.set_faults(json!({})).await;
    world.origins[0].restart().await;
    let published = "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL";
    let all_out = async || world.database.number(published).await == 2;
    // The relay that died may still hold them, for a minute at most.
    eventually("both events", Duration::from_secs(80), all_out).await;
    let retry = world.client().place(&key, ORDER).await;
    assert_eq!(retry.lasting(), first.lasting());
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_4_unknown_downstream_state() {
    let (world, key) = (World::start().await, fresh_key());
    world
        .sandbox
        .set_faults(json!({ "drop_after_commit": 1 }))
        .await;
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(502, "outcome-unknown");
    let truth = world.client().place_patiently(&key, ORDER).await;
    assert_eq!(truth.status, 201, "{truth:?}");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_5_same_key_different_command() {
    let (world, key) = (World::start().await, fresh_key());
    let first = world.begin_order(&key, 500).await;
    let other = || ORDER.replace("acct_1", "acct_2");
    world
        .client()
        .place(&key, other())
        .await
        .assert_problem(422, "key-reused");
    first.await.expect("no panic").expect("an answer");
    world
        .client()
        .place(&key, other())
        .await
        .assert_problem(422, "key-reused");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_6_retry_after_expiry() {
    let (world, key) = (
        World::builder()
            .origin_policy(SHORT_RETENTION)
            .start()
            .await,
        fresh_key(),
    );
    let first = world.client().place(&key, ORDER).await;
    assert_eq!(first.status, 201);
    let expired = async || world.client().place(&key, ORDER).await.status != 201;
    eventually("the end of the retention", LIMIT, expired).await;
    let retry = world.client().place(&key, ORDER).await;
    retry.assert_problem(410, "key-expired");
    assert_eq!(retry.header("location"), first.header("location"));
    assert_eq!(world.client().status(&key).await.json()["state"], "expired");
    let other = world
        .client()
        .place(&key, ORDER.replace("1250", "1251"))
        .await;
    other.assert_problem(422, "key-reused");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_7_retry_after_a_deploy() {
    let (mut world, key) = (World::builder().origins(2).start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    for origin in &mut world.origins {
        origin.terminate().await;
        origin.restart().await;
    }
    world.edges[0].kill();
    world.edges[0].restart().await;
    let retry = world.client().place(&key, ORDER).await;
    assert_eq!(
        (retry.lasting(), retry.replayed()),
        (first.lasting(), Some(true))
    );
    // Written by a version of the fingerprint that this process does not know: no judgement.
    world
        .database
        .execute("UPDATE idempotency_records SET fingerprint_version = 99")
        .await;
    world.edges[0].kill();
    world.origins[0].kill().await;
    world.origins[0].restart().await;
    world.edges[0].restart().await;
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(503, "version-unknown");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_8_retry_after_a_region_failover() {
    // Two regions: an edge and an origin each, on one writable Postgres.
    let (mut world, key) = (
        World::builder().edges(2).origins(2).start().await,
        fresh_key(),
    );
    let first = world.client().place(&key, ORDER).await;
    world.edges[0].kill();
    world.origins[0].kill().await;
    let elsewhere = world.edges[1].client();
    let retry = elsewhere.place(&key, ORDER).await;
    assert_eq!(
        (retry.lasting(), retry.replayed()),
        (first.lasting(), Some(true))
    );
    let other = elsewhere.place(&key, ORDER.replace("1250", "1251")).await;
    other.assert_problem(422, "key-reused");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn case_9_the_same_operation_with_no_key() {
    let world = World::builder().gateway().start().await;
    let place = async |reference: &str, amount: u32| {
        let metadata = format!("\"metadata\":{{\"merchantReference\":\"{reference}\"}}}}");
        let order = ORDER.replace("1250", &amount.to_string());
        let order = order.replace("]}", &format!("],{metadata}"));
        let request = world.client().request(Method::POST, "/references/orders");
        let request = request
            .header("content-type", "application/json")
            .body(order);
        Answer::to(request).await.expect("an answer")
    };
    let first = place("m-1", 1250).await;
    first.assert_executed();
    let again = place("m-1", 1250).await;
    again.assert_replayed();
    assert_eq!(again.body, first.body);
    place("m-1", 1251).await.assert_problem(422, "key-reused");
    world.assert_orders(1).await;
    place("m-2", 1250).await.assert_executed();
    world.assert_orders(2).await;
}
