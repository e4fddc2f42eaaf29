//! Outcomes that nobody knows at first: the completer settles them, with nobody asking.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};

/// DESIGN section 11: from the moment the provider can answer.
const SETTLED: Duration = Duration::from_secs(10);
/// The lease of an origin that is gone, 15 s, and what follows it.
const TAKEN_OVER: Duration = Duration::from_secs(30);

/// Places an order that ends in 502 under these faults, asks nobody, and waits for the order.
async fn settles(faults: Value) -> (World, String, Answer) {
    let (world, key) = (World::start().await, fresh_key());
    world.sandbox.set_faults(faults).await;
    let unknown = world.client().place(&key, ORDER).await;
    unknown.assert_problem(502, "outcome-unknown");
    assert_eq!(unknown.json()["source"], "origin");
    eventually("the order", SETTLED, async || {
        world.database.orders().await == 1
    })
    .await;
    world.assert_orders(1).await;
    (world, key, unknown)
}

async fn assert_replays(world: &World, key: &str) {
    let retry = world.client().place_patiently(key, ORDER).await;
    retry.assert_replayed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_charge_whose_answer_was_cut_is_learnt_by_the_same_key() {
    let (world, key, _) = settles(json!({ "drop_after_commit": 1 })).await;
    assert_replays(&world, &key).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 2);
}

#[tokio::test]
async fn a_charge_that_was_cut_before_it_was_made_is_made_once() {
    let (world, key, _) = settles(json!({ "drop_before_commit": 1 })).await;
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn a_provider_that_answers_500_is_asked_again_by_the_same_key() {
    let (world, key, _) = settles(json!({ "error_500": 1 })).await;
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn several_unknown_attempts_in_a_row_are_still_one_charge() {
    let (world, key, _) = settles(json!({ "drop_after_commit": 2, "error_500": 1 })).await;
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn until_it_is_settled_retries_are_busy_and_other_commands_refused() {
    let (world, key) = (World::start().await, fresh_key());
    world
        .sandbox
        .set_faults(json!({ "error_500": 1_000_000 }))
        .await;
    let client = world.client();
    client
        .place(&key, ORDER)
        .await
        .assert_problem(502, "outcome-unknown");
    for _ in 0..5 {
        let retry = client.place(&key, ORDER).await;
        let slug = if retry.status == 409 {
            "request-in-progress"
        } else {
            "outcome-unknown"
        };
        retry.assert_problem(if slug == "outcome-unknown" { 502 } else { 409 }, slug);
        let other = client.place(&key, ORDER.replace("1250", "1")).await;
        other.assert_problem(422, "key-reused");
    }
    world.assert_orders(0).await;
    world.sandbox.set_faults(json!({})).await;
    let settled = Instant::now();
    eventually("the order", SETTLED, async || {
        world.database.orders().await == 1
    })
    .await;
    assert!(settled.elapsed() < SETTLED);
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn a_provider_that_takes_no_connection_has_done_nothing() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    world.links().to_provider.set(Fault::Refuse).await;
    let refused = world.client().place(&key, ORDER).await;
    refused.assert_problem(503, "origin-unavailable");
    assert_eq!(
        world.client().status(&key).await.status,
        404,
        "released counts as absent"
    );
    world.links().to_provider.set(Fault::None).await;
    let retry = world.client().place(&key, ORDER).await;
    retry.assert_executed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_refused_connection_after_an_unknown_attempt_stays_unknown() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    let provider = &world.links().to_provider;
    provider.set(Fault::DropAfterRequest).await;
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(502, "outcome-unknown");
    provider.set(Fault::Refuse).await;
    let attempts = "SELECT attempts::bigint FROM idempotency_records";
    let tried = async || world.database.number(attempts).await >= 3;
    eventually("attempts that are refused", SETTLED, tried).await;
    assert_eq!(world.client().status(&key).await.json()["state"], "pending");
    provider.set(Fault::None).await;
    eventually("the order", SETTLED, async || {
        world.database.orders().await == 1
    })
    .await;
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn an_origin_killed_during_its_charge_is_taken_over() {
    let (mut world, key) = (World::start().await, fresh_key());
    let place = world.begin_order(&key, 1_000).await;
    world.origins[0].kill().await;
    let cut = place.await.expect("no panic").expect("an answer");
    cut.assert_problem(502, "outcome-unknown");
    assert_eq!(cut.json()["source"], "edge");
    world.origins[0].restart().await;
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(409, "request-in-progress");
    eventually("the order", TAKEN_OVER, async || {
        world.database.orders().await == 1
    })
    .await;
    assert_replays(&world, &key).await;
}

#[tokio::test]
async fn an_origin_that_wakes_after_its_lease_changes_nothing() {
    let (world, key) = (World::builder().origins(2).start().await, fresh_key());
    let place = world.begin_order(&key, 1_000).await;
    world.origins[0].pause();
    eventually("the order", TAKEN_OVER, async || {
        world.database.orders().await == 1
    })
    .await;
    let finished = world
        .database
        .number("SELECT fence FROM idempotency_records")
        .await;
    world.origins[0].resume();
    let zombie = place.await.expect("no panic").expect("an answer");
    assert_eq!(
        (zombie.status, zombie.replayed()),
        (201, Some(true)),
        "the winner's answer"
    );
    assert_eq!(
        world
            .database
            .number("SELECT fence FROM idempotency_records")
            .await,
        finished
    );
    world.assert_orders(1).await;
    assert_replays(&world, &key).await;
}
