//! `GET /idempotency/status` and the pages of the problems.

use protocol::problem::Kind;
use reqwest::Method;
use tests::{
    answer::Answer,
    client::{ORDER, fresh_key},
    world::World,
};

#[tokio::test]
async fn the_status_of_a_key_follows_its_operation() {
    let (world, key) = (World::start().await, fresh_key());
    let client = world.client();
    client
        .status(&key)
        .await
        .assert_problem(404, "record-unknown");
    let first = world.begin_order(&key, 500).await;
    let pending = client.status(&key).await;
    assert_eq!(
        (pending.status, &pending.json()["state"]),
        (200, &"pending".into())
    );
    let first = first.await.expect("no panic").expect("an answer");
    let done = client.status(&key).await.json();
    assert_eq!(
        (&done["state"], &done["attempts"]),
        (&"succeeded".into(), &1.into())
    );
    assert_eq!(done["location"].as_str(), first.header("location"));
    assert_eq!(
        done["expires"].as_str(),
        first.header("idempotency-expires")
    );
    assert_eq!(done["first_seen"], pending.json()["first_seen"]);
    assert_eq!(done["needs_operator"], false);
    let quoted = client.status(&format!("\"{key}\"")).await;
    assert_eq!(quoted.json(), done);
}

#[tokio::test]
async fn a_declined_order_is_failed_and_a_refused_one_unknown() {
    let (world, declined, refused) = (World::start().await, fresh_key(), fresh_key());
    let client = world.client();
    client
        .place(&declined, ORDER.replace("acct_1", "acct_declined"))
        .await;
    client.place(&refused, ORDER.replace("EUR", "euro")).await;
    let failed = client.status(&declined).await.json();
    assert_eq!(
        (&failed["state"], failed.get("location")),
        (&"failed".into(), None)
    );
    client
        .status(&refused)
        .await
        .assert_problem(404, "record-unknown");
}

#[tokio::test]
async fn the_status_asks_for_a_key_as_an_order_does() {
    let world = World::start().await;
    let ask = |key: Option<&str>| {
        let request = world.client().request(Method::GET, "/idempotency/status");
        Answer::to(match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        })
    };
    ask(None)
        .await
        .expect("an answer")
        .assert_problem(400, "key-missing");
    ask(Some("a b"))
        .await
        .expect("an answer")
        .assert_problem(400, "key-malformed");
}

#[tokio::test]
async fn every_problem_has_a_page_that_explains_it() {
    let world = World::start().await;
    for kind in Kind::ALL {
        let page = world.client().get(&kind.path()).await;
        assert_eq!(page.status, 200, "{}", kind.path());
        assert!(
            page.header("content-type")
                .is_some_and(|kind| kind.starts_with("text/html"))
        );
        assert!(
            String::from_utf8_lossy(&page.body).contains(kind.title()),
            "{page:?}"
        );
    }
    world
        .client()
        .get("/problems/none")
        .await
        .assert_problem(404, "not-found");
}
