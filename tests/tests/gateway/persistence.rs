//! A client that follows `Retry-After` and `retryable` reaches an upstream's one answer.

use crate::call::request;
use serde_json::{Value, json};
use std::time::Duration;
use tests::{client::fresh_key, eventually::eventually, persistent::insist, world::World};

#[tokio::test]
async fn it_reaches_the_answer_through_every_fault_of_the_upstream() {
    let mut world = World::builder().gateway().start().await;
    let again =
        |status: u16| json!({"status": status, "headers": [["Retry-After", "1"]], "refuses": true});
    let scenarios: [(&str, Value); 8] = [
        ("/resend", json!([{"cut": "before"}, {}])),
        ("/resend", json!([{"cut": "after"}, {}])),
        ("/resend", json!([{"broken": 3}, {}])),
        (
            "/resend",
            json!([{"status": 500, "refuses": true}, {"status": 504, "refuses": true}, {}]),
        ),
        ("/resend", json!([again(503), again(429), {}])),
        (
            "/resend",
            json!([{"cut": "after"}, again(429), {"cut": "before"}, {}]),
        ),
        ("/hasty", json!([{"delay": 1_000}, {}])),
        ("/hold", json!([again(503), {}])),
    ];
    let mut executions = 0;
    for (path, behaves) in scenarios {
        let key = fresh_key();
        let answer = insist(request(&world.client(), path, &key, &behaves)).await;
        assert_eq!(answer.status, 201, "{behaves}: {answer:?}");
        executions += 1;
        assert_eq!(world.upstream().executions().await, executions, "{behaves}");
        let past = insist(request(&world.client(), path, &key, &behaves)).await;
        assert_eq!((past.status, past.replayed()), (201, Some(true)));
    }
}

#[tokio::test]
async fn it_reaches_the_answer_while_upstream_and_origin_die() {
    for point in [
        "claimed",
        "before-forward",
        "forwarded",
        "performed",
        "finished",
    ] {
        let builder = World::builder().gateway().dying_at(point);
        let (mut world, key) = (builder.start().await, fresh_key());
        let behaves = json!([{}]);
        let sent = insist(request(&world.client(), "/resend", &key, &behaves));
        let sent = tokio::spawn(sent);
        world.origins[0].wait_until_ended().await;
        world.origins[0].restart().await;
        let answer = sent.await.expect("a final answer");
        assert_eq!(answer.status, 201, "{point}: {answer:?}");
        assert_eq!(world.upstream().executions().await, 1, "{point}");
        assert_eq!(world.database.records().await, 1, "{point}");
    }
    let (mut world, key) = (World::builder().gateway().start().await, fresh_key());
    world.upstream().kill().await;
    let sent = insist(request(&world.client(), "/hold", &key, &json!([{}])));
    let sent = tokio::spawn(sent);
    let tried = "SELECT count(*) FROM idempotency_records WHERE state = 'released'";
    let tried = async || world.database.number(tried).await == 1;
    eventually("a first try", Duration::from_secs(10), tried).await;
    world.upstream().restart().await;
    assert_eq!(sent.await.expect("a final answer").status, 201);
}
