//! What only an operator can settle, and what an operator can't do.

use crate::call::{arrived, post, request};
use serde_json::{Value, json};
use tests::{
    answer::Answer,
    client::fresh_key,
    operator::{json as shown, printed, refused},
    world::World,
};

/// A world with one operation of which nobody knows whether it happened, and its scope.
async fn unknown(path: &str, behaves: &Value) -> (World, String, String) {
    let world = World::builder().unsigned().gateway().start().await;
    let key = fresh_key();
    let unknown = post(&world.client(), path, &key, behaves).await;
    unknown.assert_problem(502, "outcome-unknown");
    let found = shown(&world.database, &["list", "--needs-operator"]).await;
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    let scope = found[0]["scope"].as_str().expect("a scope").to_owned();
    (world, key, scope)
}

#[tokio::test]
async fn what_an_operator_knows_to_be_done_is_replayed_from_then_on() {
    let behaves = json!([{"cut": "after"}, {}]);
    let (mut world, key, scope) = unknown("/hold", &behaves).await;
    let fence = "SELECT fence FROM idempotency_records";
    let before = world.database.number(fence).await;
    let policy = tests::upstream::policy();
    let body = policy.with_file_name("server.mjs");
    let words = [
        "resolve",
        &scope[..12],
        "--done",
        "201",
        "--header",
        "Location: /things/1",
        "--header",
        "Content-Type: text/plain",
        "--body",
        &body.display().to_string(),
        "--policy",
        &policy.display().to_string(),
        "--note",
        "seen in the ledger",
    ];
    printed(&world.database, &words).await;
    assert_eq!(world.database.number(fence).await, before + 1);
    for client in [world.client(), world.origins[0].client()] {
        let retry = post(&client, "/hold", &key, &behaves).await;
        assert_eq!(
            (retry.status, retry.replayed()),
            (201, Some(true)),
            "{retry:?}"
        );
        assert_eq!(retry.header("location"), Some("/things/1"));
        assert_eq!(retry.body, std::fs::read(&body).expect("the file"));
    }
    let record = shown(&world.database, &["show", &scope]).await;
    assert_eq!(record["state"], "succeeded");
    assert_eq!(record["archived"]["status"], 201);
    let change = &record["changes"][0];
    assert_eq!(
        (&change["operator"], &change["action"]),
        (&json!("mara"), &json!("resolve"))
    );
    assert_eq!(
        (&change["state"], &change["note"]),
        (&json!("pending"), &json!("seen in the ledger"))
    );
    // What has ended is not settled again.
    refused(&world.database, &["resolve", &scope, "--not-done"]).await;
    assert_eq!(world.upstream().arrivals().await.len(), 1);
}

#[tokio::test]
async fn what_an_operator_knows_to_have_failed_is_a_final_failure() {
    let behaves = json!([{"cut": "before"}]);
    let (world, key, scope) = unknown("/hold", &behaves).await;
    let policy = tests::upstream::policy();
    let words = [
        "resolve",
        &scope,
        "--done",
        "409",
        "--policy",
        &policy.display().to_string(),
    ];
    printed(&world.database, &words).await;
    let retry = post(&world.client(), "/hold", &key, &behaves).await;
    assert_eq!((retry.status, retry.replayed()), (409, Some(true)));
    assert_eq!(world.client().status(&key).await.json()["state"], "failed");
}

#[tokio::test]
async fn what_an_operator_knows_not_to_be_done_may_run() {
    for words in [["resolve", "--not-done"].as_slice(), &["release"]] {
        let behaves = json!([{"cut": "before"}, {}]);
        let (mut world, key, scope) = unknown("/hold", &behaves).await;
        let mut words = words.to_vec();
        words.insert(1, &scope);
        printed(&world.database, &words).await;
        assert_eq!(world.client().status(&key).await.status, 404);
        let retry = post(&world.client(), "/hold", &key, &behaves).await;
        assert_eq!((retry.status, retry.replayed()), (201, Some(false)));
        let arrivals = world.upstream().arrivals().await;
        assert_eq!(arrivals[0].key, arrivals[1].key);
        assert_eq!(world.upstream().executions().await, 1);
        let changes = "SELECT count(*) FROM record_changes WHERE operator = 'mara'";
        assert_eq!(world.database.number(changes).await, 1);
    }
}

