//! The relay: events leave the outbox at least once, in order per order, signed.

use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    client::{ORDER, fresh_key},
    eventually::eventually,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(15);

/// Deliveries that were taken with success, as `CloudEvents`.
async fn taken(world: &World) -> Vec<Value> {
    let deliveries = world.sandbox.deliveries().await.into_iter();
    let taken = deliveries.filter(|delivery| delivery["status"] == 200);
    taken.map(|delivery| event(&delivery)).collect()
}

fn event(delivery: &Value) -> Value {
    let body = delivery["body"].as_str().expect("a body of text");
    serde_json::from_str(body).expect("a CloudEvent")
}

#[tokio::test]
async fn both_events_of_an_order_reach_the_webhook_in_their_order() {
    let world = World::start().await;
    let order = world.client().place(&fresh_key(), ORDER).await.json();
    eventually("two deliveries", LIMIT, async || {
        taken(&world).await.len() == 2
    })
    .await;
    let events = taken(&world).await;
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str()).collect();
    assert_eq!(types, [Some("payment.succeeded"), Some("order.created")]);
    assert_eq!(events[1]["data"], order);
    assert_eq!(events[0]["data"]["charge_id"], order["charge_id"]);
    for event in &events {
        assert_eq!(
            (&event["specversion"], &event["subject"]),
            (&"1.0".into(), &order["id"])
        );
    }
    let unsent = "SELECT count(*) FROM outbox WHERE published_at IS NULL";
    let published = async || world.database.number(unsent).await == 0;
    eventually("an outbox without unsent events", LIMIT, published).await;
}

#[tokio::test]
async fn a_delivery_is_signed_and_names_its_event_as_its_key() {
    let world = World::start().await;
    world.client().place(&fresh_key(), ORDER).await;
    eventually("two deliveries", LIMIT, async || {
        taken(&world).await.len() == 2
    })
    .await;
    for delivery in world.sandbox.deliveries().await {
        let (headers, event) = (&delivery["headers"], event(&delivery));
        assert_eq!(headers["webhook-id"], event["id"]);
        assert_eq!(headers["idempotency-key"], event["id"]);
        assert_eq!(headers["content-type"], "application/cloudevents+json");
        assert!(
            headers["webhook-signature"]
                .as_str()
                .is_some_and(|v| v.starts_with("v1,"))
        );
        assert!(
            headers["webhook-timestamp"]
                .as_str()
                .is_some_and(|t| t.parse::<u64>().is_ok())
        );
    }
}

#[tokio::test]
async fn an_event_that_was_not_taken_is_sent_again_before_the_next_one() {
    let world = World::start().await;
    world.sandbox.set_faults(json!({ "webhook_500": 2 })).await;
    world.client().place(&fresh_key(), ORDER).await;
    eventually("two deliveries", LIMIT, async || {
        taken(&world).await.len() == 2
    })
    .await;
    let deliveries = world.sandbox.deliveries().await;
    let types: Vec<_> = deliveries
        .iter()
        .map(|delivery| event(delivery)["type"].clone())
        .collect();
    let payment = "payment.succeeded";
    assert_eq!(types, [payment, payment, payment, "order.created"]);
    let ids: Vec<_> = deliveries[..3]
        .iter()
        .map(|delivery| event(delivery)["id"].clone())
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn two_origins_publish_each_event_once_while_nothing_fails() {
    let world = World::builder().origins(2).start().await;
    for _ in 0..5 {
        world.client().place(&fresh_key(), ORDER).await;
    }
    eventually("all deliveries", LIMIT, async || {
        taken(&world).await.len() >= 10
    })
    .await;
    let mut ids: Vec<_> = taken(&world)
        .await
        .iter()
        .map(|event| event["id"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), taken(&world).await.len()), (10, 10));
}
