//! A client that follows `Retry-After` and `retryable` reaches the one right answer, whatever fails.

use serde_json::json;
use std::time::Duration;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    fault_proxy::Fault,
    persistent::insist,
    world::World,
};
use tokio::{task::JoinHandle, time::sleep};

fn place(world: &World, key: &str) -> JoinHandle<Answer> {
    tokio::spawn(insist(world.client().order(key, ORDER)))
}

async fn ends(placed: JoinHandle<Answer>, world: &World, key: &str) {
    let answer = placed.await.expect("a final answer");
    assert_eq!(answer.status, 201, "{answer:?}");
    let again = insist(world.client().order(key, ORDER)).await;
    assert_eq!((again.status, again.body), (201, answer.body));
    world.assert_orders(1).await;
}

#[tokio::test]
async fn it_reaches_the_order_through_every_fault_of_the_provider() {
    for faults in [
        json!({ "drop_after_commit": 1 }),
        json!({ "drop_before_commit": 2 }),
        json!({ "error_500": 3 }),
        json!({ "delay_ms": 2_000 }),
        json!({ "drop_after_commit": 1, "error_500": 1, "delay_ms": 500 }),
    ] {
        let (world, key) = (World::start().await, fresh_key());
        world.sandbox.set_faults(faults).await;
        ends(place(&world, &key), &world, &key).await;
    }
}

#[tokio::test]
async fn it_stops_where_an_answer_is_final() {
    let world = World::start().await;
    let declined = ORDER.replace("acct_1", "acct_declined");
    let refused = insist(world.client().order(&fresh_key(), declined)).await;
    refused.assert_problem(402, "card-declined");
    let key = fresh_key();
    insist(world.client().order(&key, ORDER)).await;
    let other = insist(world.client().order(&key, "{}")).await;
    other.assert_problem(422, "key-reused");
    let invalid = insist(world.client().order(&fresh_key(), "{}")).await;
    invalid.assert_problem(400, "order-invalid");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn it_reaches_the_order_while_each_link_breaks_and_heals() {
    let world = World::builder().faulty_links().start().await;
    let mut orders = 0;
    for link in 0..3 {
        for fault in [Fault::Refuse, Fault::DropAfterRequest, Fault::Blackhole] {
            let links = world.links();
            let link = [&links.to_origin, &links.to_store, &links.to_provider][link];
            link.set(fault).await;
            let placed = place(&world, &fresh_key());
            sleep(Duration::from_secs(2)).await;
            link.set(Fault::None).await;
            link.cut().await;
            let answer = placed.await.expect("a final answer");
            assert_eq!(answer.status, 201, "{answer:?}");
            orders += 1;
        }
    }
    world.assert_orders(orders).await;
}

#[tokio::test]
async fn it_reaches_the_order_while_the_origin_dies_at_each_step() {
    for point in [
        "claimed",
        "before-charge",
        "charged",
        "performed",
        "finished",
    ] {
        let builder = World::builder().dying_at(point);
        let (mut world, key) = (builder.start().await, fresh_key());
        let placed = place(&world, &key);
        world.origins[0].wait_until_ended().await;
        world.origins[0].restart().await;
        ends(placed, &world, &key).await;
    }
}

#[tokio::test]
async fn it_reaches_the_order_while_the_edge_dies() {
    let (mut world, key) = (World::start().await, fresh_key());
    world.sandbox.delay(2_000).await;
    let placed = place(&world, &key);
    let charging = async || world.sandbox.is_busy().await;
    tests::eventually::eventually("the charge", Duration::from_secs(10), charging).await;
    world.edges[0].kill();
    world.edges[0].restart().await;
    ends(placed, &world, &key).await;
}
