//! What the origin asks of Postgres, and what Postgres promises: waiting inserts, lost commits, few
//! connections, nothing left open.

use crate::crowd::{Crowd, in_a_second};
use futures_util::future::join_all;
use sqlx::{Executor, PgConnection};
use std::time::Duration;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    eventually::eventually,
    fault_proxy::Fault,
    world::World,
};
use tokio::{task::JoinHandle, time::timeout};

const LIMIT: Duration = Duration::from_secs(10);
const IN_TRANSACTION: &str = "
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'";

/// Asks at an origin that remembers nothing while `session` is inserting the record.
async fn asked_during_the_insert(
    world: &mut World,
    session: &mut PgConnection,
    key: &str,
) -> JoinHandle<Answer> {
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    for statement in [
        "DELETE FROM idempotency_records",
        "BEGIN",
        "INSERT INTO idempotency_records TABLE kept",
    ] {
        session.execute(statement).await.expect(statement);
    }
    let (client, key) = (world.origins[0].client(), key.to_owned());
    let asked = tokio::spawn(async move { client.place(&key, ORDER).await });
    world
        .database
        .wait_for_a_lock("INSERT INTO idempotency_records")
        .await;
    asked
}

/// CASES C53: the insert waits for one under way and a separate statement reads how it ended.
#[tokio::test]
async fn a_claim_waits_for_an_insert_under_way_and_sees_how_it_ends() {
    let (mut world, key) = (World::builder().unsigned().start().await, fresh_key());
    let first = world.origins[0].client().place(&key, ORDER).await;
    let mut session = world.database.session().await;
    let keep = "CREATE TEMPORARY TABLE kept AS TABLE idempotency_records";
    session.execute(keep).await.expect(keep);

    let asked = asked_during_the_insert(&mut world, &mut session, &key).await;
    session.execute("COMMIT").await.expect("a commit");
    let committed = asked.await.expect("no panic");
    committed.assert_replayed();
    assert_eq!(committed.lasting(), first.lasting());

    let asked = asked_during_the_insert(&mut world, &mut session, &key).await;
    session.execute("ROLLBACK").await.expect("a rollback");
    // The key is free, but its order is there: the last line of defence.
    let rolled_back = asked.await.expect("no panic");
    assert_eq!(
        (rolled_back.status, rolled_back.problem().as_str()),
        (410, "key-expired")
    );
    assert_eq!(rolled_back.header("location"), first.header("location"));
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_read_from_its_row() {
    let (world, key) = (World::builder().faulty_links().start().await, fresh_key());
    let mut session = world.database.session().await;
    for statement in ["BEGIN", "SELECT FROM inventory FOR UPDATE"] {
        session.execute(statement).await.expect(statement);
    }
    let place = tokio::spawn(Answer::to(world.client().order(&key, ORDER)));
    world.database.wait_for_a_lock("UPDATE inventory").await;
    world.links().to_store.set(Fault::DropAfterRequest).await;
    session.execute("COMMIT").await.expect("a commit");
    let committed = async || world.database.orders().await == 1;
    eventually("the commit", LIMIT, committed).await;
    world.links().to_store.set(Fault::None).await;
    let answer = place.await.expect("no panic").expect("an answer");
    answer.assert_executed();
    let again = world.client().place(&key, ORDER).await;
    assert_eq!(again.lasting(), answer.lasting());
    world.assert_orders(1).await;
}

/// CASES C55: conflicting claims burn no number that could run out, and leave nothing.
#[tokio::test]
async fn no_claim_takes_a_number_from_a_sequence() {
    let (world, key) = (World::builder().unsigned().start().await, fresh_key());
    let client = world.origins[0].client();
    client.place(&key, ORDER).await.assert_executed();
    join_all((0..100).map(|_| client.place(&key, ORDER))).await;
    let from_sequences = "
        SELECT count(*) FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
        WHERE d.refobjid = 'idempotency_records'::regclass";
    assert_eq!(world.database.number(from_sequences).await, 0);
    assert_eq!(world.database.records().await, 1);
}

/// CASES C56: a NULL in a unique constraint lets any number of rows in.
#[tokio::test]
async fn a_row_without_a_scope_is_refused() {
    let (world, key) = (World::start().await, fresh_key());
    world.client().place(&key, ORDER).await.assert_executed();
    let mut session = world.database.session().await;
    for update in [
        "UPDATE idempotency_records SET scope = NULL",
        "UPDATE archived_responses SET scope = NULL",
        "UPDATE orders SET scope = NULL",
    ] {
        let refused = session.execute(update).await.expect_err(update);
        let code = refused
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code);
        assert_eq!(code.as_deref(), Some("23502"), "{update}");
    }
}

/// CASES C58: no connection is held while the provider works.
#[tokio::test]
async fn forty_slow_charges_on_five_connections_hold_up_nobody() {
    let world = World::builder().database_connections(5).start().await;
    let crowd = Crowd::start(&world, 40).await;
    crowd.assert_holds_up_nobody(&world.client()).await;
    let health = in_a_second("health", world.origins[0].client().get("/readyz")).await;
    assert_eq!(health.status, 200);
    assert_eq!(world.database.number(IN_TRANSACTION).await, 0);
    crowd.assert_ends().await;
    world.assert_orders(42).await;
}

/// CASES C60: whoever leaves in the middle of a statement leaves no transaction to the next one.
#[tokio::test]
async fn clients_that_leave_within_a_statement_leave_nothing_open() {
    let world = World::builder().unsigned().database_connections(1);
    let world = world.start().await;
    let client = world.origins[0].client();
    let leaves = async |client: &Client, n: u64| {
        let read = client.get("/orders/none");
        let place = client.place_patiently("one-key-for-all", ORDER);
        let after = Duration::from_micros(n * 20);
        let _ = tokio::join!(timeout(after, read), timeout(after, place));
    };
    for n in 0..100 {
        leaves(&client, n).await;
    }
    let (kept, key) = (world.database.records().await, fresh_key());
    client.place(&key, ORDER).await.assert_executed();
    assert_eq!(world.database.records().await, kept.max(1) + 1);
    assert_eq!(world.database.number(IN_TRANSACTION).await, 0);
    let log = world.origins[0].log();
    assert!(!log.contains("transaction in progress"), "{log}");
}

/// CASES C16: a panic is one more way for an attempt to end, and it holds no key for ever.
#[tokio::test]
async fn a_panic_in_an_operation_is_unknown_and_ends_without_its_client() {
    for point in ["claimed", "charged"] {
        let (world, key) = (
            World::builder().panicking_at(point).start().await,
            fresh_key(),
        );
        let unknown = world.client().place(&key, ORDER).await;
        unknown.assert_problem(502, "outcome-unknown");
        let placed = async || world.database.orders().await == 1;
        eventually("the order", LIMIT, placed).await;
        let answer = world.client().place_patiently(&key, ORDER).await;
        answer.assert_replayed();
        world.assert_orders(1).await;
    }
}
