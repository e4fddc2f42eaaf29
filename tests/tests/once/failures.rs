//! Parts that die, and the way between edge and origin.

use std::time::Duration;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};

/// The 503 for an order whose origin takes no connection. For some milliseconds after an answer of
/// the origin the edge says 502, because it can't tell a refused connection from a cut one then.
async fn refused(client: &Client, key: &str) -> Answer {
    let is_certain = async || match client.place(key, ORDER).await {
        unknown if unknown.status == 502 => false,
        refused => {
            refused.assert_problem(503, "origin-unavailable");
            true
        }
    };
    eventually("a 503", Duration::from_secs(5), is_certain).await;
    client.place(key, ORDER).await
}

#[tokio::test]
async fn an_origin_killed_after_its_answer_replays_it_when_it_is_back() {
    let (mut world, key) = (World::start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    world.origins[0].kill().await;
    // The edge still replays what it has seen; nothing else can be answered.
    assert_eq!(
        world.client().place(&key, ORDER).await.lasting(),
        first.lasting()
    );
    refused(&world.client(), &fresh_key()).await;
    world.edges[0].kill();
    world.origins[0].restart().await;
    world.edges[0].restart().await;
    let retry = world.client().place(&key, ORDER).await;
    assert_eq!(
        (retry.lasting(), retry.replayed()),
        (first.lasting(), Some(true))
    );
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_edge_that_was_restarted_replays_what_the_origin_knows() {
    let (mut world, key) = (World::start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    world.edges[0].kill();
    world.edges[0].restart().await;
    let retry = world.client().place(&key, ORDER).await;
    assert_eq!(
        (retry.lasting(), retry.replayed()),
        (first.lasting(), Some(true))
    );
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_edge_killed_while_its_origin_works_costs_only_its_own_answer() {
    let (mut world, key) = (World::start().await, fresh_key());
    let place = world.begin_order(&key, 1_000).await;
    world.edges[0].kill();
    assert!(
        place.await.expect("no panic").is_err(),
        "the connection to the edge is cut"
    );
    world.edges[0].restart().await;
    let retry = world.client().place_patiently(&key, ORDER).await;
    retry.assert_replayed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_origin_that_takes_no_connection_is_503_and_nothing_is_executed() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    world.links().to_origin.set(Fault::Refuse).await;
    let refused = refused(&world.client(), &key).await;
    assert_eq!(refused.json()["source"], "edge");
    assert_eq!(world.database.records().await, 0);
    world.links().to_origin.set(Fault::None).await;
    let retry = world.client().place(&key, ORDER).await;
    retry.assert_executed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_request_that_was_sent_and_not_answered_is_unknown_and_then_replayed() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    world.links().to_origin.set(Fault::DropAfterRequest).await;
    let cut = world.client().place(&key, ORDER).await;
    cut.assert_problem(502, "outcome-unknown");
    assert_eq!(cut.json()["source"], "edge");
    world.links().to_origin.set(Fault::None).await;
    let retry = world.client().place_patiently(&key, ORDER).await;
    retry.assert_replayed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_origin_that_is_asked_to_end_lets_its_orders_end() {
    let (mut world, key) = (World::start().await, fresh_key());
    let place = world.begin_order(&key, 1_000).await;
    world.origins[0].terminate().await;
    let placed = place.await.expect("no panic").expect("an answer");
    placed.assert_executed();
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
}
