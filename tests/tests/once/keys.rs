//! The key's header: which keys there are, and which two are one.

use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    world::World,
};

async fn place(client: &Client, key: &[u8]) -> Answer {
    let request = client.keyless(ORDER).header("idempotency-key", key);
    Answer::to(request).await.expect("an answer")
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_before_anything_is_taken() {
    let world = World::builder().unsigned().start().await;
    let malformed: [&[u8]; 11] = [
        b"",
        b"\"\"",
        b"a b",
        b"a, b",
        b"\"open",
        b"\"a\";v=1",
        "cl\u{e9}".as_bytes(),
        b"latin-1 \xe9",
        &[b'k'; 256],
        &[b'f'; 300],
        &[b'f'; 8_000],
    ];
    for client in [world.client(), world.origins[0].client()] {
        let keyless = Answer::to(client.keyless(ORDER)).await.expect("an answer");
        keyless.assert_problem(400, "key-missing");
        for key in malformed {
            place(&client, key)
                .await
                .assert_problem(400, "key-malformed");
        }
    }
    assert_eq!(world.database.records().await, 0);
    assert_eq!(world.sandbox.calls().await.len(), 0);
}

#[tokio::test]
async fn two_lines_are_no_key_even_when_they_are_equal() {
    let world = World::builder().unsigned().start().await;
    for client in [world.client(), world.origins[0].client()] {
        for (one, other) in [("a", "b"), ("a", "a"), ("\"a", "b\""), ("", "a")] {
            let request = client.order(one, ORDER).header("idempotency-key", other);
            let answer = Answer::to(request).await.expect("an answer");
            answer.assert_problem(400, "key-malformed");
        }
    }
    assert_eq!(world.database.records().await, 0);
}

#[tokio::test]
async fn quoted_and_bare_are_one_key_and_case_makes_two() {
    let (world, key) = (World::start().await, format!("Key-{}", fresh_key()));
    let client = world.client();
    let bare = client.place(&key, ORDER).await;
    let quoted = client.place(&format!("\"{key}\""), ORDER).await;
    assert_eq!(
        (quoted.lasting(), quoted.replayed()),
        (bare.lasting(), Some(true))
    );
    let lower = client.place(&key.to_lowercase(), ORDER).await;
    assert_eq!(lower.replayed(), Some(false));
    world.assert_orders(2).await;
}

#[tokio::test]
async fn the_longest_key_works_and_is_stored_nowhere() {
    let mut world = World::start().await;
    let key = format!("secret-{}", "k".repeat(248));
    assert_eq!(world.client().place(&key, ORDER).await.status, 201);
    world.edges[0].kill();
    world.edges[0].restart().await;
    assert_eq!(
        world.client().place(&key, ORDER).await.replayed(),
        Some(true)
    );
    let kept = "SELECT count(*) FROM idempotency_records r WHERE r::text LIKE '%secret-%'
                OR r::text LIKE '%' || encode('secret-', 'hex') || '%'";
    assert_eq!(world.database.number(kept).await, 0);
    assert!(!world.origins[0].log().contains("secret-"));
    assert!(!world.edges[0].log().contains("secret-"));
}

#[tokio::test]
async fn a_key_that_was_refused_with_its_order_may_be_used_again() {
    let (world, key) = (World::start().await, fresh_key());
    let wrong = ORDER.replace("EUR", "euro");
    let refused = world.client().place(&key, wrong).await;
    refused.assert_problem(400, "order-invalid");
    assert!(
        refused.json()["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("currency"))
    );
    let corrected = world.client().place(&key, ORDER).await;
    corrected.assert_executed();
    world.assert_orders(1).await;
}
