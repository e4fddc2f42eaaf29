//! Canonical JSON in Wasm gives what it gives natively, on every vector.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::Value;
use tests::{answer::Answer, client::Client, worker::Worker};
use xtask::artifacts::Profile;

const VECTORS: &str = include_str!("../../../protocol/vectors/canonical.json");

/// The vector as the Worker would have written it: what came out instead of what should.
async fn outcome(client: &Client, vector: &Value) -> Value {
    let body = vector["input"].as_str().expect("an input");
    let body = BASE64_STANDARD.decode(body).expect("base64");
    let pointers = ["include", "exclude"].map(|list| {
        let pointers = vector[list].as_array().into_iter().flatten();
        pointers.map(move |pointer| (list, pointer.as_str().expect("a pointer")))
    });
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pointers.into_iter().flatten());
    let request = client.request(Method::POST, &format!("/canonical?{}", query.finish()));
    let answer = Answer::to(request.body(body)).await.expect("an answer");
    assert_eq!(answer.status, 200, "{}: {answer:?}", vector["name"]);
    answer.json()
}

#[tokio::test]
async fn every_vector_of_canonical_json_holds_in_wasm() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).expect("JSON");
    assert!(vectors.len() >= 300);
    let worker = Worker::of_tests(Profile::Dev).await;
    let client = worker.client();
    for vector in &vectors {
        let outcome = outcome(&client, vector).await;
        for member in ["canonical", "sha256", "error", "offset"] {
            assert_eq!(outcome[member], vector[member], "{}", vector["name"]);
        }
    }
}
