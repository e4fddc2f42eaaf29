//! Every limit, just below and just above.

use crate::call::{BODY, SETTLED, ended, post, post_patiently, request};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};
use tests::{answer::Answer, client::fresh_key, eventually::eventually, world::World};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};

#[tokio::test]
async fn an_answer_of_exactly_the_limit_is_kept_and_a_larger_one_reaches_its_first_client_whole() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for (bytes, replay) in [(1_000, 201), (1_001, 410), (3_000_000, 410)] {
        for client in [world.client(), world.origins[0].client()] {
            let key = fresh_key();
            let behaves = json!([{"huge": bytes}]);
            let first = post(&client, "/small", &key, &behaves).await;
            assert_eq!((first.status, first.body.len()), (201, bytes));
            assert_eq!(first.replayed(), Some(false));
            assert!(first.body.iter().all(|byte| *byte == b'x'));
            let again = post(&client, "/small", &key, &behaves).await;
            assert_eq!(again.status, replay, "{bytes}");
            if replay == 410 {
                again.assert_problem(410, "response-not-kept");
                assert_eq!(again.header("location"), Some("/things/1"));
            }
        }
    }
    assert_eq!(world.upstream().executions().await, 6);
}

#[tokio::test]
async fn a_large_answer_that_grows_when_it_is_unpacked_is_not_kept() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.origins[0].client(), fresh_key());
    let behaves = json!([{"huge": 5_000_000, "coding": "gzip"}]);
    let first = post(&client, "/small", &key, &behaves).await;
    assert_eq!(first.header("content-encoding"), Some("gzip"), "{first:?}");
    let again = post(&client, "/small", &key, &behaves).await;
    // Packed, it is over the limit itself.
    again.assert_problem(410, "response-not-kept");
    assert_eq!(world.upstream().executions().await, 1);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_sent_on() {
    let mut world = World::builder().unsigned().gateway().start().await;
    for client in [world.client(), world.origins[0].client()] {
        let body = |length: usize| format!("{BODY}{}", " ".repeat(length - BODY.len()));
        let send = async |length| {
            let request = request(&client, "/small", &fresh_key(), &json!([{}]));
            Answer::to(request.body(body(length)))
                .await
                .expect("an answer")
        };
        assert_eq!(send(1_000).await.status, 201);
        send(1_001).await.assert_problem(413, "body-too-large");
    }
    let arrivals = world.upstream().arrivals().await;
    assert_eq!(arrivals.len(), 2);
    assert!(arrivals.iter().all(|arrival| arrival.body.len() == 1_000));
}

#[tokio::test]
async fn an_answer_that_does_not_begin_in_time_is_unknown() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"delay": 1_000}, {}]);
    let late = post(&client, "/hasty", &key, &behaves).await;
    late.assert_problem(502, "outcome-unknown");
    ended(&world, &key).await;
    let truth = post(&client, "/hasty", &key, &behaves).await;
    assert_eq!((truth.status, truth.replayed()), (201, Some(true)));
    assert_eq!(world.upstream().executions().await, 1);
    let in_time = post(&client, "/hasty", &fresh_key(), &json!([{"delay": 100}])).await;
    assert_eq!(in_time.status, 201);
}

#[tokio::test]
async fn an_answer_that_does_not_end_in_time_is_unknown() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let (client, key) = (world.client(), fresh_key());
    let behaves = json!([{"chunks": ["a", "b", "c"], "pause": 600}, {}]);
    let late = post(&client, "/brief", &key, &behaves).await;
    late.assert_problem(502, "outcome-unknown");
    let truth = post_patiently(&client, "/hold", &fresh_key(), &behaves).await;
    assert_eq!(
        (truth.status, truth.body.as_slice()),
        (201, b"abc".as_slice())
    );
    ended(&world, &key).await;
    assert_eq!(world.upstream().executions().await, 2);
}

#[tokio::test]
async fn the_head_of_an_answer_is_bounded() {
    let mut world = World::builder().unsigned().gateway().start().await;
    let client = world.origins[0].client();
    // Not every client reads as many lines, so this one reads bytes.
    let status = async |behaviour: Value| {
        let (key, behaves) = (fresh_key(), json!([behaviour]));
        let request = format!(
            "POST /hold HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-length: 0\r\n\
             idempotency-key: {key}\r\nx-behave: {behaves}\r\n\r\n"
        );
        let answer = client.send_raw(request.as_bytes()).await;
        answer.split(' ').nth(1).map(str::to_owned)
    };
    // Node itself sends four lines more.
    for (lines, expected) in [(96, "201"), (97, "502")] {
        let found = status(json!({"lines": lines, "headers": []})).await;
        assert_eq!(found.as_deref(), Some(expected), "{lines} lines");
    }
    for (bytes, expected) in [(65_000, "201"), (66_000, "502")] {
        let found = status(json!({"lines": 8, "line": bytes / 8, "headers": []})).await;
        assert_eq!(found.as_deref(), Some(expected), "{bytes} bytes");
    }
    let executions = async || world.upstream().executions().await == 4;
    eventually("the executions", SETTLED, executions).await;
}

/// A listener that takes no connection, because its queue is full of those that nobody accepts.
async fn full() -> (SocketAddr, Vec<TcpStream>, TcpListener) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind((Ipv4Addr::LOCALHOST, 0).into())
        .expect("a free port");
    let listener = socket.listen(1).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let mut queue = Vec::new();
    while let Ok(Ok(queued)) =
        timeout(Duration::from_millis(300), TcpStream::connect(address)).await
    {
        queue.push(queued);
    }
    (address, queue, listener)
}

#[tokio::test]
async fn a_connection_that_is_not_made_in_time_has_carried_nothing() {
    let (address, _queue, _listener) = full().await;
    let policy = format!("[[route]]\nmatch = 'POST /full'\nupstream = 'http://{address}'\n");
    let builder = World::builder().unsigned().origin_policy(&policy);
    let world = builder.start().await;
    let (client, key) = (world.origins[0].client(), fresh_key());
    let begun = Instant::now();
    let refused = post(&client, "/full", &key, &json!([{}])).await;
    refused.assert_problem(503, "origin-unavailable");
    assert!(
        (4..9).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(
        client.status(&key).await.status,
        404,
        "released counts as absent"
    );
}
