//! The edge and an issuer that publishes its keys at a URL, and changes them.

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};
use tests::{
    answer::Answer,
    client::{Client, fresh_key},
    echo::Echo,
    tokens::Vectors,
    worker::Worker,
};
use tokio::net::TcpListener;

/// What the issuer publishes, and how often it was asked.
#[derive(Default)]
struct Published {
    keys: Option<Vec<Value>>,
    asked: u32,
}

#[derive(Clone, Default)]
struct Issuer(Arc<Mutex<Published>>);

impl Issuer {
    /// Publishes the vectors' keys of these ids.
    fn publish(&self, vectors: &Vectors, ids: &[&str]) {
        let all = vectors.jwks["keys"].as_array().expect("keys");
        let keys = all
            .iter()
            .filter(|key| ids.iter().any(|id| key["kid"] == *id));
        self.0.lock().expect("no panic").keys = Some(keys.cloned().collect());
    }

    fn asked(&self) -> u32 {
        self.0.lock().expect("no panic").asked
    }

    async fn start(&self) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let app = Router::new()
            .route("/keys", get(answer))
            .with_state(self.clone());
        // Ends with the test's runtime.
        tokio::spawn(async move { axum::serve(listener, app).await });
        format!("http://{address}/keys")
    }
}

async fn answer(State(issuer): State<Issuer>) -> Result<Json<Value>, StatusCode> {
    let mut published = issuer.0.lock().expect("no panic");
    published.asked += 1;
    let keys = published
        .keys
        .as_ref()
        .ok_or(StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(Json(json!({ "keys": keys })))
}

async fn edge(vectors: &Vectors, issuer: &Issuer, origin: &Echo) -> Worker {
    let bindings = vec![
        ("ORIGIN_URL", origin.url()),
        ("JWT_HS256_SECRET", vectors.secret.clone()),
        ("JWT_JWKS_URL", issuer.start().await),
    ];
    Worker::edge_at(vectors.now, "callers.toml", bindings).await
}

async fn ask(edge: &Client, token: &str) -> Answer {
    let request = edge.request(Method::POST, "/by/sub").bearer_auth(token);
    let request = request.header("idempotency-key", fresh_key());
    Answer::to(request).await.expect("an answer")
}

#[tokio::test]
async fn published_keys_are_kept_until_a_token_names_one_that_is_not_among_them() {
    let (vectors, issuer, origin) = (Vectors::read(), Issuer::default(), Echo::start().await);
    issuer.publish(&vectors, &["ed"]);
    let worker = edge(&vectors, &issuer, &origin).await;
    let client = worker.client();
    for _ in 0..3 {
        assert_eq!(ask(&client, vectors.token("EdDSA by ed")).await.status, 200);
        assert_eq!(issuer.asked(), 1);
    }
    let es256 = vectors.token("ES256 by es");
    ask(&client, es256)
        .await
        .assert_problem(401, "credentials-invalid");
    assert_eq!(issuer.asked(), 2);
    issuer.publish(&vectors, &["es"]);
    assert_eq!(ask(&client, es256).await.status, 200);
    // A key that its issuer has taken back signs nothing any more.
    let taken_back = ask(&client, vectors.token("EdDSA by ed")).await;
    taken_back.assert_problem(401, "credentials-invalid");
    assert_eq!(ask(&client, es256).await.status, 200);
    assert_eq!(issuer.asked(), 4);
}

#[tokio::test]
async fn an_issuer_that_can_not_be_asked_is_503_where_its_keys_are_needed() {
    let (vectors, issuer, origin) = (Vectors::read(), Issuer::default(), Echo::start().await);
    let worker = edge(&vectors, &issuer, &origin).await;
    let client = worker.client();
    assert_eq!(ask(&client, vectors.token("HS256")).await.status, 200);
    let es256 = vectors.token("ES256 by es");
    ask(&client, es256)
        .await
        .assert_problem(503, "origin-unavailable");
    issuer.publish(&vectors, &["es"]);
    assert_eq!(ask(&client, es256).await.status, 200);
}
