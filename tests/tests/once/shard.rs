//! The lock that may fail at any moment: reset, overloaded, silent, crowded, gone.

use crate::crowd::Crowd;
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    eventually::eventually,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(10);

async fn staged() -> World {
    World::builder().staged().start().await
}

async fn stage(world: &World, act: &str) -> serde_json::Value {
    let answer = world.client().get(&format!("/_stage/{act}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// An order whose first calls to the shard meet this fault.
async fn order_with(world: &World, fault: &str) -> Answer {
    let order = world.client().order(&fresh_key(), ORDER);
    Answer::to(order.header("x-shard", fault))
        .await
        .expect("an answer")
}

#[tokio::test]
async fn an_error_that_passes_is_tried_again_and_any_other_goes_to_the_origin() {
    let world = staged().await;
    // Fault, and how many calls one order makes of it: a take, tries, and a landing where it leads.
    let table = [
        ("retryable 1", 3),
        ("retryable 2", 4),
        ("retryable 3", 3),
        ("broken 1", 1),
    ];
    let mut calls = 0;
    for (orders, (fault, of_one)) in (1..).zip(table) {
        order_with(&world, fault).await.assert_executed();
        calls += of_one;
        let called = async || stage(&world, "calls").await == calls;
        eventually(fault, LIMIT, called).await;
        world.assert_orders(orders).await;
    }
}

#[tokio::test]
async fn an_overloaded_shard_is_503_at_once_and_not_called_again() {
    let world = staged().await;
    for (calls, fault) in (1..).zip(["overloaded", "retryable-and-overloaded"]) {
        let refused = order_with(&world, fault).await;
        refused.assert_problem(503, "origin-unavailable");
        assert_eq!(refused.json()["source"], "edge");
        assert_eq!(stage(&world, "calls").await, calls);
    }
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn a_shard_that_never_answers_is_left_for_the_origin() {
    let world = staged().await;
    let asked = Instant::now();
    order_with(&world, "silent 1").await.assert_executed();
    assert!(
        asked.elapsed() < Duration::from_secs(8),
        "{:?}",
        asked.elapsed()
    );
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_reset_shard_costs_its_waiters_nothing_but_a_trip_to_the_origin() {
    let (world, key) = (staged().await, fresh_key());
    let leader = world.begin_order(&key, 2_000).await;
    let client = world.client();
    let waiter = client.begin_to_wait(&key);
    // Its take is the shard's first call after this one's.
    client
        .place(&key, ORDER)
        .await
        .assert_problem(409, "request-in-progress");
    assert_eq!(stage(&world, "reset").await, 1);
    let retry = client.place(&key, ORDER).await;
    retry.assert_problem(409, "request-in-progress");
    let asked = Instant::now();
    waiter.await.expect("no panic").assert_replayed();
    assert!(asked.elapsed() < LIMIT);
    leader
        .await
        .expect("no panic")
        .expect("an answer")
        .assert_executed();
    client.place(&key, ORDER).await.assert_replayed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}

/// CASES C43: the trap takes every flight of its isolate with it, and no effect.
#[tokio::test]
async fn a_trap_in_one_request_costs_no_other_its_effect() {
    let world = staged().await;
    world.sandbox.delay(1_000).await;
    let keys: Vec<_> = (0..20).map(|_| fresh_key()).collect();
    let client = world.client();
    let flying = keys
        .iter()
        .map(|key| tokio::spawn(Answer::to(client.order(key, ORDER))));
    let flying: Vec<_> = flying.collect();
    let charging = async || world.sandbox.calls().await.len() == keys.len();
    eventually("twenty charges", LIMIT, charging).await;
    stage(&world, "trap").await;
    let trapped = client.place(&fresh_key(), ORDER).await;
    assert!(trapped.status >= 500, "{trapped:?}");
    join_all(flying).await;
    world.sandbox.delay(0).await;
    client.place(&fresh_key(), ORDER).await.assert_executed();
    for key in &keys {
        client.place_patiently(key, ORDER).await.assert_replayed();
    }
    world.assert_orders(21).await;
}

#[tokio::test]
async fn two_hundred_equal_requests_are_one_request_to_the_origin() {
    let (world, key) = (World::start().await, fresh_key());
    world.sandbox.delay(1_000).await;
    let client = world.client();
    let answers = join_all((0..200).map(|_| client.place_patiently(&key, ORDER))).await;
    let (first, joined): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| answer.replayed() == Some(false));
    assert_eq!(first.len(), 1);
    for answer in joined {
        answer.assert_replayed();
        assert_eq!(answer.lasting(), first[0].lasting());
    }
    let metrics = world.origins[0].client().get("/metrics").await;
    let counted = String::from_utf8_lossy(&metrics.body).into_owned();
    let of_orders: Vec<_> = counted
        .lines()
        .filter(|line| line.contains("POST /orders"))
        .collect();
    assert_eq!(of_orders.len(), 1, "{counted}");
    assert!(of_orders[0].ends_with(" 1"), "{counted}");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn sixty_four_slow_flights_on_one_shard_hold_up_nobody() {
    let world = World::builder().lock_shards(1).start().await;
    let crowd = Crowd::start(&world, 64).await;
    crowd.assert_holds_up_nobody(&world.client()).await;
    crowd.assert_ends().await;
    world.assert_orders(66).await;
}

/// Two edges, one lock: whoever is next to another leader joins it, and leads when it is gone.
#[tokio::test]
async fn a_waiter_of_another_edge_joins_and_leads_when_the_leader_is_gone() {
    let mut world = World::builder().edges(2).one_lock().start().await;
    let (client, key) = (world.client(), fresh_key());
    world.sandbox.delay(9_000).await;
    let leader = tokio::spawn(Answer::to(world.edges[1].client().order(&key, ORDER)));
    let charging = async || world.sandbox.is_busy().await;
    eventually("a charge that runs", LIMIT, charging).await;
    // The other edge's shard knows of it: nothing else is 409 with source edge.
    let busy = client.place(&key, ORDER).await;
    busy.assert_problem(409, "request-in-progress");
    assert_eq!(busy.json()["source"], "edge");
    world.edges[1].kill();
    leader
        .await
        .expect("no panic")
        .expect_err("a connection that is cut");
    let waiter = client.order(&key, ORDER).header("prefer", "wait=30");
    Answer::to(waiter)
        .await
        .expect("an answer")
        .assert_replayed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
    // It has waited at the origin, past a lease of 5 s: the lock was its own by then.
    let log = world.edges[0].log();
    assert!(log.contains("origin_ms\":"), "{log}");
}

/// CASES C44: neither a leader nor a waiter that leaves takes anything from whoever comes next.
#[tokio::test]
async fn leaders_and_waiters_that_leave_take_nothing_with_them() {
    let (world, key) = (World::start().await, fresh_key());
    let leader = world.begin_order(&key, 1_000).await;
    let client = world.client();
    let waiter = client.begin_to_wait(&key);
    client
        .place(&key, ORDER)
        .await
        .assert_problem(409, "request-in-progress");
    leader.abort();
    waiter.abort();
    client.place_patiently(&key, ORDER).await.assert_replayed();
    client.place(&key, ORDER).await.assert_replayed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}

#[tokio::test]
async fn an_operation_of_45_seconds_outlives_its_client() {
    let (world, key) = (World::start().await, fresh_key());
    let leader = world.begin_order(&key, 45_000).await;
    leader.abort();
    let began = Instant::now();
    let client = world.client();
    // Longer than any lease: the edge's lock and the origin's record are renewed all the while.
    while began.elapsed() < Duration::from_secs(44) {
        let busy = client.place(&key, ORDER).await;
        busy.assert_problem(409, "request-in-progress");
        let pause = busy.retry_after().unwrap_or(1).min(5);
        tokio::time::sleep(Duration::from_secs(pause.into())).await;
    }
    client.place_patiently(&key, ORDER).await.assert_replayed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}
