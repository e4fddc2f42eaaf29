//! What reaches an upstream of a request.

use crate::call::{BODY, ended, post, request};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use tests::{
    answer::Answer, client::fresh_key, eventually::eventually, upstream::Arrival, world::World,
};

async fn only(world: &mut World) -> Arrival {
    let mut arrivals = world.upstream().arrivals().await;
    assert_eq!(arrivals.len(), 1, "{arrivals:?}");
    arrivals.remove(0)
}

#[tokio::test]
async fn method_path_query_headers_and_body_are_sent_on() {
    let mut world = World::builder().gateway().start().await;
    let path = "/items/a%2Fb?x=1&y=%20&x=2";
    let request = world
        .client()
        .request(Method::PATCH, path)
        .header("content-type", "application/vnd.x+json; charset=utf-8")
        .header("idempotency-key", fresh_key())
        .header("x-mine", "kept")
        .header("accept-language", "de")
        .header("accept-encoding", "gzip")
        .header("if-match", "\"v1\"")
        .header("unavez-fingerprint", "1:00")
        .header("idempotency-attempt", "99")
        .header("te", "trailers")
        .body(BODY);
    let answer = Answer::to(request).await.expect("an answer");
    assert_eq!(answer.status, 201);
    let arrival = only(&mut world).await;
    assert_eq!(arrival.method, "PATCH");
    assert_eq!(arrival.target, format!("/v1{path}"));
    assert_eq!(arrival.body, BODY);
    for (name, value) in [
        ("content-type", "application/vnd.x+json; charset=utf-8"),
        ("x-mine", "kept"),
        ("accept-language", "de"),
        ("accept-encoding", "identity"),
        ("if-match", "\"v1\""),
        ("idempotency-attempt", "1"),
    ] {
        assert_eq!(arrival.values(name), [value]);
    }
    let internal = |name: &str| name.starts_with("unavez-") || name.starts_with("signature");
    for (name, _) in &arrival.headers {
        assert!(!internal(name), "{name}");
        assert!(
            !["te", "content-digest", "expect"].contains(&name.as_str()),
            "{name}"
        );
    }
    assert_eq!(arrival.key.len(), 64, "a key of our own");
}

#[tokio::test]
async fn lines_of_one_hop_are_taken_off_and_the_hop_is_named() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let client = world.origins[0].client();
    let request = request(&client, "/hold", &fresh_key(), &json!([{}]))
        .header("host", "shop.example")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("x-forwarded-for", "203.0.113.7")
        .header("x-forwarded-proto", "https")
        .header("forwarded", "for=203.0.113.7");
    assert_eq!(Answer::to(request).await.expect("an answer").status, 201);
    let arrival = only(&mut world).await;
    assert!(arrival.values("x-hop").is_empty());
    assert_eq!(
        arrival.values("x-forwarded-for"),
        ["203.0.113.7, 127.0.0.1"]
    );
    assert_eq!(arrival.values("x-forwarded-proto"), ["https"]);
    assert_eq!(arrival.values("x-forwarded-host"), ["shop.example"]);
    let forwarded = arrival.values("forwarded");
    assert_eq!(
        forwarded,
        ["for=203.0.113.7, for=127.0.0.1;proto=http;host=\"shop.example\""]
    );
    assert_eq!(arrival.values("host").len(), 1);
    assert!(arrival.values("host")[0].starts_with("127.0.0.1:"));
}

#[tokio::test]
async fn the_upstream_sees_the_clients_key_where_policy_says_so_on_every_attempt() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"cut": "after"}, {}]);
    let quoted = format!("\"{key}\"");
    let unknown = post(&client, "/client", &quoted, &behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    ended(&world, &key).await;
    let arrivals = world.upstream().arrivals().await;
    let keys: Vec<_> = arrivals.iter().map(|arrival| &arrival.key).collect();
    assert_eq!(keys, [&key, &key]);
    let log = world.origins[0].log();
    assert!(!log.contains(&key), "a key in the log");
}

#[tokio::test]
async fn credentials_are_stored_sealed_and_sent_again() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"cut": "after"}, {"status": 500}, {"status": 500}, {}]);
    let request = request(&client, "/tenant", &key, &behaves)
        .header("x-api-key", "the-secret-of-tenant-1")
        .header("authorization", "Basic the-secret-of-tenant-2");
    let unknown = Answer::to(request).await.expect("an answer");
    unknown.assert_problem(502, "outcome-unknown");
    let in_clear = "SELECT count(*) FROM idempotency_records
        WHERE position('the-secret'::bytea in request_headers) > 0";
    assert_eq!(world.database.number(in_clear).await, 0);
    let stored =
        "SELECT count(*) FROM idempotency_records WHERE octet_length(request_headers) > 100";
    assert_eq!(world.database.number(stored).await, 1);
    let ended = "SELECT count(*) FROM idempotency_records WHERE state = 'succeeded' AND request_headers IS NULL";
    let is_over = async || world.database.number(ended).await == 1;
    eventually("the end", crate::call::SETTLED * 2, is_over).await;
    for arrival in world.upstream().arrivals().await {
        assert_eq!(arrival.values("x-api-key"), ["the-secret-of-tenant-1"]);
        assert_eq!(
            arrival.values("authorization"),
            ["Basic the-secret-of-tenant-2"]
        );
    }
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn a_head_that_no_process_can_open_any_more_is_brought_by_a_retry_with_fresh_credentials() {
    let builder = World::builder().unsigned().gateway().unsealed();
    let (mut world, key) = (builder.dying_at("forwarded").start().await, fresh_key());
    let client = world.client();
    let send = async |token: &'static str| {
        let request = request(&client, "/tenant", &key, &json!([{}]))
            .header("x-api-key", "tenant-1")
            .header("authorization", token);
        Answer::to(request).await.expect("an answer")
    };
    send("Basic old")
        .await
        .assert_problem(502, "outcome-unknown");
    world.origins[0].wait_until_ended().await;
    world.origins[0].restart().await;
    let settled = async || send("Basic fresh").await.status == 201;
    eventually("the answer", Duration::from_mins(1), settled).await;
    let arrivals = world.upstream().arrivals().await;
    let tokens: Vec<_> = arrivals
        .iter()
        .flat_map(|arrival| arrival.values("authorization"))
        .collect();
    assert_eq!(tokens, ["Basic old", "Basic fresh"]);
    assert_eq!(arrivals[0].key, arrivals[1].key);
    assert_eq!(world.upstream().executions().await, 1);
}
