//! The signed hop: the origin takes requests from its edges only.

use protocol::wire::signature::{
    CONTENT_DIGEST, EdgeKeys, SIGNATURE, SIGNATURE_INPUT, Signed, content_digest,
};
use reqwest::RequestBuilder;
use sha2::{Digest as _, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    world::{EDGE_KEYS, World},
};

const UNKNOWN_ID: &str = "other:YW5vdGhlciBrZXkgb2YgdGhlIHNpZ25lZCBob3A=";
const UNKNOWN_KEY: &str = "new:YW5vdGhlciBrZXkgb2YgdGhlIHNpZ25lZCBob3A=";

/// An order as an edge signs it, `age` seconds ago.
struct Order {
    keys: &'static str,
    age: i64,
    signed_body: &'static str,
    signed_key: String,
    sent_key: String,
}

impl Order {
    fn honest() -> Self {
        let key = fresh_key();
        Self {
            keys: EDGE_KEYS,
            age: 0,
            signed_body: ORDER,
            signed_key: key.clone(),
            sent_key: key,
        }
    }

    fn request(&self, world: &World) -> RequestBuilder {
        let digest = content_digest(&Sha256::digest(self.signed_body).into());
        let signed = Signed {
            method: "POST",
            target: "/orders",
            content_digest: Some(&digest),
            idempotency_key: Some(&self.signed_key),
        };
        let keys = EdgeKeys::parse(self.keys).expect("keys");
        let (input, signature) = keys.sign(&signed, now() - self.age).expect("a first key");
        let request = world.origins[0].client().order(&self.sent_key, ORDER);
        request
            .header(CONTENT_DIGEST, digest)
            .header(SIGNATURE_INPUT, input)
            .header(SIGNATURE, signature)
    }

    async fn answer(&self, world: &World) -> Answer {
        Answer::to(self.request(world)).await.expect("an answer")
    }
}

fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock after 1970");
    i64::try_from(since.as_secs()).expect("a clock before the end of time")
}

#[tokio::test]
async fn a_request_that_no_edge_has_signed_is_refused_and_leaves_nothing() {
    let world = World::builder().edges(0).start().await;
    let client = world.origins[0].client();
    client
        .place(&fresh_key(), ORDER)
        .await
        .assert_problem(401, "edge-signature-invalid");
    client
        .get("/orders/none")
        .await
        .assert_problem(401, "edge-signature-invalid");
    client
        .status("k")
        .await
        .assert_problem(401, "edge-signature-invalid");
    for open in ["/healthz", "/readyz"] {
        assert_eq!(client.get(open).await.status, 200, "{open}");
    }
    assert_eq!(world.database.records().await, 0);
    assert_eq!(world.sandbox.calls().await.len(), 0);
}

#[tokio::test]
async fn each_key_of_the_list_is_taken_so_that_keys_can_rotate() {
    let world = World::builder().edges(0).start().await;
    let (_, old) = EDGE_KEYS.split_once(',').expect("two keys");
    for keys in [EDGE_KEYS, old] {
        let answer = Order {
            keys,
            ..Order::honest()
        }
        .answer(&world)
        .await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    world.assert_orders(2).await;
}

#[tokio::test]
async fn a_signature_of_another_request_key_or_time_is_refused() {
    let world = World::builder().edges(0).start().await;
    let forged = [
        Order {
            keys: UNKNOWN_KEY,
            ..Order::honest()
        },
        Order {
            keys: UNKNOWN_ID,
            ..Order::honest()
        },
        Order {
            age: 62,
            ..Order::honest()
        },
        Order {
            age: -62,
            ..Order::honest()
        },
        Order {
            signed_body: "{}",
            ..Order::honest()
        },
        Order {
            signed_key: fresh_key(),
            ..Order::honest()
        },
    ];
    for order in forged {
        order
            .answer(&world)
            .await
            .assert_problem(401, "edge-signature-invalid");
    }
    let metrics = world.origins[0].client().get("/metrics").await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for (reason, count) in [
        ("unknown-key", 1),
        ("stale", 2),
        ("body", 1),
        ("mismatch", 2),
    ] {
        let counted = format!("edge_signatures_refused_total{{reason=\"{reason}\"}} {count}\n");
        assert!(metrics.contains(&counted), "{reason}: {metrics}");
    }
    let fresh = Order {
        age: 55,
        ..Order::honest()
    }
    .answer(&world)
    .await;
    assert_eq!(fresh.status, 201, "{fresh:?}");
    world.assert_orders(1).await;
}

#[tokio::test]
async fn a_signature_does_not_carry_over_to_another_target_or_unsigned_body() {
    let world = World::builder().edges(0).start().await;
    let request = Order::honest().request(&world).build().expect("a request");
    let client = world.origins[0].client();
    for path in ["/orders?x=1", "/orders/"] {
        let moved = client
            .request(request.method().clone(), path)
            .headers(request.headers().clone());
        Answer::to(moved.body(ORDER))
            .await
            .expect("an answer")
            .assert_problem(401, "edge-signature-invalid");
    }
    let mut headers = request.headers().clone();
    headers.remove(CONTENT_DIGEST);
    let bare = client
        .request(request.method().clone(), "/orders")
        .headers(headers)
        .body(ORDER);
    Answer::to(bare)
        .await
        .expect("an answer")
        .assert_problem(401, "edge-signature-invalid");
    world.assert_orders(0).await;
}

#[tokio::test]
async fn an_edge_whose_key_the_origin_does_not_know_says_that_the_origin_is_unavailable() {
    let world = World::builder().edge_keys(UNKNOWN_KEY).start().await;
    let refused = world.client().place(&fresh_key(), ORDER).await;
    refused.assert_problem(503, "origin-unavailable");
    assert_eq!(refused.json()["source"], "edge");
    world
        .client()
        .get("/orders/none")
        .await
        .assert_problem(503, "origin-unavailable");
    assert_eq!(world.database.records().await, 0);
}
