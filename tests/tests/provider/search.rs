//! Finding intents by their metadata.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::client::{Answer, Client, DECLINED, INTENTS, PAYMENT};

async fn search(client: &Client, query: &str, more: &str) -> Answer {
    let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    client
        .get(&format!("{INTENTS}/search?query={query}{more}"))
        .await
}

#[tokio::test]
async fn an_intent_is_found_by_its_metadata() {
    let client = Client::start().await;
    let intent = client.pay("k1").await.json();
    client
        .post(INTENTS, "k2", &PAYMENT.replace("=s1", "=s2"))
        .await;
    let answer = search(&client, "metadata['scope']:'s1'", "").await;
    let expected = json!({"object": "search_result", "url": "/v1/payment_intents/search",
        "has_more": false, "data": [intent]});
    assert_eq!((answer.status, answer.json()), (StatusCode::OK, expected));
}

#[tokio::test]
async fn every_condition_must_hold() {
    let client = Client::start().await;
    let form = format!("{PAYMENT}&metadata[step]=charge");
    client.post(INTENTS, "k1", &form).await;
    let query = "metadata['scope']:'s1' AND metadata['step']:'charge'";
    assert_eq!(
        search(&client, query, "").await.json()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let other = query.replace("'charge'", "'refund'");
    assert_eq!(search(&client, &other, "").await.json()["data"], json!([]));
}

#[tokio::test]
async fn a_declined_intent_is_found_too() {
    let client = Client::start().await;
    client
        .post(INTENTS, "k1", &format!("{DECLINED}&metadata[scope]=s1"))
        .await;
    let found = search(&client, "metadata['scope']:'s1'", "").await.json();
    assert_eq!(found["data"][0]["status"], "requires_payment_method");
}

#[tokio::test]
async fn the_newest_come_first_up_to_the_limit() {
    let client = Client::start().await;
    client.pay("k1").await;
    let newest = client.pay("k2").await.json();
    let found = search(&client, "metadata['scope']:'s1'", "&limit=1")
        .await
        .json();
    assert_eq!(found["data"], Value::Array(vec![newest]));
    assert_eq!(found["has_more"], true);
}

#[tokio::test]
async fn a_query_that_is_not_understood_is_refused() {
    let client = Client::start().await;
    for (query, more) in [
        ("status:'succeeded'", ""),
        ("", ""),
        ("metadata['a']:'b'", "&limit=0"),
    ] {
        let answer = search(&client, query, more).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}{more}");
    }
}
