//! Crash points: wherever the origin dies between claim and answer, the order is made once.
//!
//! Each test lets the real process abort at one named place, starts it again, and asks nobody: the
//! completer brings the operation to its end.

use serde_json::json;
use std::time::Duration;
use tests::{
    client::{ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};

/// A lease of 3 s and what follows it.
const LIMIT: Duration = Duration::from_secs(30);

/// Places an order whose origin dies at `point`, starts the origin again, waits for the order and
/// then asks twice: both get the one answer.
async fn dies(world: &mut World, point: &str) {
    let key = fresh_key();
    let cut = world.client().place(&key, ORDER).await;
    assert!(matches!(cut.status, 502 | 503), "{point}: {cut:?}");
    world.origins[0].wait_until_ended().await;
    world.origins[0].restart().await;
    let placed = async || world.database.orders().await == 1;
    eventually("the order", LIMIT, placed).await;
    let first = world.client().place_patiently(&key, ORDER).await;
    let second = world.client().place_patiently(&key, ORDER).await;
    first.assert_replayed();
    assert_eq!(first.lasting(), second.lasting());
    world.assert_orders(1).await;
    assert_eq!(world.database.records().await, 1);
}

async fn makes_the_order_once(point: &str) {
    let mut world = World::builder().dying_at(point).start().await;
    dies(&mut world, point).await;
}

#[tokio::test]
async fn a_crash_after_the_claim_makes_the_order_once() {
    makes_the_order_once("claimed").await;
}

#[tokio::test]
async fn a_crash_before_the_charge_makes_the_order_once() {
    makes_the_order_once("before-charge").await;
}

#[tokio::test]
async fn a_crash_after_the_charge_makes_the_order_once() {
    makes_the_order_once("charged").await;
}

#[tokio::test]
async fn a_crash_before_the_finish_makes_the_order_once() {
    makes_the_order_once("performed").await;
}

#[tokio::test]
async fn a_crash_after_the_finish_makes_the_order_once() {
    makes_the_order_once("finished").await;
}

#[tokio::test]
async fn a_crash_before_the_answer_makes_the_order_once() {
    makes_the_order_once("before-answer").await;
}

#[tokio::test]
async fn a_crash_after_an_event_was_sent_sends_it_again_under_its_own_key() {
    let mut world = World::builder().dying_at("published").start().await;
    world.client().place(&fresh_key(), ORDER).await;
    world.origins[0].wait_until_ended().await;
    world.assert_orders(1).await;
    world.origins[0].restart().await;
    let due = "UPDATE outbox SET next_attempt = now() WHERE published_at IS NULL";
    world.database.execute(due).await;
    let open = "SELECT count(*) FROM outbox WHERE published_at IS NULL";
    let published = async || world.database.number(open).await == 0;
    eventually("the events", LIMIT, published).await;
    let deliveries = world.sandbox.deliveries().await;
    let ids = deliveries
        .iter()
        .map(|delivery| &delivery["headers"]["webhook-id"]);
    let ids: Vec<_> = ids.collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[1], ids[2]);
}

async fn dies_with_an_unknown_outcome(point: &str) {
    let mut world = World::builder().dying_at(point).start().await;
    world
        .sandbox
        .set_faults(json!({ "drop_after_commit": 1 }))
        .await;
    dies(&mut world, point).await;
}

#[tokio::test]
async fn a_crash_before_an_unknown_outcome_is_written_makes_the_order_once() {
    dies_with_an_unknown_outcome("unknown").await;
}

#[tokio::test]
async fn a_crash_after_an_unknown_outcome_is_written_makes_the_order_once() {
    dies_with_an_unknown_outcome("suspended").await;
}

#[tokio::test]
async fn a_crash_before_a_release_makes_the_order_once() {
    let builder = World::builder().faulty_links().dying_at("refused");
    let mut world = builder.start().await;
    world.links().to_provider.set(Fault::Refuse).await;
    let key = fresh_key();
    world.client().place(&key, ORDER).await;
    world.origins[0].wait_until_ended().await;
    assert!(world.sandbox.charges().await.is_empty());
    world.links().to_provider.set(Fault::None).await;
    world.origins[0].restart().await;
    let placed = async || world.database.orders().await == 1;
    eventually("the order", LIMIT, placed).await;
    world.assert_orders(1).await;
}

/// Two orders for the last piece; the origin dies at `point` on the way of the second one.
async fn refunds_once(point: &str) {
    let last = ORDER.replace(
        r#""sku":"A1","quantity":2"#,
        r#""sku":"LAST1","quantity":1"#,
    );
    let mut world = World::builder().dying_at(point).start().await;
    let (winner, loser) = (fresh_key(), fresh_key());
    world.client().place(&winner, last.clone()).await;
    let _ = world.client().place(&loser, last.clone()).await;
    world.origins[0].wait_until_ended().await;
    world.origins[0].restart().await;
    let soon = "UPDATE refunds SET next_attempt = now() WHERE refunded_at IS NULL";
    let refunded = async || {
        world.database.execute(soon).await;
        let charges = world.sandbox.charges().await;
        charges
            .iter()
            .filter(|charge| charge.status == "refunded")
            .count()
            == 1
    };
    eventually("the refund", LIMIT, refunded).await;
    let answer = world.client().place_patiently(&loser, last).await;
    answer.assert_problem(409, "out-of-stock");
    assert_eq!(answer.replayed(), Some(true));
    assert_eq!(world.database.stock("LAST1").await, 0);
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_crash_when_the_last_piece_is_gone_refunds_once() {
    refunds_once("sold-out").await;
}

#[tokio::test]
async fn a_crash_before_the_refund_refunds_once() {
    refunds_once("before-refund").await;
}

#[tokio::test]
async fn a_crash_after_the_refund_refunds_once() {
    refunds_once("refund-made").await;
}
