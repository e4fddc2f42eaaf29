//! Who asks for what, through HTTP: hostile bodies, callers that share a key, derived keys.

use reqwest::RequestBuilder;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    tokens::token,
    world::World,
};

const TENANTS: &str = r#"principal = "header:x-api-key""#;
const BEARER: &str = r#"principal = "bearer-jwt""#;
const DERIVED: &str = r#"
key = "derived"
derive = ["/metadata/reference"]
fingerprint.exclude = ["/metadata/sent_at"]
"#;

/// An origin that everybody may call, whose orders are placed under these settings.
async fn origin_with(settings: &str) -> World {
    let route = "[[route]]\nmatch = \"POST /orders\"\noperation = \"orders\"\n";
    let policy = format!("{route}{settings}\n");
    let builder = World::builder().unsigned().origin_policy(&policy);
    builder.start().await
}

async fn sent(request: RequestBuilder) -> Answer {
    Answer::to(request).await.expect("an answer")
}

/// Bodies that a careless reader would choke on, each at most 1 MiB.
fn hostile() -> Vec<Vec<u8>> {
    let members: Vec<_> = (0..100_000).map(|n| format!("\"{n:x}\":1")).collect();
    vec![
        vec![b'['; 1 << 20],
        [br#"{"a":"#.repeat(150_000), b"1".to_vec()].concat(),
        format!("{{{}}}", members.join(",")).into_bytes(),
        vec![b'7'; 1 << 20],
        b"1e999999999".to_vec(),
        b"[1e-999999999]".to_vec(),
        b"[\"\xff\"]".to_vec(),
        b"[\"\xed\xa0\x80\"]".to_vec(),
        br#"["\ud83d"]"#.to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"{} {}".to_vec(),
        b"{}\0".to_vec(),
        b"  ".to_vec(),
        Vec::new(),
    ]
}

#[tokio::test]
async fn hostile_bodies_are_400_and_the_next_request_works() {
    let world = World::start().await;
    let client = world.client();
    for (n, body) in hostile().into_iter().enumerate() {
        let request = client.order(&fresh_key(), "").body(body);
        let refused = sent(request).await;
        assert_eq!(refused.status, 400, "{n}: {refused:?}");
        let placed = client.place(&fresh_key(), ORDER).await;
        assert_eq!(placed.status, 201, "after {n}");
    }
    world.assert_orders(14).await;
    assert_eq!(world.database.records().await, 14);
}

#[tokio::test]
async fn two_callers_with_one_key_know_nothing_of_each_other() {
    let world = origin_with(TENANTS).await;
    let (client, key) = (world.origins[0].client(), fresh_key());
    let other = ORDER.replace("1250", "99");
    let ask = |tenant: &'static str, body: &str| {
        sent(
            client
                .order(&key, body.to_owned())
                .header("x-api-key", tenant),
        )
    };
    let first = ask("a", ORDER).await;
    let second = ask("b", &other).await;
    first.assert_executed();
    second.assert_executed();
    assert_eq!(ask("a", ORDER).await.lasting(), first.lasting());
    assert_eq!(ask("b", &other).await.lasting(), second.lasting());
    ask("a", &other).await.assert_problem(422, "key-reused");
    sent(client.order(&key, ORDER))
        .await
        .assert_problem(401, "credentials-invalid");
    let twice = client
        .order(&key, ORDER)
        .header("x-api-key", "a")
        .header("x-api-key", "b");
    sent(twice).await.assert_problem(401, "credentials-invalid");
    world.assert_orders(2).await;
}

#[tokio::test]
async fn rotated_tokens_of_one_subject_are_one_caller_and_bad_ones_are_none() {
    let world = origin_with(BEARER).await;
    let (client, key) = (world.origins[0].client(), fresh_key());
    let ask = |token: String| sent(client.order(&key, ORDER).bearer_auth(token));
    let first = ask(token("alice", 1, 600)).await;
    let again = ask(token("alice", 2, 600)).await;
    first.assert_executed();
    assert_eq!(
        (again.lasting(), again.replayed()),
        (first.lasting(), Some(true))
    );
    let other = ask(token("bob", 1, 600)).await;
    other.assert_executed();
    let forged = token("alice", 3, 600);
    let forged = format!("{}x", forged.trim_end_matches(char::is_alphanumeric));
    for bad in [
        token("alice", 4, -600),
        forged,
        "no.token".into(),
        String::new(),
    ] {
        ask(bad).await.assert_problem(401, "credentials-invalid");
    }
    sent(client.order(&key, ORDER))
        .await
        .assert_problem(401, "credentials-invalid");
    world.assert_orders(2).await;
}

#[tokio::test]
async fn credentials_on_a_route_that_takes_none_are_refused_by_both() {
    let world = World::start().await;
    let key = fresh_key();
    let at_edge = sent(world.client().order(&key, ORDER).bearer_auth("x")).await;
    at_edge.assert_problem(403, "credentials-unexpected");
    let open = World::builder().unsigned().start().await;
    let at_origin = sent(open.origins[0].client().order(&key, ORDER).bearer_auth("x")).await;
    at_origin.assert_problem(403, "credentials-unexpected");
    assert_eq!(
        world.database.records().await + open.database.records().await,
        0
    );
}

#[tokio::test]
async fn case_9_the_same_operation_without_a_key_is_caught_by_its_fields() {
    let world = origin_with(DERIVED).await;
    let client = world.origins[0].client();
    let order = |metadata: &str| ORDER.replacen('{', &format!(r#"{{"metadata":{metadata},"#), 1);
    let ask = |metadata: &str| sent(client.keyless(order(metadata)));
    let first = ask(r#"{"reference":"r-1","sent_at":1}"#).await;
    let again = ask(r#"{"sent_at":2,"reference":"r-1"}"#).await;
    first.assert_executed();
    assert_eq!(
        (again.lasting(), again.replayed()),
        (first.lasting(), Some(true))
    );
    let changed = ask(r#"{"reference":"r-1","x":1}"#).await;
    changed.assert_problem(422, "key-reused");
    let next = ask(r#"{"reference":"r-2"}"#).await;
    next.assert_executed();
    sent(client.keyless(ORDER))
        .await
        .assert_problem(400, "key-missing");
    world.assert_orders(2).await;
}
