//! Postgres that comes and goes: nothing is executed without it, and nothing must be restarted.

use sqlx::Executor;
use std::time::{Duration, Instant};
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn without_postgres_nothing_is_executed_and_with_it_again_all_is_well() {
    let (mut world, key) = (World::builder().own_postgres().start().await, fresh_key());
    let client = world.client();
    let before = client.place(&key, ORDER).await;
    world.postgres().stop().await;
    for key in [&fresh_key(), &fresh_key()] {
        let asked = Instant::now();
        client
            .place(key, ORDER)
            .await
            .assert_problem(503, "store-unavailable");
        assert!(
            asked.elapsed() < Duration::from_secs(5),
            "{:?}",
            asked.elapsed()
        );
    }
    assert_eq!(world.sandbox.charges().await.len(), 1);
    assert_eq!(world.origins[0].client().get("/healthz").await.status, 200);
    world.origins[0]
        .client()
        .get("/readyz")
        .await
        .assert_problem(503, "store-unavailable");
    world.postgres().start_again().await;
    let after = client.place(&fresh_key(), ORDER).await;
    after.assert_executed();
    assert_eq!(client.place(&key, ORDER).await.lasting(), before.lasting());
    world.assert_orders(2).await;
}

#[tokio::test]
async fn connections_that_break_during_the_charge_cost_nothing() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    let place = world.begin_order(&key, 1_000).await;
    world.links().to_store.cut().await;
    let placed = place.await.expect("no panic").expect("an answer");
    placed.assert_executed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_store_that_is_away_when_the_charge_ends_finishes_it_later() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    let place = world.begin_order(&key, 500).await;
    world.links().to_store.set(Fault::Refuse).await;
    eventually("the charge", LIMIT, async || {
        world.sandbox.charges().await.len() == 1
    })
    .await;
    let finishing_again = async || world.origins[0].log().contains("finishing again");
    eventually("a finish that is tried again", LIMIT, finishing_again).await;
    world.links().to_store.set(Fault::None).await;
    let answer = place.await.expect("no panic").expect("an answer");
    assert!(matches!(answer.status, 201 | 502), "{answer:?}");
    eventually("the order", Duration::from_secs(30), async || {
        world.database.orders().await == 1
    })
    .await;
    let retry = world.client().place_patiently(&key, ORDER).await;
    assert_eq!(retry.status, 201, "{retry:?}");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_origin_that_starts_before_its_store_is_ready_when_the_schema_is() {
    let (mut world, key) = (World::builder().faulty_links().start().await, fresh_key());
    world.origins[0].kill().await;
    world.database.execute("DROP SCHEMA public CASCADE").await;
    world.database.execute("CREATE SCHEMA public").await;
    world.links().to_store.set(Fault::Refuse).await;
    world.origins[0].begin_restart();
    let origin = world.origins[0].client();
    let alive = async || origin.is_up().await;
    eventually("an origin without a store", LIMIT, alive).await;
    origin
        .get("/readyz")
        .await
        .assert_problem(503, "store-unavailable");
    world
        .client()
        .place(&key, ORDER)
        .await
        .assert_problem(503, "store-unavailable");
    world.links().to_store.set(Fault::None).await;
    world.origins[0].wait_until_ready().await;
    assert_eq!(world.client().place(&key, ORDER).await.status, 201);
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_store_that_falls_silent_is_given_up_and_found_again() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    world.client().place(&fresh_key(), ORDER).await;
    world.links().to_store.set(Fault::Blackhole).await;
    let asked = Instant::now();
    let unanswered = world.client().place(&key, ORDER).await;
    assert!(matches!(unanswered.status, 502 | 503), "{unanswered:?}");
    world
        .client()
        .place(&fresh_key(), ORDER)
        .await
        .assert_problem(503, "store-unavailable");
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(14), "{took:?}");
    assert_eq!(world.sandbox.charges().await.len(), 1);
    world.links().to_store.set(Fault::None).await;
    let placed = async || world.client().place(&key, ORDER).await.status == 201;
    eventually("an order after the silence", LIMIT, placed).await;
    world.assert_orders(2).await;
}

/// The insert arrives and its answer is lost, and so is every later attempt to ask: what was
/// claimed is run by the completer, so that "nothing was executed" would be a lie.
#[tokio::test]
async fn a_claim_whose_answer_is_lost_is_unknown_and_ends_without_its_client() {
    let world = World::builder().faulty_links().lease_seconds(3);
    let (world, key) = (world.start().await, fresh_key());
    let mut session = world.database.session().await;
    for statement in [
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
         AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'",
        "CREATE TRIGGER wait BEFORE INSERT ON idempotency_records
         FOR EACH ROW EXECUTE FUNCTION wait()",
        "SELECT pg_advisory_lock(1)",
    ] {
        session.execute(statement).await.expect(statement);
    }
    let place = tokio::spawn(Answer::to(world.client().order(&key, ORDER)));
    world
        .database
        .wait_for_a_lock("INSERT INTO idempotency_records")
        .await;
    world.links().to_store.set(Fault::DropAfterRequest).await;
    let unlock = "SELECT pg_advisory_unlock(1)";
    session.execute(unlock).await.expect(unlock);
    let lost = place.await.expect("no panic").expect("an answer");
    lost.assert_problem(502, "outcome-unknown");
    assert_eq!(world.database.records().await, 1);
    assert_eq!(world.sandbox.charges().await.len(), 0);
    world.links().to_store.set(Fault::None).await;
    let ordered = async || world.database.orders().await == 1;
    eventually("the order", LIMIT, ordered).await;
    let retry = world.client().place_patiently(&key, ORDER).await;
    retry.assert_replayed();
    world.assert_orders(1).await;
}
