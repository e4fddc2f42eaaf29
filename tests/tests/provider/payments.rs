//! Creating and reading `PaymentIntents`.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tests::provider::DEFAULT_SECRET;

use crate::client::{Client, DECLINED, INTENTS, PAYMENT, read};

#[tokio::test]
async fn a_payment_moves_money_and_is_listed_once() {
    let client = Client::start().await;
    let answer = client.pay("k1").await;
    let intent = answer.json();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(intent["object"], "payment_intent");
    assert_eq!(intent["status"], "succeeded");
    assert_eq!(intent["amount_received"], 1250);
    assert_eq!(intent["metadata"], json!({"scope": "s1"}));
    assert_eq!(intent["transfer_data"], json!({"destination": "acct_1"}));
    assert!(intent["latest_charge"].as_str().unwrap().starts_with("ch_"));
    let row = json!({"id": intent["id"], "idempotency_key": "k1", "amount": 1250,
        "currency": "eur", "status": "succeeded", "requests": 1});
    assert_eq!(client.charges().await, [row]);
}

#[tokio::test]
async fn an_upper_case_currency_is_answered_in_lower_case() {
    let client = Client::start().await;
    let form = PAYMENT.replace("eur", "EUR");
    let answer = client.post(INTENTS, "k1", &form).await;
    assert_eq!(answer.json()["currency"], "eur");
}

#[tokio::test]
async fn without_confirm_no_money_moves() {
    let client = Client::start().await;
    let form = PAYMENT.replace("&confirm=true", "");
    let intent = client.post(INTENTS, "k1", &form).await.json();
    assert_eq!(intent["status"], "requires_confirmation");
    assert_eq!(intent["amount_received"], 0);
    assert_eq!(client.charges().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_payment_without_a_key_runs_each_time() {
    let client = Client::start().await;
    for _ in 0..2 {
        let answer = read(client.unkeyed(INTENTS, PAYMENT)).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK);
    }
    let charges = client.charges().await;
    assert_eq!(charges.len(), 2);
    assert_eq!(charges[0]["idempotency_key"], Value::Null);
    assert_eq!(charges[0]["requests"], 1);
}

#[tokio::test]
async fn a_decline_is_a_card_error_with_its_intent_and_moves_nothing() {
    let client = Client::start().await;
    let answer = client.post(INTENTS, "k1", DECLINED).await;
    let error = &answer.json()["error"];
    assert_eq!(answer.status, StatusCode::PAYMENT_REQUIRED);
    assert_eq!(error["type"], "card_error");
    assert_eq!(error["code"], "card_declined");
    assert_eq!(error["decline_code"], "generic_decline");
    assert_eq!(error["payment_intent"]["status"], "requires_payment_method");
    assert_eq!(client.charges().await, [] as [Value; 0]);
}

#[tokio::test]
async fn an_intent_is_read_by_its_id() {
    let client = Client::start().await;
    let intent = client.pay("k1").await.json();
    let path = format!("{INTENTS}/{}", intent["id"].as_str().unwrap());
    assert_eq!(client.get(&path).await.json(), intent);
    let answer = client.get("/v1/payment_intents/pi_nobody").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.error().1, "resource_missing");
}

#[tokio::test]
async fn each_bad_parameter_is_named() {
    let client = Client::start().await;
    for (from, to, code, param) in [
        ("amount=1250&", "", "parameter_missing", "amount"),
        ("1250", "0", "parameter_invalid_integer", "amount"),
        ("1250", "12.5", "parameter_invalid_integer", "amount"),
        ("1250", "-1", "parameter_invalid_integer", "amount"),
        ("currency=eur&", "", "parameter_missing", "currency"),
        ("eur", "euro", "", "currency"),
        ("true", "maybe", "", "confirm"),
        ("amount", "amuont", "parameter_unknown", "amuont"),
        ("=s1", &format!("={}", "x".repeat(501)), "", "metadata"),
        (
            "&payment_method=pm_card_visa",
            "",
            "payment_intent_unexpected_state",
            "",
        ),
    ] {
        let form = PAYMENT.replacen(from, to, 1);
        let answer = client.post(INTENTS, "k1", &form).await;
        let named = answer.json()["error"]["param"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{form}");
        assert_eq!(
            answer.error(),
            ("invalid_request_error".into(), code.into()),
            "{form}"
        );
        assert_eq!(named, param, "{form}");
    }
    assert_eq!(client.charges().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_json_body_is_refused() {
    let client = Client::start().await;
    let request = client
        .request(Method::POST, INTENTS)
        .bearer_auth(DEFAULT_SECRET);
    let request = request.json(&json!({"amount": 1250, "currency": "eur"}));
    assert_eq!(read(request).await.unwrap().status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_missing_or_wrong_secret_is_401_and_does_nothing() {
    let client = Client::start().await;
    for secret in [None, Some("sk_test_other"), Some("")] {
        let request = client.request(Method::POST, INTENTS).body(PAYMENT);
        let request = match secret {
            Some(secret) => request.bearer_auth(secret),
            None => request,
        };
        let answer = read(request).await.unwrap();
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(answer.error().0, "invalid_request_error");
    }
    assert_eq!(client.calls().await, [] as [Value; 0]);
}

#[tokio::test]
async fn every_answer_has_its_own_request_id() {
    let client = Client::start().await;
    let first = client.pay("k1").await.headers["request-id"].clone();
    let second = client.pay("k1").await.headers["request-id"].clone();
    assert!(first.to_str().unwrap().starts_with("req_"));
    assert_ne!(first, second);
}

#[tokio::test]
async fn an_unknown_url_is_404_in_the_envelope() {
    let client = Client::start().await;
    let answer = client.get("/v1/customers").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.error().0, "invalid_request_error");
}

#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let client = Client::start().await;
    let form = format!("description={}", "x".repeat(1024 * 1024));
    let answer = client.post(INTENTS, "k1", &form).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}
