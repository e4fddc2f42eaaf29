//! Definitive failures: a declined card, and a piece that is sold out.

use futures_util::future::join;
use std::time::Duration;
use tests::{
    client::{ORDER, fresh_key},
    eventually::eventually,
    world::World,
};

const LIMIT: Duration = Duration::from_secs(10);

fn last_piece() -> String {
    ORDER
        .replace("A1", "LAST1")
        .replace("\"quantity\":2", "\"quantity\":1")
}

#[tokio::test]
async fn a_declined_card_is_final_and_the_provider_is_not_asked_again() {
    let (mut world, key) = (World::start().await, fresh_key());
    let declined = ORDER.replace("acct_1", "acct_declined");
    let first = world.client().place(&key, declined.clone()).await;
    first.assert_problem(402, "card-declined");
    assert_eq!(first.replayed(), Some(false));
    let again = world.client().place(&key, declined.clone()).await;
    assert_eq!(
        (again.lasting(), again.replayed()),
        (first.lasting(), Some(true))
    );
    // Nor when the edge remembers nothing.
    world.edges[0].kill();
    world.edges[0].restart().await;
    let again = world.client().place(&key, declined).await;
    assert_eq!(
        (again.lasting(), again.replayed()),
        (first.lasting(), Some(true))
    );
    assert_eq!(world.sandbox.calls().await.len(), 1);
    world.assert_orders(0).await;
}

#[tokio::test]
async fn the_last_piece_is_sold_once_and_the_other_buyer_gets_the_money_back() {
    let world = World::builder().edges(2).origins(2).start().await;
    let clients = [world.edges[0].client(), world.edges[1].client()];
    let keys = [fresh_key(), fresh_key()];
    let (one, other) = join(
        clients[0].place(&keys[0], last_piece()),
        clients[1].place(&keys[1], last_piece()),
    )
    .await;
    let loser = usize::from(one.status == 201);
    let (won, lost) = if one.status == 201 {
        (one, other)
    } else {
        (other, one)
    };
    assert_eq!(won.status, 201, "{won:?}");
    lost.assert_problem(409, "out-of-stock");
    assert_eq!(lost.json()["retryable"], false);
    assert_eq!(world.database.stock("LAST1").await, 0);
    let refunded = async || {
        let charges = world.sandbox.charges().await;
        charges.len() == 2 && charges.iter().filter(|c| c.status == "refunded").count() == 1
    };
    eventually("one refund", LIMIT, refunded).await;
    let again = clients[loser].place(&keys[loser], last_piece()).await;
    assert_eq!(
        (again.lasting(), again.replayed()),
        (lost.lasting(), Some(true))
    );
    world.assert_orders(1).await;
    let refunds = world.sandbox.calls().await;
    assert_eq!(
        refunds
            .iter()
            .filter(|call| call.path == "/v1/refunds")
            .count(),
        1
    );
}

#[tokio::test]
async fn a_refund_whose_answer_was_lost_is_asked_for_again_and_made_once() {
    let world = World::start().await;
    world.client().place(&fresh_key(), last_piece()).await;
    world
        .client()
        .place(&fresh_key(), last_piece())
        .await
        .assert_problem(409, "out-of-stock");
    let due = "UPDATE refunds SET refunded_at = NULL, refund_id = NULL, next_attempt = now()";
    let open = "SELECT count(*) FROM refunds WHERE refunded_at IS NULL";
    let carried_out = async || world.database.number(open).await == 0;
    eventually("the refund", LIMIT, carried_out).await;
    world.database.execute(due).await;
    eventually("the refund again", LIMIT, carried_out).await;
    let charges = world.sandbox.charges().await;
    assert_eq!(
        charges
            .iter()
            .filter(|charge| charge.status == "refunded")
            .count(),
        1
    );
}

#[tokio::test]
async fn an_order_that_is_no_order_leaves_nothing_and_names_its_member() {
    let world = World::builder().unsigned().start().await;
    let table = [
        (ORDER.replace("1250", "0"), "amount"),
        (ORDER.replace("1250", "1250.5"), "amount"),
        (ORDER.replace("acct_1", ""), "destination"),
        (ORDER.replacen('{', "{\"extra\":1,", 1), "extra"),
        (
            ORDER.replace("\"quantity\":2", "\"quantity\":0"),
            "quantity",
        ),
        ("[]".to_owned(), "body"),
    ];
    for client in [world.client(), world.origins[0].client()] {
        for (order, member) in &table {
            let refused = client.place(&fresh_key(), order.clone()).await;
            refused.assert_problem(400, "order-invalid");
            let body = refused.json();
            assert!(
                body["detail"]
                    .as_str()
                    .is_some_and(|detail| detail.contains(member))
            );
            assert_eq!(
                (&body["retryable"], &body["retry_with_same_key"]),
                (&false.into(), &true.into())
            );
        }
    }
    let claimed = "SELECT count(*) FROM idempotency_records WHERE state <> 'released'";
    assert_eq!(world.database.number(claimed).await, 0);
    assert_eq!(world.sandbox.calls().await.len(), 0);
}

#[tokio::test]
async fn an_amount_is_judged_by_its_value() {
    let world = World::start().await;
    for amount in ["1250.0", "125e1", "1.25E+3"] {
        let placed = world
            .client()
            .place(&fresh_key(), ORDER.replace("1250", amount))
            .await;
        assert_eq!(
            (placed.status, &placed.json()["amount"]),
            (201, &1250.into())
        );
    }
    world.assert_orders(3).await;
}
