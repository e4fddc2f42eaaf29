//! Keys, as Stripe keeps them.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::client::{Client, DECLINED, INTENTS, PAYMENT, REFUNDS, read};

#[tokio::test]
async fn the_same_key_and_parameters_get_the_saved_answer() {
    let client = Client::start().await;
    let first = client.pay("k1").await;
    let second = client.pay("k1").await;
    assert!(!first.replayed());
    assert!(second.replayed());
    assert_eq!((second.status, &second.text), (first.status, &first.text));
    let charges = client.charges().await;
    assert_eq!(charges.len(), 1);
    assert_eq!(charges[0]["requests"], 2);
}

#[tokio::test]
async fn parameters_are_compared_parsed_and_sorted() {
    let client = Client::start().await;
    client.pay("k1").await;
    let mut pairs: Vec<&str> = PAYMENT.split('&').map(str::trim).collect();
    pairs.reverse();
    let form = pairs.join("&").replace('[', "%5B").replace(']', "%5D");
    assert!(client.post(INTENTS, "k1", &form).await.replayed());
}

#[tokio::test]
async fn other_parameters_under_the_key_are_refused_and_the_key_is_not_repeated() {
    let client = Client::start().await;
    client.pay("secret-key").await;
    let form = PAYMENT.replace("1250", "1251");
    let answer = client.post(INTENTS, "secret-key", &form).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.error().0, "idempotency_error");
    assert!(!answer.text.contains("secret-key"));
    assert!(client.pay("secret-key").await.replayed());
    assert_eq!(client.charges().await.len(), 1);
}

#[tokio::test]
async fn another_endpoint_under_the_key_is_refused() {
    let client = Client::start().await;
    let id = client.pay("k1").await.json()["id"].clone();
    let form = format!("payment_intent={}", id.as_str().unwrap());
    let answer = client.post(REFUNDS, "k1", &form).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.error().0, "idempotency_error");
    assert_eq!(client.charges().await[0]["status"], "succeeded");
}

#[tokio::test]
async fn while_the_first_runs_the_same_is_in_use_and_other_parameters_are_a_mismatch() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 60_000})).await;
    let first = tokio::spawn(client.form(INTENTS, "k1", PAYMENT).send());
    client.wait_for_calls("running", 1).await;
    let in_use = client.pay("k1").await;
    let mismatch = client.post(INTENTS, "k1", DECLINED).await;
    first.abort();
    assert_eq!(in_use.status, StatusCode::CONFLICT);
    assert_eq!(
        in_use.error(),
        ("idempotency_error".into(), "idempotency_key_in_use".into())
    );
    assert_eq!(mismatch.status, StatusCode::BAD_REQUEST);
    assert_eq!(mismatch.error().0, "idempotency_error");
    assert_eq!(client.charges().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_conflict_is_not_saved() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 1_000})).await;
    let first = tokio::spawn(read(client.form(INTENTS, "k1", PAYMENT)));
    client.wait_for_calls("running", 1).await;
    assert_eq!(client.pay("k1").await.status, StatusCode::CONFLICT);
    let first = first.await.unwrap().unwrap();
    let third = client.pay("k1").await;
    assert_eq!(third.text, first.text);
    assert!(third.replayed());
    assert_eq!(client.charges().await[0]["requests"], 3);
}

#[tokio::test]
async fn fifty_at_once_make_one_charge() {
    let client = Client::start().await;
    let calls: Vec<_> = (0..50)
        .map(|_| tokio::spawn(read(client.form(INTENTS, "k1", PAYMENT))))
        .collect();
    for call in calls {
        let status = call.await.unwrap().unwrap().status;
        assert!(
            [StatusCode::OK, StatusCode::CONFLICT].contains(&status),
            "{status}"
        );
    }
    let charges = client.charges().await;
    assert_eq!(charges.len(), 1);
    assert_eq!(charges[0]["requests"], 50);
}

#[tokio::test]
async fn a_decline_is_saved() {
    let client = Client::start().await;
    let first = client.post(INTENTS, "k1", DECLINED).await;
    let second = client.post(INTENTS, "k1", DECLINED).await;
    assert_eq!(second.status, StatusCode::PAYMENT_REQUIRED);
    assert_eq!(second.text, first.text);
    assert!(second.replayed());
}

#[tokio::test]
async fn a_refused_parameter_is_not_saved() {
    let client = Client::start().await;
    let bad = client
        .post(INTENTS, "k1", &PAYMENT.replace("1250", "0"))
        .await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    let good = client.pay("k1").await;
    assert_eq!(good.status, StatusCode::OK);
    assert!(!good.replayed());
}

#[tokio::test]
async fn different_keys_are_different_charges_in_order_of_creation() {
    let client = Client::start().await;
    client.pay("k2").await;
    client.pay("k1").await;
    let charges = client.charges().await;
    let keys: Vec<&Value> = charges.iter().map(|c| &c["idempotency_key"]).collect();
    assert_eq!(keys, ["k2", "k1"]);
}

#[tokio::test]
async fn a_malformed_key_is_refused() {
    let client = Client::start().await;
    for key in ["", &"k".repeat(256)] {
        let answer = client.pay(key).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
    let twice = client
        .form(INTENTS, "k1", PAYMENT)
        .header("idempotency-key", "k2");
    assert_eq!(read(twice).await.unwrap().status, StatusCode::BAD_REQUEST);
    assert_eq!(client.pay(&"k".repeat(255)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_its_call() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 1_000})).await;
    let call = tokio::spawn(client.form(INTENTS, "k1", PAYMENT).send());
    client.wait_for_calls("running", 1).await;
    call.abort();
    client.wait_for_calls("answered", 1).await;
    assert_eq!(client.charges().await.len(), 1);
    client.set_faults(json!({})).await;
    assert!(client.pay("k1").await.replayed());
}
