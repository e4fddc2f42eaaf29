//! What follows retention where policy executes again: each execution is a generation of its own.

use std::time::Duration;
use tests::{
    client::{ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};

const EXECUTE_AGAIN: &str = r#"
[[route]]
match = "POST /orders"
operation = "orders"
retention = "1s"
after_retention = "execute"
"#;
const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_released_execution_after_retention_keeps_its_generation() {
    let builder = World::builder().unsigned().faulty_links();
    let mut world = builder.origin_policy(EXECUTE_AGAIN).start().await;
    let (client, key) = (world.origins[0].client(), fresh_key());
    assert_eq!(client.place(&key, ORDER).await.status, 201);
    let expired = async || client.status(&key).await.json()["state"] == "expired";
    eventually("the end of the retention", LIMIT, expired).await;
    world.links().to_provider.set(Fault::Refuse).await;
    let other = ORDER.replace("1250", "99");
    let refused = client.place(&key, other.clone()).await;
    refused.assert_problem(503, "origin-unavailable");
    let of_yesterday = "UPDATE idempotency_records SET lease_end = now() - interval '1 day'";
    world.database.execute(of_yesterday).await;
    // Each start of an origin begins with a round of the reaper.
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    world.links().to_provider.set(Fault::None).await;
    let placed = client.place(&key, other).await;
    placed.assert_executed();
    assert_eq!(placed.json()["amount"], 99);
    world.assert_orders(2).await;
}
