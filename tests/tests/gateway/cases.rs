//! The cases that a cache of responses gets wrong (DESIGN section 1), each by its name, for an
//! upstream. Case 3, a crash between the effect and its event, is the upstream's own affair; what
//! remains of it here is a crash between the effect and its archive.

use crate::call::{SETTLED, arrived, ended, keyless, post, post_patiently, request};
use serde_json::json;
use tests::{answer::Answer, client::fresh_key, eventually::eventually, world::World};

#[tokio::test]
async fn case_1_completed_replay() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{"body": "first"}, {"body": "second"}]);
    let first = post(&world.client(), "/resend", &key, &behaves).await;
    let again = post(&world.client(), "/resend", &key, &behaves).await;
    assert_eq!(
        (first.replayed(), again.replayed()),
        (Some(false), Some(true))
    );
    assert_eq!(again.body, b"first");
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn case_2_concurrent_retry() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{"delay": 1_000}]);
    let requests = (0..10).map(|_| {
        let request = request(&world.client(), "/hold", &key, &behaves);
        tokio::spawn(Answer::to(request.header("prefer", "wait=10")))
    });
    let mut firsts = 0;
    for request in requests.collect::<Vec<_>>() {
        let answer = request.await.expect("no panic").expect("an answer");
        assert_eq!(answer.status, 201, "{answer:?}");
        firsts += usize::from(answer.replayed() == Some(false));
    }
    assert_eq!(firsts, 1);
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn case_3_partial_local_success() {
    let builder = World::builder().gateway().dying_at("forwarded");
    let (mut world, key) = (builder.start().await, fresh_key());
    let behaves = json!([{}]);
    let cut = post(&world.client(), "/resend", &key, &behaves).await;
    assert_eq!(cut.status, 502, "{cut:?}");
    world.origins[0].wait_until_ended().await;
    world.origins[0].restart().await;
    // Nobody asks: the completer opens what the dead process has sealed.
    ended(&world, &key).await;
    let truth = post(&world.client(), "/resend", &key, &behaves).await;
    assert_eq!((truth.status, truth.replayed()), (201, Some(true)));
    assert_eq!(world.upstream().executions().await, 1);
    assert_eq!(world.database.records().await, 1);
}

#[tokio::test]
async fn case_4_unknown_downstream_state() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{"cut": "after"}, {}]);
    let unknown = post(&world.client(), "/resend", &key, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    let truth = post_patiently(&world.client(), "/resend", &key, &behaves).await;
    assert_eq!(truth.status, 201, "{truth:?}");
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn case_5_same_key_different_command() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{"delay": 1_000}]);
    let first = tokio::spawn(Answer::to(request(
        &world.client(),
        "/hold",
        &key,
        &behaves,
    )));
    arrived(&mut world, 1).await;
    let other = || request(&world.client(), "/hold", &key, &behaves).body("{}");
    let refused = Answer::to(other()).await.expect("an answer");
    refused.assert_problem(422, "key-reused");
    assert_eq!(
        first.await.expect("no panic").expect("an answer").status,
        201
    );
    let refused = Answer::to(other()).await.expect("an answer");
    refused.assert_problem(422, "key-reused");
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn case_6_retry_after_expiry() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{}]);
    let first = post(&world.client(), "/short", &key, &behaves).await;
    let over = async || post(&world.client(), "/short", &key, &behaves).await.status != 201;
    eventually("the end of the retention", SETTLED, over).await;
    let retry = post(&world.client(), "/short", &key, &behaves).await;
    retry.assert_problem(410, "key-expired");
    assert_eq!(retry.header("location"), first.header("location"));
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn case_7_retry_after_a_deploy() {
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    let behaves = json!([{"headers": [["Set-Cookie", "a=1"], ["X-Latin-1", "\u{e4}"]]}]);
    let first = post(&world.client(), "/hold", &key, &behaves).await;
    world.edges[0].kill();
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    world.edges[0].restart().await;
    let retry = post(&world.client(), "/hold", &key, &behaves).await;
    assert_eq!((retry.status, retry.replayed()), (201, Some(true)));
    assert_eq!(retry.body, first.body);
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn case_8_retry_after_a_region_failover() {
    let builder = World::builder().gateway().edges(2).origins(2);
    let (mut world, key) = (builder.start().await, fresh_key());
    let behaves = json!([{}]);
    let first = post(&world.client(), "/hold", &key, &behaves).await;
    world.edges[0].kill();
    world.origins[0].kill().await;
    let elsewhere = world.edges[1].client();
    let retry = post(&elsewhere, "/hold", &key, &behaves).await;
    assert_eq!((retry.status, retry.replayed()), (201, Some(true)));
    assert_eq!(retry.body, first.body);
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn case_9_the_same_operation_with_no_key() {
    let mut world = World::builder().gateway().start().await;
    let client = world.client();
    let behaves = json!([{}]);
    let send = async |body: &'static str| {
        let request = keyless(&client, "/derived", &behaves).body(body);
        Answer::to(request).await.expect("an answer")
    };
    let first = send(r#"{"merchantReference":"m-1","amount":1}"#).await;
    let again = send(r#"{"amount":1.0,"merchantReference":"m-1"}"#).await;
    assert_eq!(
        (first.replayed(), again.replayed()),
        (Some(false), Some(true))
    );
    assert_eq!(first.body, again.body);
    let changed = send(r#"{"merchantReference":"m-1","amount":2}"#).await;
    changed.assert_problem(422, "key-reused");
    let other = send(r#"{"merchantReference":"m-2","amount":1}"#).await;
    assert_eq!((other.status, other.replayed()), (201, Some(false)));
    send("{}").await.assert_problem(400, "key-missing");
    assert_eq!(world.upstream().executions().await, 2);
    ended_all(&world).await;
}

/// Nothing is left under way.
async fn ended_all(world: &World) {
    let pending = "SELECT count(*) FROM idempotency_records WHERE state = 'pending'";
    assert_eq!(world.database.number(pending).await, 0);
    let sent = fresh_key();
    post(&world.client(), "/hold", &sent, &json!([{}])).await;
    ended(world, &sent).await;
}
