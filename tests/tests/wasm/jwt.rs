//! The edge judges every token of the vectors as the origin does, with `crypto.subtle`.

use reqwest::Method;
use std::collections::BTreeMap;
use tests::{
    answer::Answer,
    client::{Client, fresh_key},
    echo::Echo,
    tokens::{Case, Vectors},
    worker::Worker,
};

/// What an edge is told once: cases that differ in it need one each.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Told {
    now: u64,
    issuer: Option<String>,
    audience: Option<String>,
}

fn by_edge(vectors: &Vectors) -> BTreeMap<Told, Vec<&Case>> {
    let mut edges = BTreeMap::<_, Vec<_>>::new();
    for case in &vectors.cases {
        let told = Told {
            now: case.now.unwrap_or(vectors.now),
            issuer: case.issuer.clone(),
            audience: case.audience.clone(),
        };
        edges.entry(told).or_default().push(case);
    }
    edges
}

async fn edge(vectors: &Vectors, told: Told, origin: &Echo) -> Worker {
    let set = [
        ("ORIGIN_URL", origin.url()),
        ("JWT_HS256_SECRET", vectors.secret.clone()),
        ("JWT_JWKS", vectors.jwks.to_string()),
    ];
    let issuer = told.issuer.map(|issuer| ("JWT_ISSUER", issuer));
    let audience = told.audience.map(|audience| ("JWT_AUDIENCE", audience));
    let bindings = set.into_iter().chain(issuer).chain(audience);
    Worker::edge_at(told.now, "callers.toml", bindings.collect()).await
}

/// A field's value has no white space at its end and no line break (RFC 9110 section 5.5).
const NOT_IN_HTTP: [&str; 2] = ["a space", "a line break"];

async fn judge(edge: &Client, case: &Case) {
    let claim = case.claim.as_deref().unwrap_or("sub");
    let request = edge.request(Method::POST, &format!("/by/{claim}"));
    let request = request
        .header("idempotency-key", fresh_key())
        .header("authorization", format!("Bearer {}", case.token));
    let answer = Answer::to(request).await.expect("an answer");
    let expected = match case.refused {
        Some(_) => (401, "credentials-invalid".to_owned()),
        None => (200, String::new()),
    };
    assert_eq!((answer.status, answer.problem()), expected, "{}", case.name);
}

#[tokio::test]
async fn every_token_of_the_vectors_has_its_outcome_at_the_edge() {
    let vectors = Vectors::read();
    assert!(vectors.cases.len() >= 100);
    let origin = Echo::start().await;
    for (told, cases) in by_edge(&vectors) {
        let edge = edge(&vectors, told, &origin).await;
        let sent = |case: &&&Case| !NOT_IN_HTTP.contains(&case.name.as_str());
        for case in cases.iter().filter(sent) {
            judge(&edge.client(), case).await;
        }
    }
}
