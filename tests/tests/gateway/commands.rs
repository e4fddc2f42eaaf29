//! Which requests are one command, whatever they carry (CASES C12, C15).

use reqwest::Method;
use tests::{
    answer::Answer,
    client::{Client, fresh_key},
    world::World,
};

const JSON: &str = "application/json";
const FORM_A: &[u8] = b"--a\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--a--\r\n";
const FORM_B: &[u8] = b"--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b--\r\n";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe";

/// What tells two commands apart: path and query, media type, body.
#[derive(Clone, Copy, Debug)]
struct Command(&'static str, Option<&'static str>, &'static [u8]);

async fn send(client: &Client, key: &str, command: Command) -> Answer {
    let Command(target, content_type, body) = command;
    let mut request = client.request(Method::PATCH, target).body(body);
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    let request = request.header("x-behave", "[{}]");
    let request = request.header("idempotency-key", key);
    Answer::to(request).await.expect("an answer")
}

const fn json(body: &'static [u8]) -> Command {
    Command("/items/1", Some(JSON), body)
}

const fn typed(content_type: &'static str, body: &'static [u8]) -> Command {
    Command("/items/1", Some(content_type), body)
}

const fn at(target: &'static str) -> Command {
    Command(target, Some(JSON), b"{}")
}

/// Pairs of one command.
const SAME: [(Command, Command); 7] = [
    (json(br#"{"b":1,"a":2}"#), json(br#" {"a":2.0,"b":1}"#)),
    (json(b"{}"), typed("APPLICATION/JSON", b"{}")),
    (
        json(b"{}"),
        typed("application/json; charset=utf-8", b"{ }"),
    ),
    (
        typed("application/vnd.api+json", b"[1,2]"),
        typed("application/vnd.api+json;v=1", b"[1, 2]"),
    ),
    (
        typed("multipart/form-data; boundary=a", FORM_A),
        typed("multipart/form-data; boundary=a", FORM_A),
    ),
    (typed("image/png", PNG), typed("image/png", PNG)),
    (at("/items/1"), at("/items/1?")),
];

/// Pairs of two.
const DIFFERENT: [(Command, Command); 11] = [
    (
        typed("text/plain", br#"{"b":1,"a":2}"#),
        typed("text/plain", br#"{"a":2,"b":1}"#),
    ),
    (typed("text/plain", b"{}"), json(b"{}")),
    (typed("application/vnd.api+json", b"{}"), json(b"{}")),
    (
        typed("multipart/form-data; boundary=a", FORM_A),
        typed("multipart/form-data; boundary=b", FORM_B),
    ),
    (
        typed("image/png", PNG),
        typed("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff"),
    ),
    (Command("/items/1", None, b""), json(b"null")),
    (
        Command("/items/1", None, b""),
        Command("/items/1", None, b" "),
    ),
    (json(br#""""#), json(b"null")),
    (at("/items/1"), at("/items/2")),
    (at("/items/1?a=&a=b&c="), at("/items/1?a=&b=c&b=")),
    (at("/items/1?x=1"), at("/items/1?x=%31")),
];

#[tokio::test]
async fn requests_that_mean_the_same_are_one_command() {
    let mut world = World::builder().gateway().start().await;
    for (one, other) in SAME {
        let key = fresh_key();
        let first = send(&world.client(), &key, one).await;
        let again = send(&world.client(), &key, other).await;
        assert_eq!(
            (first.status, first.replayed()),
            (201, Some(false)),
            "{one:?}"
        );
        assert_eq!(
            (again.status, again.replayed()),
            (201, Some(true)),
            "{other:?}"
        );
    }
    assert_eq!(world.upstream().executions().await, SAME.len() as u64);
}

#[tokio::test]
async fn requests_that_only_look_alike_are_two_commands_for_edge_and_origin() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for (one, other) in DIFFERENT {
        let key = fresh_key();
        assert_eq!(
            send(&world.client(), &key, one).await.status,
            201,
            "{one:?}"
        );
        for client in [world.client(), world.origins[0].client()] {
            let refused = send(&client, &key, other).await;
            assert_eq!(refused.problem(), "key-reused", "{other:?}: {refused:?}");
        }
    }
    assert_eq!(world.upstream().executions().await, DIFFERENT.len() as u64);
    let broken = typed("application/problem+json", b"{");
    let refused = send(&world.client(), &fresh_key(), broken).await;
    refused.assert_problem(400, "body-not-canonical");
}
