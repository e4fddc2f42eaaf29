//! The faults that can be switched on.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tests::provider::DEFAULT_SECRET;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Client, INTENTS, PAYMENT, read};

#[tokio::test]
async fn a_delay_holds_every_following_call_until_it_is_switched_off() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 80})).await;
    for key in ["k1", "k2"] {
        let start = Instant::now();
        assert_eq!(client.pay(key).await.status, StatusCode::OK);
        assert!(start.elapsed() >= Duration::from_millis(80));
    }
    client.set_faults(json!({})).await;
    assert_eq!(client.get("/_sandbox/faults").await.json()["delay_ms"], 0);
}

#[tokio::test]
async fn a_delay_comes_before_the_commit() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 60_000})).await;
    let call = tokio::spawn(client.form(INTENTS, "k1", PAYMENT).send());
    client.wait_for_calls("running", 1).await;
    assert_eq!(client.charges().await, [] as [Value; 0]);
    call.abort();
}

#[tokio::test]
async fn a_call_takes_its_faults_when_it_arrives() {
    let client = Client::start().await;
    client
        .set_faults(json!({"delay_ms": 1_000, "drop_after_commit": 1}))
        .await;
    let call = tokio::spawn(client.form(INTENTS, "k1", PAYMENT).send());
    client.wait_for_calls("running", 1).await;
    client.set_faults(json!({})).await;
    assert_eq!(client.pay("k2").await.status, StatusCode::OK);
    assert!(call.await.unwrap().is_err());
}

#[tokio::test]
async fn drop_after_commit_charges_and_saves_but_never_answers() {
    let client = Client::start().await;
    client.set_faults(json!({"drop_after_commit": 2})).await;
    for _ in 0..2 {
        assert!(client.form(INTENTS, "k1", PAYMENT).send().await.is_err());
    }
    let third = client.pay("k1").await;
    assert_eq!(third.status, StatusCode::OK);
    assert!(third.replayed());
    let charges = client.charges().await;
    assert_eq!(charges.len(), 1);
    assert_eq!(charges[0]["requests"], 3);
}

#[tokio::test]
async fn drop_before_commit_does_nothing_and_keeps_nothing() {
    let client = Client::start().await;
    client.set_faults(json!({"drop_before_commit": 1})).await;
    assert!(client.form(INTENTS, "k1", PAYMENT).send().await.is_err());
    assert_eq!(client.charges().await, [] as [Value; 0]);
    let other = client
        .post(INTENTS, "k1", &PAYMENT.replace("1250", "7"))
        .await;
    assert_eq!(other.status, StatusCode::OK);
    assert!(!other.replayed());
}

#[tokio::test]
async fn error_500_does_nothing_and_keeps_nothing() {
    let client = Client::start().await;
    client.set_faults(json!({"error_500": 1})).await;
    let answer = client.pay("k1").await;
    assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answer.error().0, "api_error");
    assert_eq!(client.charges().await, [] as [Value; 0]);
    let other = client
        .post(INTENTS, "k1", &PAYMENT.replace("1250", "7"))
        .await;
    assert_eq!(other.status, StatusCode::OK);
}

#[tokio::test]
async fn error_429_does_nothing_and_keeps_nothing() {
    let client = Client::start().await;
    client.set_faults(json!({"error_429": 1})).await;
    let answer = client.pay("k1").await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.error().0, "invalid_request_error");
    assert_eq!(client.charges().await, [] as [Value; 0]);
    let other = client
        .post(INTENTS, "k1", &PAYMENT.replace("1250", "7"))
        .await;
    assert_eq!(other.status, StatusCode::OK);
}

#[tokio::test]
async fn error_500_leaves_a_saved_answer_alone() {
    let client = Client::start().await;
    client.pay("k1").await;
    client.set_faults(json!({"error_500": 1})).await;
    assert_eq!(
        client.pay("k1").await.status,
        StatusCode::INTERNAL_SERVER_ERROR
    );
    assert!(client.pay("k1").await.replayed());
    assert_eq!(client.charges().await.len(), 1);
}

#[tokio::test]
async fn a_cut_connection_carries_not_one_byte() {
    let client = Client::start().await;
    for fault in ["drop_before_commit", "drop_after_commit"] {
        client.set_faults(json!({ fault: 1 })).await;
        let mut connection = TcpStream::connect(client.address()).await.unwrap();
        let request = format!(
            "POST {INTENTS} HTTP/1.1\r\nhost: provider\r\nauthorization: Bearer {DEFAULT_SECRET}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{PAYMENT}",
            PAYMENT.len()
        );
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"", "{fault}");
    }
}

#[tokio::test]
async fn faults_act_on_reads_as_well() {
    let client = Client::start().await;
    client
        .set_faults(json!({"drop_after_commit": 1, "error_500": 0}))
        .await;
    let path = "/v1/payment_intents/pi_nobody";
    let read_once = client
        .request(Method::GET, path)
        .bearer_auth(DEFAULT_SECRET);
    assert!(read_once.send().await.is_err());
    assert_eq!(client.get(path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn setting_replaces_every_switch() {
    let client = Client::start().await;
    client
        .set_faults(json!({"delay_ms": 5, "error_500": 2}))
        .await;
    client.set_faults(json!({"drop_before_commit": 1})).await;
    let expected = json!({"delay_ms": 0, "drop_after_commit": 0, "drop_before_commit": 1,
        "error_500": 0, "error_429": 0, "webhook_500": 0});
    assert_eq!(client.get("/_sandbox/faults").await.json(), expected);
}

#[tokio::test]
async fn an_unknown_or_negative_switch_is_refused_and_changes_nothing() {
    let client = Client::start().await;
    client.set_faults(json!({"error_500": 2})).await;
    for bad in [
        json!({"error_501": 1}),
        json!({"error_500": -1}),
        json!({"delay_ms": "5"}),
    ] {
        let request = client.request(Method::PUT, "/_sandbox/faults").json(&bad);
        assert_eq!(
            read(request).await.unwrap().status,
            StatusCode::BAD_REQUEST,
            "{bad}"
        );
    }
    assert_eq!(client.get("/_sandbox/faults").await.json()["error_500"], 2);
}
