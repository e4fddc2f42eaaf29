//! Keys that nobody sent: optional, and derived from the body.

use crate::call::{BODY, keyless, post};
use serde_json::json;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    world::World,
};

#[tokio::test]
async fn without_an_optional_key_each_request_is_done_and_marked_unprotected() {
    let mut world = World::builder().gateway().start().await;
    for n in 1..=2 {
        let request = keyless(&world.client(), "/optional", &json!([{}]));
        let answer = Answer::to(request).await.expect("an answer");
        assert_eq!(answer.status, 201);
        assert_eq!(answer.header("idempotency-status"), Some("unprotected"));
        assert_eq!(answer.replayed(), None, "{answer:?}");
        assert_eq!(answer.header("idempotency-expires"), None);
        assert_eq!(world.upstream().executions().await, n);
    }
    let arrivals = world.upstream().arrivals().await;
    assert!(arrivals.iter().all(|arrival| arrival.body == BODY));
    assert!(
        arrivals
            .iter()
            .all(|arrival| arrival.values("idempotency-key").is_empty())
    );
    assert_eq!(world.database.records().await, 0);
    // With a key the same route protects.
    let key = fresh_key();
    let first = post(&world.client(), "/optional", &key, &json!([{}])).await;
    let again = post(&world.client(), "/optional", &key, &json!([{}])).await;
    assert_eq!(
        (first.replayed(), again.replayed()),
        (Some(false), Some(true))
    );
    assert_eq!(first.header("idempotency-status"), None);
    assert_eq!(world.upstream().executions().await, 3);
}

#[tokio::test]
async fn a_built_in_operation_runs_without_an_optional_key() {
    let world = World::builder().unsigned().gateway().start().await;
    for client in [world.client(), world.origins[0].client()] {
        let answer = Answer::to(client.keyless(ORDER)).await.expect("an answer");
        assert_eq!(answer.status, 201);
        assert_eq!(answer.header("idempotency-status"), Some("unprotected"));
        assert_eq!(answer.replayed(), None, "{answer:?}");
        let location = answer.header("location").expect("a location");
        assert_eq!(client.get(location).await.status, 200);
    }
    world.assert_orders(2).await;
    let archived = "SELECT count(*) FROM archived_responses";
    assert_eq!(world.database.records().await, 0);
    assert_eq!(world.database.number(archived).await, 0);
    let invalid = Answer::to(world.client().keyless("{}"))
        .await
        .expect("an answer");
    invalid.assert_problem(400, "order-invalid");
    let malformed = world.client().place("a b", ORDER).await;
    malformed.assert_problem(400, "key-malformed");
}

#[tokio::test]
async fn an_unprotected_request_to_nobody_did_nothing() {
    let mut world = World::builder().gateway().start().await;
    world.upstream().kill().await;
    let request = keyless(&world.client(), "/optional", &json!([{}]));
    let answer = Answer::to(request).await.expect("an answer");
    answer.assert_problem(503, "origin-unavailable");
    world.upstream().restart().await;
    let request = keyless(&world.client(), "/optional", &json!([{"cut": "after"}]));
    let answer = Answer::to(request).await.expect("an answer");
    answer.assert_problem(502, "outcome-unknown");
}
