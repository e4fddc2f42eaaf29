//! The rest of `/_sandbox`: forgetting, the list of calls, the webhook receiver.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::client::{Client, INTENTS, PAYMENT, read};

#[tokio::test]
async fn deleting_forgets_charges_and_saved_keys() {
    let client = Client::start().await;
    client.pay("k1").await;
    let answer = read(client.request(Method::DELETE, "/_sandbox/charges"))
        .await
        .unwrap();
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(client.charges().await, [] as [Value; 0]);
    assert_eq!(client.calls().await, [] as [Value; 0]);
    let again = client
        .post(INTENTS, "k1", &PAYMENT.replace("1250", "7"))
        .await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(client.charges().await[0]["requests"], 1);
}

#[tokio::test]
async fn deleting_leaves_the_key_of_a_running_call_in_use() {
    let client = Client::start().await;
    client.set_faults(json!({"delay_ms": 60_000})).await;
    let call = tokio::spawn(client.form(INTENTS, "k1", PAYMENT).send());
    client.wait_for_calls("running", 1).await;
    read(client.request(Method::DELETE, "/_sandbox/charges"))
        .await
        .unwrap();
    assert_eq!(client.pay("k1").await.status, StatusCode::CONFLICT);
    call.abort();
}

#[tokio::test]
async fn every_call_is_listed_with_its_key_and_outcome() {
    let client = Client::start().await;
    client.set_faults(json!({"drop_after_commit": 1})).await;
    assert!(client.form(INTENTS, "k1", PAYMENT).send().await.is_err());
    client.get("/v1/payment_intents/pi_nobody").await;
    let cut = json!({"method": "POST", "path": INTENTS, "idempotency_key": "k1",
        "outcome": "cut", "status": null});
    let read = json!({"method": "GET", "path": "/v1/payment_intents/pi_nobody",
        "idempotency_key": null, "outcome": "answered", "status": 404});
    assert_eq!(client.calls().await, [cut, read]);
}

#[tokio::test]
async fn the_webhook_keeps_what_it_received_byte_for_byte() {
    let client = Client::start().await;
    let body = "{\"id\" : \"e1\",\n \"type\":\"order.created\"}";
    let delivery = client
        .request(Method::POST, "/_sandbox/webhook")
        .header("webhook-id", "e1")
        .header("content-type", "application/cloudevents+json")
        .body(body);
    assert_eq!(read(delivery).await.unwrap().status, StatusCode::OK);
    let deliveries = client.get("/_sandbox/webhook").await.json();
    assert_eq!(deliveries[0]["body"], body);
    assert_eq!(deliveries[0]["status"], 200);
    assert_eq!(deliveries[0]["headers"]["webhook-id"], "e1");
    assert_eq!(
        deliveries[0]["headers"]["content-type"],
        "application/cloudevents+json"
    );
    read(client.request(Method::DELETE, "/_sandbox/webhook"))
        .await
        .unwrap();
    assert_eq!(client.get("/_sandbox/webhook").await.json(), json!([]));
}

#[tokio::test]
async fn webhook_500_fails_the_next_deliveries_only() {
    let client = Client::start().await;
    client.set_faults(json!({"webhook_500": 1})).await;
    assert_eq!(client.pay("k1").await.status, StatusCode::OK);
    for expected in [500, 200] {
        let delivery = client.request(Method::POST, "/_sandbox/webhook").body("{}");
        assert_eq!(read(delivery).await.unwrap().status.as_u16(), expected);
    }
    let deliveries = client.get("/_sandbox/webhook").await.json();
    assert_eq!(
        (&deliveries[0]["status"], &deliveries[1]["status"]),
        (&json!(500), &json!(200))
    );
}

#[tokio::test]
async fn health_needs_no_secret() {
    let client = Client::start().await;
    let answer = read(client.request(Method::GET, "/healthz")).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
}