#[tokio::test]
async fn what_runs_is_nobodys_to_settle() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"delay": 2_000}]);
    let running = tokio::spawn(Answer::to(request(&client, "/hold", &key, &behaves)));
    arrived(&mut world, 1).await;
    let found = shown(
        &world.database,
        &["list", "--key", &key, "--state", "pending"],
    )
    .await;
    let scope = found[0]["scope"].as_str().expect("a scope");
    let said = refused(&world.database, &["release", scope]).await;
    assert!(said.contains("an attempt is at it"), "{said}");
    assert_eq!(
        running.await.expect("no panic").expect("an answer").status,
        201
    );
    let changes = "SELECT count(*) FROM record_changes";
    assert_eq!(world.database.number(changes).await, 0);
}

#[tokio::test]
async fn a_selection_is_what_all_its_words_mean() {
    let world = World::builder().unsigned().gateway().start().await;
    let client = world.client();
    let keys: Vec<_> = (0..3).map(|_| fresh_key()).collect();
    for key in &keys {
        post(&client, "/hold", key, &json!([{}])).await;
    }
    post(&client, "/hold", &fresh_key(), &json!([{"status": 404}])).await;
    let found = async |words: &[&str]| {
        let words: Vec<_> = ["list"].iter().chain(words).copied().collect();
        let found = shown(&world.database, &words).await;
        found.as_array().expect("a list").clone()
    };
    assert_eq!(found(&[]).await.len(), 4);
    assert_eq!(found(&["--state", "succeeded"]).await.len(), 3);
    assert_eq!(found(&["--state", "failed"]).await.len(), 1);
    assert_eq!(found(&["--limit", "2"]).await.len(), 2);
    assert_eq!(found(&["--older-than", "1h"]).await.len(), 0);
    assert_eq!(found(&["--principal", "anonymous"]).await.len(), 4);
    assert_eq!(found(&["--needs-operator"]).await.len(), 0);
    let one = found(&["--key", &keys[0]]).await;
    assert_eq!(one.len(), 1);
    let scope = one[0]["scope"].as_str().expect("a scope");
    assert_eq!(found(&["--scope", &scope[..16]]).await, one);
    assert_eq!(
        found(&["--scope", &scope[..16], "--state", "failed"])
            .await
            .len(),
        0
    );
    let table = printed(&world.database, &["list"]).await;
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(
        table.contains(&scope[..16]) && table.contains("POST /hold"),
        "{table}"
    );
    assert!(!table.contains(&keys[0]), "a key in a table");
}

#[tokio::test]
async fn a_purged_key_may_be_used_again_and_only_what_has_ended_is_purged() {
    let behaves = json!([{"cut": "after"}]);
    let (mut world, _, _) = unknown("/hold", &behaves).await;
    let key = fresh_key();
    post(&world.origins[0].client(), "/again", &key, &json!([{}])).await;
    refused(&world.database, &["purge"]).await;
    let said = printed(&world.database, &["purge", "--principal", "anonymous"]).await;
    assert!(said.starts_with("1 purged"), "{said}");
    assert_eq!(
        world
            .database
            .number("SELECT count(*) FROM archived_responses")
            .await,
        0
    );
    let left = shown(&world.database, &["list"]).await;
    assert_eq!(left.as_array().map(Vec::len), Some(1), "the pending one");
    let changes =
        "SELECT count(*) FROM record_changes WHERE action = 'purge' AND state = 'succeeded'";
    assert_eq!(world.database.number(changes).await, 1);
    // An origin believes its own memory for a while; one that starts anew does not.
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    let other = request(&world.origins[0].client(), "/again", &key, &json!([{}])).body("{}");
    let anew = Answer::to(other).await.expect("an answer");
    assert_eq!((anew.status, anew.replayed()), (201, Some(false)));
}
