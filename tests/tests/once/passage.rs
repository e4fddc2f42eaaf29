//! Requests for no protected route pass through untouched, also with a key.

use reqwest::Method;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    echo::{Echo, Echoed},
    edge::{Edge, Options},
    folder::Folder,
    world::{EDGE_KEYS, World},
};

/// An edge before an origin that shows what reached it.
struct Mirror {
    edge: Edge,
    _echo: Echo,
    _folder: Folder,
}

impl Mirror {
    async fn start() -> Self {
        let (echo, folder) = (Echo::start().await, Folder::create());
        let edge = Edge::start(Options {
            edge_keys: Some(EDGE_KEYS.to_owned()),
            ..Options::new(echo.url(), folder.file("edge.log"))
        });
        Self {
            edge: edge.await,
            _echo: echo,
            _folder: folder,
        }
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Echoed {
        let answer = Answer::to(request).await.expect("an answer");
        serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("no echo: {answer:?}"))
    }
}

#[tokio::test]
async fn a_read_sees_every_change_whatever_key_it_carries() {
    let world = World::start().await;
    let placed = world.client().place(&fresh_key(), ORDER).await;
    let location = placed.header("location").expect("a location").to_owned();
    let key = fresh_key();
    let read = async || {
        let request = world.client().request(Method::GET, &location);
        let answer = Answer::to(request.header("idempotency-key", &key))
            .await
            .expect("an answer");
        assert_eq!(
            (answer.status, answer.replayed()),
            (200, None),
            "{answer:?}"
        );
        answer.json()["destination"].as_str().map(str::to_owned)
    };
    assert_eq!(read().await.as_deref(), Some("acct_1"));
    world
        .database
        .execute("UPDATE orders SET destination = 'acct_2'")
        .await;
    assert_eq!(read().await.as_deref(), Some("acct_2"));
    assert_eq!(world.database.records().await, 1);
}

#[tokio::test]
async fn a_key_on_a_read_is_not_the_key_of_an_order() {
    let (world, key) = (World::start().await, fresh_key());
    let read = world
        .client()
        .request(Method::GET, "/orders/none")
        .header("idempotency-key", &key);
    Answer::to(read)
        .await
        .expect("an answer")
        .assert_problem(404, "not-found");
    assert_eq!(
        world.client().place(&key, ORDER).await.replayed(),
        Some(false)
    );
}

#[tokio::test]
async fn methods_that_repeat_by_themselves_are_passed_on_each_time() {
    let mirror = Mirror::start().await;
    let client = mirror.edge.client();
    for method in ["PUT", "DELETE", "POST", "PATCH", "QUERY"] {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        for body in ["one", "two"] {
            let request = client
                .request(method.clone(), "/carts/a%2Fb?x=1&x=%20")
                .body(body);
            let echoed = mirror.ask(request.header("idempotency-key", "k")).await;
            assert_eq!(
                (echoed.method.as_str(), echoed.body.as_str()),
                (method.as_str(), body)
            );
            assert_eq!(echoed.target, "/carts/a%2Fb?x=1&x=%20");
            assert_eq!(echoed.values("idempotency-key"), ["k"]);
        }
    }
}

#[tokio::test]
async fn only_unavez_sets_the_headers_between_its_parts() {
    let mirror = Mirror::start().await;
    let client = mirror.edge.client();
    let forged = |request: reqwest::RequestBuilder| {
        request
            .header("unavez-fingerprint", "1:forged")
            .header("Unavez-Anything", "forged")
            .header("signature", "edge=:forged:")
            .header("signature-input", "edge=(\"@method\");forged")
            .header("content-digest", "sha-256=:forged:")
            .header("x-mine", "kept")
    };
    let protected = forged(client.order(&fresh_key(), ORDER));
    let passed = forged(client.request(Method::POST, "/elsewhere").body("text"));
    for (request, is_protected) in [(protected, true), (passed, false)] {
        let echoed = mirror.ask(request).await;
        assert!(!format!("{echoed:?}").contains("forged"), "{echoed:?}");
        assert_eq!(echoed.values("x-mine"), ["kept"]);
        let signed = ["signature", "signature-input"].map(|name| echoed.values(name).len());
        assert_eq!(signed, [1, 1], "{echoed:?}");
        let of_the_body = ["content-digest", "unavez-fingerprint"];
        let of_the_body = of_the_body.map(|name| echoed.values(name).len());
        assert_eq!(of_the_body, [usize::from(is_protected); 2], "{echoed:?}");
    }
}

#[tokio::test]
async fn an_order_reaches_the_origin_byte_for_byte() {
    let mirror = Mirror::start().await;
    let body = format!(" {ORDER}\n");
    let request = mirror.edge.client().order("k", body.clone());
    let echoed = mirror.ask(request).await;
    assert_eq!(
        (echoed.target.as_str(), echoed.body.as_str()),
        ("/orders", body.as_str())
    );
    assert_eq!(echoed.values("content-type"), ["application/json"]);
}

/// What is routed and signed is what arrives, however the address is written.
#[tokio::test]
async fn an_address_is_read_once_for_all() {
    let (world, key) = (World::start().await, fresh_key());
    let mut ends = Vec::new();
    for target in ["/problems/../orders", "/problems/%2e%2E/orders", "/orders"] {
        let request = format!(
            "POST {target} HTTP/1.1\r\nhost: edge\r\nconnection: close\r\nidempotency-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{ORDER}",
            ORDER.len()
        );
        let answer = world.client().send_raw(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 201 "), "{target}: {answer}");
        ends.push(
            answer
                .rsplit("\r\n\r\n")
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    assert!(ends.iter().all(|end| end == &ends[0]), "{ends:?}");
    let read = "GET /problems/../healthz?q='a' HTTP/1.1\r\nhost: edge\r\nconnection: close\r\n\r\n";
    let answer = world.client().send_raw(read.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    world.assert_orders(1).await;
}
