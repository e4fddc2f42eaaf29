//! Requests that race: however many, wherever they arrive, one executes.

use futures_util::future::join_all;
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    edge::Edge,
    origin::Origin,
    world::World,
};

const COUNT: usize = 50;

/// Sends [`COUNT`] equal requests at once, to these clients in turn.
async fn storm(clients: &[Client], key: &str, prefer: Option<&str>) -> Vec<Answer> {
    let requests = clients.iter().cycle().take(COUNT).map(|client| {
        let request = client.order(key, ORDER);
        Answer::to(match prefer {
            Some(prefer) => request.header("prefer", prefer),
            None => request,
        })
    });
    join_all(requests)
        .await
        .into_iter()
        .map(|answer| answer.expect("an answer"))
        .collect()
}

fn edges(world: &World) -> Vec<Client> {
    world.edges.iter().map(Edge::client).collect()
}

fn origins(world: &World) -> Vec<Client> {
    world.origins.iter().map(Origin::client).collect()
}

/// Every answer is the one 201, or 409; exactly one of them is not a replay.
fn assert_one_executed(answers: &[Answer]) {
    let (created, busy): (Vec<_>, Vec<_>) = answers.iter().partition(|a| a.status == 201);
    for answer in busy {
        answer.assert_problem(409, "request-in-progress");
    }
    let firsts = created
        .iter()
        .filter(|answer| answer.replayed() == Some(false))
        .count();
    assert_eq!(firsts, 1, "{created:?}");
    for answer in &created {
        assert_eq!(answer.lasting(), created[0].lasting());
    }
}

async fn assert_one_charge(world: &World) {
    world.assert_orders(1).await;
    assert_eq!(world.sandbox.charges().await[0].requests, 1);
    assert_eq!(world.database.records().await, 1);
}

/// Everybody who waited has the one order.
fn assert_all_placed(answers: &[Answer]) {
    assert!(
        answers.iter().all(|answer| answer.status == 201),
        "{answers:?}"
    );
    assert_eq!(answers.len(), COUNT);
    assert_one_executed(answers);
}

#[tokio::test]
async fn fifty_equal_requests_are_one_charge() {
    let (world, key) = (World::start().await, fresh_key());
    world.sandbox.delay(300).await;
    let answers = storm(&[world.client()], &key, None).await;
    assert_one_executed(&answers);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn fifty_equal_requests_that_wait_get_one_answer() {
    let (world, key) = (World::start().await, fresh_key());
    world.sandbox.delay(300).await;
    let answers = storm(&[world.client()], &key, Some("wait=10")).await;
    assert_all_placed(&answers);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn two_edges_without_a_common_lock_and_two_origins_are_one_charge() {
    let (world, key) = (
        World::builder().edges(2).origins(2).start().await,
        fresh_key(),
    );
    world.sandbox.delay(300).await;
    let clients = edges(&world);
    assert_one_executed(&storm(&clients, &key, None).await);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn two_edges_and_two_origins_give_everyone_who_waits_one_answer() {
    let (world, key) = (
        World::builder().edges(2).origins(2).start().await,
        fresh_key(),
    );
    world.sandbox.delay(300).await;
    let clients = edges(&world);
    let answers = storm(&clients, &key, Some("wait=10")).await;
    assert_all_placed(&answers);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn without_any_edge_two_origins_are_one_charge() {
    let world = World::builder()
        .unsigned()
        .edges(0)
        .origins(2)
        .start()
        .await;
    world.sandbox.delay(300).await;
    let clients = origins(&world);
    let key = fresh_key();
    assert_one_executed(&storm(&clients, &key, None).await);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn without_any_edge_two_origins_give_everyone_who_waits_one_answer() {
    let world = World::builder()
        .unsigned()
        .edges(0)
        .origins(2)
        .start()
        .await;
    world.sandbox.delay(300).await;
    let clients = origins(&world);
    let key = fresh_key();
    let answers = storm(&clients, &key, Some("wait=10")).await;
    assert_all_placed(&answers);
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn equal_and_other_commands_that_race_are_one_order() {
    let (world, key) = (
        World::builder().edges(2).origins(2).start().await,
        fresh_key(),
    );
    world.sandbox.delay(100).await;
    let race = async |prefer: &str| {
        let requests = (0..COUNT).map(|n| {
            let body = ORDER.replace("1250", &(1250 + n % 2).to_string());
            let order = world.edges[n % 4 / 2].client().order(&key, body);
            Answer::to(order.header("prefer", prefer))
        });
        let answers = join_all(requests).await.into_iter();
        let answers = answers.map(|answer| answer.expect("an answer"));
        answers.collect::<Vec<_>>()
    };
    let first = race("wait=0").await;
    let created = first.iter().find(|answer| answer.status == 201);
    let created = &created.expect("one 201").json()["amount"];
    for (answer, n) in first.iter().zip(0..) {
        match answer.status {
            201 => assert_eq!(*created, 1250 + n % 2),
            // Until its leader knows better, an edge takes either command for the first.
            409 => answer.assert_problem(409, "request-in-progress"),
            _ => answer.assert_problem(422, "key-reused"),
        }
        assert!(answer.status != 422 || *created != 1250 + n % 2);
    }
    for (answer, n) in race("wait=10").await.iter().zip(0..) {
        if *created == 1250 + n % 2 {
            answer.assert_replayed();
        } else {
            answer.assert_problem(422, "key-reused");
        }
    }
    assert_one_charge(&world).await;
}

#[tokio::test]
async fn fifty_orders_at_once_take_the_right_stock() {
    let world = World::builder().origins(2).edges(2).start().await;
    let before = [
        world.database.stock("A1").await,
        world.database.stock("B2").await,
    ];
    // Written in both orders: stock is taken in one.
    let items = [
        r#"[{"sku":"A1","quantity":3},{"sku":"B2","quantity":2}]"#,
        r#"[{"sku":"B2","quantity":1},{"sku":"A1","quantity":3},{"sku":"B2","quantity":1}]"#,
    ];
    let requests = (0..COUNT).map(|n| {
        let body = ORDER.replace(r#"[{"sku":"A1","quantity":2}]"#, items[n % 2]);
        Answer::to(world.edges[n % 4 / 2].client().order(&fresh_key(), body))
    });
    for answer in join_all(requests).await {
        assert_eq!(answer.expect("an answer").status, 201);
    }
    let after = [
        world.database.stock("A1").await,
        world.database.stock("B2").await,
    ];
    assert_eq!([before[0] - after[0], before[1] - after[1]], [150, 100]);
    world.assert_orders(50).await;
}
