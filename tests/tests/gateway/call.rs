//! Requests to the gateway's routes, and what the upstream is told to do with them.

use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::time::Duration;
use tests::{answer::Answer, client::Client, eventually::eventually, world::World};

/// A command.
pub(crate) const BODY: &str = r#"{"merchantReference":"m-1","amount":1}"#;
/// Within which an outcome is settled that can be.
pub(crate) const SETTLED: Duration = Duration::from_secs(10);

/// `POST` to a route, not sent yet; `behaves` is a list, one behaviour an arrival.
pub(crate) fn request(client: &Client, path: &str, key: &str, behaves: &Value) -> RequestBuilder {
    keyless(client, path, behaves).header("idempotency-key", key)
}

/// The same without a key.
pub(crate) fn keyless(client: &Client, path: &str, behaves: &Value) -> RequestBuilder {
    client
        .request(Method::POST, path)
        .header("content-type", "application/json")
        .header("x-behave", ascii(behaves))
        .body(BODY)
}

/// Sends it.
pub(crate) async fn post(client: &Client, path: &str, key: &str, behaves: &Value) -> Answer {
    let answer = Answer::to(request(client, path, key, behaves)).await;
    answer.expect("an answer")
}

/// Sends it and waits where another is running.
pub(crate) async fn post_patiently(
    client: &Client,
    path: &str,
    key: &str,
    behaves: &Value,
) -> Answer {
    let request = request(client, path, key, behaves).header("prefer", "wait=10");
    Answer::to(request).await.expect("an answer")
}

/// Waits until this many requests have reached the upstream.
pub(crate) async fn arrived(world: &mut World, count: usize) {
    let upstream = world.upstream();
    let all = async || upstream.arrivals().await.len() >= count;
    eventually("the arrivals", Duration::from_secs(30), all).await;
}

/// Waits until the key's operation has ended.
pub(crate) async fn ended(world: &World, key: &str) {
    let client = world.client();
    let ended = async || client.status(key).await.json()["state"] != "pending";
    eventually("the end of the operation", Duration::from_secs(30), ended).await;
}

/// JSON as a header takes it: visible ASCII.
pub(crate) fn ascii(json: &Value) -> String {
    let escaped = |char: char| match char {
        ' '..='~' => char.to_string(),
        char => format!("\\u{:04x}", u32::from(char)),
    };
    json.to_string().chars().map(escaped).collect()
}
