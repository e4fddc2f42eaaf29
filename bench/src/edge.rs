//! `edge`: the Worker on bare workerd before a trivial origin, against Workers that do less.
//!
//! `--keys N` adds a soak of N distinct keys, and what it does to workerd's memory.

mod workers;

use crate::{
    load::{BODY, CREATED, Requests},
    report::{Line, Report},
    rounds::Rounds,
    service::Service,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tests::folder::Folder;
use workers::Workers;
use xtask::failure::Result;

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 7;
const TURN: Duration = Duration::from_secs(2);
const OK: &str = "HTTP/1.1 200";
/// As many as a shard keeps for long enough.
const REPLAYED: u64 = 200;

/// A case: who is asked what, and what is asked beside it.
struct Case<'a> {
    name: &'a str,
    ours: (SocketAddr, Arc<Requests>),
    theirs: (SocketAddr, Arc<Requests>),
    against: &'a str,
}

struct Bench<'a> {
    report: &'a Report,
    workers: Workers,
    next_key: u64,
}

/// Measures what the report wants; with `keys`, a soak of so many.
pub(crate) async fn run(report: &Report, keys: Option<u64>) -> Result<()> {
    let folder = Folder::create();
    let origin = Service::echo(&folder).await?;
    let workers = Workers::start(&folder, origin.address()).await?;
    let mut bench = Bench {
        report,
        workers,
        next_key: 1 << 32,
    };
    bench.first().await?;
    bench.replay_isolate().await?;
    bench.replay_shard().await?;
    match keys {
        Some(keys) => bench.soak(keys).await,
        None => Ok(()),
    }
}

fn plain(path: &str, expected: &'static str) -> Arc<Requests> {
    Arc::new(Requests::new(path, BODY, 0..1, expected))
}

impl Bench<'_> {
    fn keys(&mut self, count: u64) -> Arc<Requests> {
        let keys = self.next_key..self.next_key + count;
        self.next_key = keys.end;
        Arc::new(Requests::new("/orders", BODY, keys, CREATED))
    }

    async fn first(&mut self) -> Result<()> {
        let Workers {
            edge,
            plain: beside,
            ..
        } = self.workers;
        let case = Case {
            name: "edge/first/c32",
            ours: (edge, self.keys(1 << 32)),
            theirs: (beside, plain("/forward", CREATED)),
            against: "a Worker that reads and forwards",
        };
        self.measure(&case, CONNECTIONS).await?;
        self.latency(&case).await
    }

    async fn replay_isolate(&mut self) -> Result<()> {
        let against = ("/", "a hello-world Worker");
        self.replay("edge/replay-isolate/c32", self.workers.edge, against)
            .await
    }

    /// The neighbour's isolate has never seen an answer that the shard keeps.
    async fn replay_shard(&mut self) -> Result<()> {
        let against = ("/object", "a Durable Object that only answers");
        self.replay("edge/replay-shard/c32", self.workers.neighbour, against)
            .await
    }

    /// Asks `whom` for what the edge has been asked for before.
    async fn replay(
        &mut self,
        name: &str,
        whom: SocketAddr,
        (path, against): (&str, &str),
    ) -> Result<()> {
        let known = self.keys(REPLAYED);
        known.send_all(self.workers.edge).await?;
        let case = Case {
            name,
            ours: (whom, known),
            theirs: (self.workers.plain, plain(path, OK)),
            against,
        };
        self.measure(&case, CONNECTIONS).await
    }

    async fn measure(&self, case: &Case<'_>, connections: usize) -> Result<()> {
        if !self.report.wants(case.name) {
            return Ok(());
        }
        let ((us, ours), (them, theirs)) = (&case.ours, &case.theirs);
        let mut rounds = Rounds::<2>::default();
        for _ in 0..ROUNDS {
            let theirs = theirs.load(*them, connections, TURN).await?;
            let ours = ours.load(*us, connections, TURN).await?;
            rounds.push([ours.rate, theirs.rate]);
        }
        self.report.line(&Line {
            name: case.name,
            value: rounds.median(0),
            unit: "req/s",
            against: Some(case.against),
            ratio: Some(rounds.ratio(0, 1)),
        });
        Ok(())
    }

    /// What one client notices: ours, and how many times theirs that is.
    async fn latency(&self, case: &Case<'_>) -> Result<()> {
        let name = case.name.replace("/c32", "/c1");
        if !self.report.wants(&name) {
            return Ok(());
        }
        let ((us, ours), (them, theirs)) = (&case.ours, &case.theirs);
        let mut rounds = [Rounds::<2>::default(), Rounds::default()];
        for _ in 0..ROUNDS {
            let theirs = theirs.load(*them, 1, TURN).await?;
            let ours = ours.load(*us, 1, TURN).await?;
            for (rounds, share) in rounds.iter_mut().zip([50, 99]) {
                rounds.push([ours.percentile(share), theirs.percentile(share)]);
            }
        }
        for (rounds, what) in rounds.iter().zip(["p50", "p99"]) {
            self.report.line(&Line {
                name: &format!("{name}/{what}"),
                value: rounds.median(0),
                unit: "ms",
                against: Some(case.against),
                ratio: Some(rounds.ratio(0, 1)),
            });
        }
        Ok(())
    }

    /// Memory after a tenth of the keys, when everything is warm, and after the last.
    async fn soak(&mut self, keys: u64) -> Result<()> {
        let mut rounds = Rounds::<2>::default();
        self.send(keys / 10).await?;
        let warm = self.workers.memory();
        self.send(keys - keys / 10).await?;
        rounds.push([self.workers.memory(), warm]);
        self.report.line(&Line {
            name: &format!("edge/memory-after-{keys}-keys"),
            value: rounds.median(0),
            unit: "MiB",
            against: Some("memory after a tenth of them"),
            ratio: Some(rounds.ratio(0, 1)),
        });
        Ok(())
    }

    async fn send(&mut self, keys: u64) -> Result<()> {
        let requests = self.keys(1 << 32);
        let mut sent = 0;
        while sent < keys {
            let load = requests.load(self.workers.edge, CONNECTIONS, TURN).await?;
            sent += u64::try_from(load.answered).unwrap_or(u64::MAX);
        }
        Ok(())
    }
}
