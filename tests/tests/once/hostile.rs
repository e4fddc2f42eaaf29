//! Hostile requests among good ones: each is refused, and takes nothing with it (CASES group A, C43).

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::future::join_all;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    world::World,
};

const VECTORS: &str = include_str!("../../../protocol/vectors/canonical.json");

/// One request that nobody means well with.
#[derive(Clone, Debug, Hash)]
enum Hostile {
    Body(Vec<u8>),
    /// Head lines after the request line, as they are.
    Head(&'static [u8]),
    Path(&'static str),
}

const HEADS: [&[u8]; 14] = [
    b"idempotency-key: \xff\xfe",
    b"idempotency-key: \"unterminated",
    b"idempotency-key: a\tb",
    b"idempotency-key: a\r\nidempotency-key: b",
    b"idempotency-key: \xf0\x9f\x92\xb8",
    b"idempotency-key: a, b",
    b"idempotency-key:",
    b"authorization: Bearer a.b.c\r\nidempotency-key: k",
    b"authorization: \xe4\r\nidempotency-key: k",
    b"content-type: application/json; charset=\xff",
    b"content-encoding: zstd",
    b"signature: sig1=:AAAA:\r\nsignature-input: sig1=()",
    b"unavez-fingerprint: 1:00\r\nunavez-archive: max-age=60",
    b"prefer: wait=99999999999999999999, wait=-1, wait=\xff",
];

const PATHS: [&str; 10] = [
    "/orders%00",
    "/orders/../orders",
    "/orders?%ff=%fe&=",
    "/ORDERS",
    "//orders",
    "/orders/%2e%2e/%2e%2e/etc/passwd",
    "/problems/%00",
    "/idempotency/status?route=%",
    "/orders;a=b",
    "/orders#fragment",
];

/// 50 of them, each of its own kind, in an order that has nothing to do with their kinds.
fn hostile() -> Vec<Hostile> {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).expect("JSON");
    let refused = vectors.iter().filter(|vector| !vector["error"].is_null());
    let bodies = refused.map(|vector| {
        let input = vector["input"].as_str().expect("an input");
        Hostile::Body(BASE64_STANDARD.decode(input).expect("base64"))
    });
    // From all over the file, whose neighbours are alike.
    let bodies = bodies.step_by(9).take(26);
    let heads = HEADS.into_iter().map(Hostile::Head);
    let paths = PATHS.into_iter().map(Hostile::Path);
    let mut all: Vec<_> = bodies.chain(heads).chain(paths).collect();
    all.sort_by_cached_key(|hostile| {
        let mut hasher = DefaultHasher::new();
        hostile.hash(&mut hasher);
        hasher.finish()
    });
    all
}

async fn send(client: &Client, hostile: Hostile) {
    let request = match hostile {
        Hostile::Body(body) => {
            let request = client.order(&fresh_key(), "").body(body.clone());
            let refused = Answer::to(request).await.expect("an answer");
            assert_eq!(refused.status, 400, "{body:?}: {refused:?}");
            return;
        }
        Hostile::Head(lines) => [b"POST /orders HTTP/1.1\r\n", lines].concat(),
        Hostile::Path(path) => format!("POST {path} HTTP/1.1\r\nidempotency-key: k").into_bytes(),
    };
    let rest = "\r\nhost: edge\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n{";
    let answer = client.send_raw(&[&request, rest.as_bytes()].concat()).await;
    assert!(
        answer.starts_with("HTTP/1.1 4"),
        "{:?}: {answer}",
        String::from_utf8_lossy(&request)
    );
}

#[tokio::test]
async fn every_good_request_among_fifty_hostile_ones_is_answered() {
    let world = World::start().await;
    let (client, hostile) = (world.client(), hostile());
    assert_eq!(hostile.len(), 50);
    for several in hostile.chunks(10) {
        let bad = several
            .iter()
            .cloned()
            .map(|hostile| send(&client, hostile));
        let good = (0..10).map(|_| async {
            client.place(&fresh_key(), ORDER).await.assert_executed();
        });
        tokio::join!(join_all(bad), join_all(good));
    }
    world.assert_orders(50).await;
    assert_eq!(world.database.records().await, 50);
}
