//! Scripts in browsers: their preflights, and what they may read of an answer.

use reqwest::Method;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    echo::Echo,
    edge::{Edge, Options},
    folder::Folder,
    world::World,
};

const ORIGIN: &str = "https://shop.example";

async fn preflight(client: &Client, path: &str, method: &str) -> Answer {
    let request = client.request(Method::OPTIONS, path);
    let request = request
        .header("origin", ORIGIN)
        .header("access-control-request-method", method)
        .header(
            "access-control-request-headers",
            "content-type,idempotency-key",
        );
    Answer::to(request).await.expect("an answer")
}

#[tokio::test]
async fn the_edge_answers_preflights_of_protected_routes_and_passes_on_all_others() {
    let (folder, echo) = (Folder::create(), Echo::start().await);
    let edge = Edge::start(Options::new(echo.url(), folder.file("edge.log"))).await;
    let client = edge.client();
    let allowed = preflight(&client, "/orders", "POST").await;
    assert!((200..300).contains(&allowed.status), "{allowed:?}");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("*"));
    let headers = allowed.header("access-control-allow-headers");
    assert!(headers.is_some_and(|headers| headers.contains("idempotency-key")));
    let methods = allowed.header("access-control-allow-methods");
    assert!(methods.is_some_and(|methods| methods.contains("POST")));
    assert_eq!(allowed.body, b"");
    for (path, method) in [("/orders", "DELETE"), ("/elsewhere", "POST")] {
        let passed = preflight(&client, path, method).await;
        assert_eq!(passed.json()["method"], "OPTIONS", "{passed:?}");
    }
}

#[tokio::test]
async fn a_script_may_read_what_it_needs_of_every_answer() {
    let (world, key) = (World::start().await, fresh_key());
    let client = world.client();
    let ask = async |body: &str| {
        let request = client.order(&key, body.to_owned()).header("origin", ORIGIN);
        Answer::to(request).await.expect("an answer")
    };
    let (first, again, other) = (ask(ORDER).await, ask(ORDER).await, ask("{}").await);
    first.assert_executed();
    again.assert_replayed();
    other.assert_problem(422, "key-reused");
    for answer in [first, again, other] {
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        let exposed = answer
            .header("access-control-expose-headers")
            .expect("a list");
        for name in [
            "Idempotent-Replayed",
            "Idempotency-Expires",
            "Retry-After",
            "Location",
        ] {
            assert!(exposed.contains(name), "{name}: {exposed}");
        }
    }
}
