//! Who is asking, through the edge: it knows callers, and refuses those it can't know, by itself.

use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    tokens::{Vectors, token},
    world::World,
};

fn post(client: &Client, path: &str, key: &str, body: &str) -> RequestBuilder {
    let request = client.request(Method::POST, path).body(body.to_owned());
    request
        .header("content-type", "application/json")
        .header("idempotency-key", key)
}

async fn sent(request: RequestBuilder) -> Answer {
    Answer::to(request).await.expect("an answer")
}

/// Fails unless the edge has refused the caller before it asked anybody.
fn assert_unknown_caller(answer: &Answer) {
    answer.assert_problem(401, "credentials-invalid");
    assert_eq!(answer.json()["source"], "edge");
}

#[tokio::test]
async fn one_subject_is_one_caller_whatever_key_has_signed_its_token() {
    let (world, key) = (World::builder().callers().start().await, fresh_key());
    let vectors = Vectors::read();
    let ask = async |token: &str| {
        sent(post(&world.client(), "/by/sub", &key, ORDER).bearer_auth(token)).await
    };
    let first = ask(&token("ada", 1, 600)).await;
    first.assert_executed();
    for token in [
        &token("ada", 2, 900),
        vectors.token("ES256 by es"),
        vectors.token("EdDSA by ed"),
        vectors.token("RS256 by rs"),
        vectors.token("RS256 by rs-next"),
    ] {
        let again = ask(token).await;
        again.assert_replayed();
        assert_eq!(again.lasting(), first.lasting());
    }
    let other = ask(&token("bob", 1, 600)).await;
    other.assert_executed();
    assert_ne!(other.header("location"), first.header("location"));
    world.assert_orders(2).await;
}

#[tokio::test]
async fn a_token_that_does_not_hold_is_refused_at_the_edge_and_takes_no_lock() {
    let (world, key) = (World::builder().callers().start().await, fresh_key());
    let vectors = Vectors::read();
    let client = world.client();
    for bad in [
        &token("ada", 1, -600),
        vectors.token("es: a bit of the signature is wrong"),
        vectors.token("ed: other claims"),
        vectors.token("rs: no signature"),
        "no.token",
        "",
    ] {
        let refused = sent(post(&client, "/by/sub", &key, ORDER).bearer_auth(bad)).await;
        assert_unknown_caller(&refused);
    }
    assert_unknown_caller(&sent(post(&client, "/by/sub", &key, ORDER)).await);
    let basic = post(&client, "/by/sub", &key, ORDER).basic_auth("ada", Some("secret"));
    assert_unknown_caller(&sent(basic).await);
    assert_eq!(world.database.records().await, 0);
    let known = post(&client, "/by/sub", &key, ORDER).bearer_auth(token("ada", 2, 600));
    sent(known).await.assert_executed();
}

#[tokio::test]
async fn callers_that_share_a_key_share_nothing_though_they_ask_at_once() {
    let (world, key) = (World::builder().callers().start().await, fresh_key());
    let client = world.client();
    let tenants = ["a", "b", "c"];
    let amounts = ["1250", "99", "98"];
    let ask = async |(tenant, amount): (&str, &str)| {
        let body = ORDER.replace("1250", amount);
        sent(post(&client, "/by/api-key", &key, &body).header("x-api-key", tenant)).await
    };
    let all = || tenants.into_iter().zip(amounts);
    let first = join_all(all().map(ask)).await;
    for (answer, amount) in first.iter().zip(amounts) {
        answer.assert_executed();
        assert_eq!(answer.json()["amount"].to_string(), amount);
    }
    for (answer, first) in join_all(all().map(ask)).await.iter().zip(&first) {
        assert_eq!(answer.lasting(), first.lasting());
        answer.assert_replayed();
    }
    ask(("a", "99")).await.assert_problem(422, "key-reused");
    assert_unknown_caller(&sent(post(&client, "/by/api-key", &key, ORDER)).await);
    assert_unknown_caller(&ask(("", "1250")).await);
    world.assert_orders(3).await;
}

#[tokio::test]
async fn where_credentials_are_ignored_they_make_no_other_caller() {
    let (world, key) = (World::builder().callers().start().await, fresh_key());
    let ask = async |token: &str| {
        sent(post(&world.client(), "/by/nobody", &key, ORDER).bearer_auth(token)).await
    };
    let first = ask("one").await;
    first.assert_executed();
    let again = ask("other").await;
    again.assert_replayed();
    assert_eq!(again.lasting(), first.lasting());
}

#[tokio::test]
async fn a_selected_header_is_a_part_of_the_command_at_edge_and_origin() {
    let world = World::builder().unsigned().callers().start().await;
    for client in [world.client(), world.origins[0].client()] {
        let key = fresh_key();
        let ask = async |version: Option<&str>| {
            let mut request = post(&client, "/versions", &key, ORDER);
            request = request.header("x-other", fresh_key());
            if let Some(version) = version {
                request = request.header("x-version", version);
            }
            sent(request).await
        };
        ask(Some("1")).await.assert_executed();
        ask(Some("1")).await.assert_replayed();
        for other in [Some("2"), Some(""), None] {
            ask(other).await.assert_problem(422, "key-reused");
        }
    }
    world.assert_orders(2).await;
}

#[tokio::test]
async fn a_key_belongs_to_its_caller_or_where_policy_says_so_to_its_route() {
    let (world, key) = (World::builder().callers().start().await, fresh_key());
    let client = world.client();
    let ask = async |path: &str| sent(post(&client, path, &key, ORDER)).await;
    ask("/versions").await.assert_executed();
    ask("/by/nobody").await.assert_problem(422, "key-reused");
    let patched = client.request(Method::PATCH, "/versions").body(ORDER);
    let patched = patched
        .header("content-type", "application/json")
        .header("idempotency-key", &key);
    sent(patched).await.assert_problem(422, "key-reused");
    // These two know the key each by itself, and the room is a part of the command.
    ask("/orders").await.assert_executed();
    ask("/rooms/1").await.assert_executed();
    ask("/rooms/1").await.assert_replayed();
    ask("/rooms/2").await.assert_problem(422, "key-reused");
    world.assert_orders(3).await;
}
