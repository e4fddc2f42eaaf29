//! Giving money back.

use reqwest::StatusCode;

use crate::client::{Answer, Client, DECLINED, INTENTS, PAYMENT, REFUNDS};

async fn paid(client: &Client) -> String {
    let intent = client.pay("charge").await.json();
    intent["id"].as_str().unwrap().to_owned()
}

async fn refund(client: &Client, key: &str, intent: &str, more: &str) -> Answer {
    let form = format!("payment_intent={intent}{more}");
    client.post(REFUNDS, key, &form).await
}

#[tokio::test]
async fn a_refund_gives_back_the_whole_amount_and_marks_the_charge() {
    let client = Client::start().await;
    let intent = paid(&client).await;
    let answer = refund(&client, "r1", &intent, "&reason=requested_by_customer").await;
    let refund = answer.json();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(refund["object"], "refund");
    assert_eq!(refund["amount"], 1250);
    assert_eq!(refund["payment_intent"], intent);
    assert_eq!(refund["status"], "succeeded");
    assert_eq!(client.charges().await[0]["status"], "refunded");
}

#[tokio::test]
async fn a_refund_under_the_same_key_replays() {
    let client = Client::start().await;
    let intent = paid(&client).await;
    let first = refund(&client, "r1", &intent, "").await;
    let second = refund(&client, "r1", &intent, "").await;
    assert_eq!(second.text, first.text);
    assert!(second.replayed());
}

#[tokio::test]
async fn a_second_refund_is_already_refunded_and_saved() {
    let client = Client::start().await;
    let intent = paid(&client).await;
    refund(&client, "r1", &intent, "").await;
    for replayed in [false, true] {
        let answer = refund(&client, "r2", &intent, "").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert_eq!(answer.error().1, "charge_already_refunded");
        assert_eq!(answer.replayed(), replayed);
    }
}

#[tokio::test]
async fn parts_add_up_and_never_exceed_the_charge() {
    let client = Client::start().await;
    let intent = paid(&client).await;
    assert_eq!(
        refund(&client, "r1", &intent, "&amount=1000").await.status,
        StatusCode::OK
    );
    assert_eq!(client.charges().await[0]["status"], "succeeded");
    let over = refund(&client, "r2", &intent, "&amount=251").await;
    assert_eq!(over.status, StatusCode::BAD_REQUEST);
    let rest = refund(&client, "r3", &intent, "").await;
    assert_eq!(rest.json()["amount"], 250);
    assert_eq!(client.charges().await[0]["status"], "refunded");
}

#[tokio::test]
async fn only_a_payment_that_succeeded_can_be_refunded() {
    let client = Client::start().await;
    let declined = client.post(INTENTS, "k1", DECLINED).await.json();
    let declined = declined["error"]["payment_intent"]["id"].as_str().unwrap();
    let unconfirmed = PAYMENT.replace("&confirm=true", "");
    let unconfirmed = client.post(INTENTS, "k2", &unconfirmed).await.json();
    for intent in [declined, unconfirmed["id"].as_str().unwrap()] {
        let answer = refund(&client, intent, intent, "").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
    let missing = refund(&client, "r3", "pi_nobody", "").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert_eq!(missing.error().1, "resource_missing");
}
