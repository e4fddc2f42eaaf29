//! Retention and what follows it, to the instant, whoever asks at the same time.

use crate::call::{SETTLED, post};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{answer::Answer, client::fresh_key, eventually::eventually, world::World};

const LOOK: &str = "SELECT generation::bigint FROM idempotency_records";

/// Asks from all sides for so long; all answers, in the order of their arrival.
async fn storm(world: &World, path: &'static str, key: &str, lasts: Duration) -> Vec<Answer> {
    let until = Instant::now() + lasts;
    let clients = world.edges.iter().map(tests::edge::Edge::client);
    let clients = clients.chain(world.origins.iter().map(tests::origin::Origin::client));
    let askers = clients.flat_map(|client| [client.clone(), client.clone(), client]);
    let askers: Vec<_> = askers
        .map(|client| {
            let key = key.to_owned();
            tokio::spawn(async move {
                let mut answers = Vec::new();
                while Instant::now() < until {
                    answers.push(post(&client, path, &key, &json!([{}])).await);
                }
                answers
            })
        })
        .collect();
    let mut answers = Vec::new();
    for asker in askers {
        answers.extend(asker.await.expect("no panic"));
    }
    answers
}

fn firsts(answers: &[Answer]) -> usize {
    let firsts = answers
        .iter()
        .filter(|answer| answer.replayed() == Some(false));
    firsts.count()
}

#[tokio::test]
async fn a_key_executes_again_once_each_time_its_tombstone_ends() {
    let builder = World::builder().unsigned().gateway().edges(2).origins(2);
    let (mut world, key) = (builder.start().await, fresh_key());
    let answers = storm(&world, "/forgotten", &key, Duration::from_secs(7)).await;
    let executions = world.upstream().executions().await;
    assert!(
        executions >= 3,
        "{executions} executions in 7 s of 2 s each"
    );
    assert_eq!(firsts(&answers) as u64, executions);
    let generation = world.database.number(LOOK).await;
    assert_eq!(generation.unsigned_abs(), executions);
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    assert!(
        statuses
            .iter()
            .all(|status| [201, 409, 410].contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.contains(&410), "between retention and tombstone");
}

#[tokio::test]
async fn each_execution_after_retention_is_one_however_many_ask() {
    let builder = World::builder().unsigned().gateway().edges(2).origins(2);
    let (mut world, key) = (builder.start().await, fresh_key());
    let answers = storm(&world, "/again", &key, Duration::from_secs(5)).await;
    let executions = world.upstream().executions().await;
    assert!(
        executions >= 3,
        "{executions} executions in 5 s of 1 s each"
    );
    assert_eq!(firsts(&answers) as u64, executions);
    let arrivals = world.upstream().arrivals().await;
    assert_eq!(arrivals.len() as u64, executions, "none was sent twice");
}

#[tokio::test]
async fn a_tombstone_that_has_ended_is_forgotten_and_deleted() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    post(&client, "/forgotten", &key, &json!([{}])).await;
    let other = fresh_key();
    post(&client, "/short", &other, &json!([{}])).await;
    let forgotten = async || client.status(&key).await.status == 404;
    eventually("the tombstone's end", SETTLED, forgotten).await;
    let expired = async || client.status(&other).await.json()["state"] == "expired";
    eventually("the other's end", SETTLED, expired).await;
    // Each start of an origin begins with a round of the reaper.
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    let left = async || world.database.records().await == 1;
    eventually("the deletion", SETTLED, left).await;
    assert_eq!(client.status(&other).await.json()["state"], "expired");
}

#[tokio::test]
async fn partitions_of_the_archive_are_made_ahead_and_dropped_behind() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    post(&client, "/short", &key, &json!([{}])).await;
    let partitions = "SELECT count(*) FROM pg_inherits
        WHERE inhparent = 'archived_responses'::regclass";
    let ahead = async || world.database.number(partitions).await == 10;
    eventually("today, eight days and the default", SETTLED, ahead).await;
    let in_default = "SELECT count(*) FROM archived_responses_default";
    assert_eq!(world.database.number(in_default).await, 0);
    world
        .database
        .execute(
            "CREATE TABLE archived_responses_20200101 PARTITION OF archived_responses
             FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')",
        )
        .await;
    let behind = "SELECT count(*) FROM pg_class WHERE relname = 'archived_responses_20200101'";
    assert_eq!(world.database.number(behind).await, 1);
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    let dropped = async || world.database.number(behind).await == 0;
    eventually("the drop", SETTLED, dropped).await;
}
