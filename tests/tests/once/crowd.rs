//! Many orders that are slow at once, and whoever comes while they run.

use futures_util::future::join_all;
use std::time::{Duration, Instant};
use tests::{
    answer::Answer,
    client::{Client, ORDER, fresh_key},
    eventually::eventually,
    world::World,
};
use tokio::task::JoinHandle;

const LIMIT: Duration = Duration::from_secs(10);

/// Orders whose charges take 10 s, and one that was placed before.
pub(crate) struct Crowd {
    done: String,
    slow: String,
    orders: Vec<JoinHandle<reqwest::Result<Answer>>>,
}

impl Crowd {
    /// So many; all of them are being charged when this returns, and later ones are quick.
    pub(crate) async fn start(world: &World, count: usize) -> Self {
        let (client, done, slow) = (world.client(), fresh_key(), fresh_key());
        client.place(&done, ORDER).await.assert_executed();
        world.sandbox.delay(10_000).await;
        let keys = (1..count).map(|_| fresh_key()).chain([slow.clone()]);
        let orders = keys.map(|key| tokio::spawn(Answer::to(client.order(&key, ORDER))));
        let orders = orders.collect();
        let charging = async || {
            let calls = world.sandbox.calls().await;
            let running = calls.iter().filter(|call| call.outcome == "running");
            running.count() == count
        };
        eventually("all charges at once", LIMIT, charging).await;
        world.sandbox.delay(0).await;
        Self { done, slow, orders }
    }

    /// A new key, a duplicate and a replay are answered as if nobody else were there.
    pub(crate) async fn assert_holds_up_nobody(&self, client: &Client) {
        in_a_second("a new key", client.place(&fresh_key(), ORDER))
            .await
            .assert_executed();
        in_a_second("a duplicate", client.place(&self.slow, ORDER))
            .await
            .assert_problem(409, "request-in-progress");
        in_a_second("a replay", client.place(&self.done, ORDER))
            .await
            .assert_replayed();
    }

    /// Every one of them is answered with its own order.
    pub(crate) async fn assert_ends(self) {
        for order in join_all(self.orders).await {
            let answer = order.expect("no panic").expect("an answer");
            answer.assert_executed();
        }
    }
}

/// Fails when the answer takes longer.
pub(crate) async fn in_a_second(what: &str, answer: impl Future<Output = Answer>) -> Answer {
    let asked = Instant::now();
    let answer = answer.await;
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(1), "{what} took {took:?}");
    answer
}
