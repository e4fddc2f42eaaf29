//! What the service says of itself, held against what it does.

use protocol::problem::Kind;
use reqwest::Method;
use serde_json::Value;
use std::collections::BTreeSet;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    world::World,
};

async fn document(client: &Client) -> Value {
    let answer = client.get("/openapi.json").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

fn names(value: &Value) -> BTreeSet<&str> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, _)| name.as_str()).collect()
}

fn texts(value: &Value) -> BTreeSet<&str> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// Fails unless `found` has the members that the schema requires, and no other than it names.
#[track_caller]
fn assert_of_schema(document: &Value, schema: &str, found: &Value) {
    let schema = &document["components"]["schemas"][schema];
    let (found, known) = (names(found), names(&schema["properties"]));
    let required = texts(&schema["required"]);
    assert!(required.is_subset(&found), "{required:?} {found:?}");
    assert!(found.is_subset(&known), "{known:?} {found:?}");
}

#[tokio::test]
async fn the_policy_is_published_for_programs_and_for_people() {
    let world = World::start().await;
    let client = world.client();
    let policy = client.get("/.well-known/idempotency").await.json();
    assert_eq!(policy["header"], "Idempotency-Key");
    assert_eq!(policy["key"]["bytes_max"], 255);
    let route = &policy["routes"][0];
    assert_eq!(route["match"], "POST /orders");
    assert_eq!(
        (&route["key"], &route["principal"]),
        (&"required".into(), &"anonymous".into())
    );
    assert_eq!(
        (&route["retention"], &route["wait_max"]),
        (&86_400.0.into(), &30.0.into())
    );
    assert_of_schema(&document(&client).await, "Policy", &policy);
    let page = client.get("/idempotency").await;
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-type")
            .is_some_and(|found| found.starts_with("text/html"))
    );
    let text = String::from_utf8(page.body).expect("UTF-8");
    for sentence in [
        "<h2>POST /orders</h2>",
        "A key is required",
        "An answer is replayed for 1 day",
        "30 seconds at most",
        "a request with Authorization is refused",
        "at most 1048576 bytes",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
    for link in ["/.well-known/idempotency", "/openapi.json"] {
        assert!(text.contains(link), "{link}");
    }
}

#[tokio::test]
async fn a_policy_of_upstreams_says_what_clients_need_and_no_address() {
    let mut world = World::builder().gateway().start().await;
    let client = world.client();
    let policy = client.get("/.well-known/idempotency").await;
    let page = client.get("/idempotency").await;
    let address = world.upstream().url();
    for answer in [&policy, &page] {
        let text = String::from_utf8_lossy(&answer.body);
        assert!(
            !text.contains(&address) && !text.contains("upstream"),
            "{text}"
        );
    }
    let text = String::from_utf8_lossy(&page.body);
    for sentence in [
        "Without a key, one is made of /merchantReference",
        "A key is optional",
        "the value of x-api-key names it",
        "2 seconds after the answer the key may be used again",
        "PATCH /items/{id}",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
}

#[tokio::test]
async fn the_document_describes_every_problem_and_every_header() {
    let world = World::start().await;
    let document = document(&world.client()).await;
    let types = &document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    let paths: Vec<_> = Kind::ALL.iter().map(|kind| kind.path()).collect();
    assert_eq!(texts(types), paths.iter().map(String::as_str).collect());
    let mut said = String::new();
    for path in document["paths"].as_object().into_iter().flatten() {
        for operation in path.1.as_object().into_iter().flatten() {
            for (status, answer) in operation.1["responses"].as_object().into_iter().flatten() {
                let text = answer["description"].as_str().unwrap_or_default();
                said.push_str(text);
                for kind in Kind::ALL
                    .iter()
                    .filter(|kind| names_problem(text, kind.slug()))
                {
                    assert_eq!(kind.status().to_string(), *status, "{text}");
                }
            }
        }
    }
    for kind in Kind::ALL {
        assert!(
            names_problem(&said, kind.slug()),
            "{} is not described",
            kind.slug()
        );
    }
}

/// Whether the text holds the slug as a word of its own.
fn names_problem(text: &str, slug: &str) -> bool {
    let is_of_word = |char: char| !char.is_ascii_alphanumeric() && char != '-';
    text.split(is_of_word).any(|word| word == slug)
}

#[tokio::test]
async fn the_service_does_what_the_document_says() {
    let world = World::start().await;
    let client = world.client();
    let document = document(&client).await;
    let (key, placed) = (
        fresh_key(),
        &document["paths"]["/orders"]["post"]["responses"],
    );
    let order = client.place(&key, ORDER).await;
    assert_of_schema(&document, "Order", &order.json());
    for header in names(&placed["201"]["headers"]) {
        let is_there = !order.values(&header.to_lowercase()).is_empty();
        assert!(
            is_there || header == "Preference-Applied",
            "{header}: {order:?}"
        );
    }
    let location = order.header("location").expect("a location");
    assert_of_schema(&document, "Order", &client.get(location).await.json());
    assert_of_schema(&document, "Status", &client.status(&key).await.json());
    assert_of_schema(
        &document,
        "Problem",
        &client.place("a b", ORDER).await.json(),
    );
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        let path = path
            .replace("{id}", "ord_none")
            .replace("{slug}", "key-reused");
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let answer = Answer::to(client.request(method, &path)).await;
            let status = answer.expect("an answer").status.to_string();
            assert!(
                operation["responses"][&status].is_object(),
                "{path}: {status}"
            );
        }
    }
}

#[tokio::test]
async fn every_problem_has_its_page() {
    let world = World::start().await;
    for kind in Kind::ALL {
        let page = world.client().get(&kind.path()).await;
        assert_eq!(page.status, 200, "{}", kind.slug());
        let text = String::from_utf8(page.body).expect("UTF-8");
        assert!(
            text.contains(kind.title()) && text.contains(kind.explanation()),
            "{text}"
        );
    }
    let unknown = world.client().get("/problems/no-such").await;
    unknown.assert_problem(404, "not-found");
}
