//! `origin`: first requests and replays at a durable Postgres, against what Postgres and axum give.
//!
//! First requests run an operation that only inserts; their limit is `pgbench` with the product's
//! own two statements; the gateway's stand beside the reference operation. `--rows N` repeats it over a table of N records.

mod gateway;
mod parts;
mod pgbench;

use crate::{
    load::{BODY, CREATED, Load, Requests, count},
    report::{Line, Report},
    rounds::Rounds,
    service::Service,
};
use pgbench::Pgbench;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tests::folder::Folder;
use xtask::failure::Result;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_secs(3);
/// Records that are there before anything is measured.
const ROWS: u64 = 10_000;
/// Keys that are replayed.
const REPLAYED: u64 = 2_000;
const CACHE: u64 = 64 << 20;

/// Everything that the cases need.
struct Bench<'a> {
    report: &'a Report,
    folder: Folder,
    server: xtask::postgres::Postgres,
    database: String,
    origin: Service,
    next_key: u64,
}

/// Measures what the report wants; with `rows`, over so many records as well.
pub(crate) async fn run(report: &Report, rows: Option<u64>) -> Result<()> {
    parts::build_origin()?;
    let folder = Folder::create();
    let server = parts::start_postgres(&folder)?;
    let database = parts::create_database(&server.url(), "small").await?;
    let origin = parts::start_origin(&folder, "origin.log", &database, CACHE).await?;
    parts::fill(&database, ROWS).await?;
    let mut bench = Bench {
        report,
        folder,
        server,
        database,
        origin,
        next_key: 1 << 32,
    };
    bench.first().await?;
    bench.replay_cache().await?;
    bench.replay_postgres().await?;
    bench.gateway().await?;
    match rows {
        Some(rows) => bench.over(rows).await,
        None => Ok(()),
    }
}

impl Bench<'_> {
    /// Keys that were never sent.
    fn fresh(&mut self) -> Arc<Requests> {
        let keys = self.next_key..self.next_key + (1 << 32);
        self.next_key = keys.end;
        Arc::new(Requests::new("/inserts", BODY, keys, CREATED))
    }

    /// Keys that were sent, to this service.
    async fn known(&mut self, to: SocketAddr) -> Result<Arc<Requests>> {
        let keys = self.next_key..self.next_key + REPLAYED;
        self.next_key = keys.end;
        let requests = Arc::new(Requests::new("/inserts", BODY, keys, CREATED));
        requests.send_all(to).await?;
        Ok(requests)
    }

    async fn first(&mut self) -> Result<()> {
        let name = "origin/first/c64";
        if !self.report.wants(name) {
            return Ok(());
        }
        let script = pgbench::claim_and_finish(BODY);
        let limit = Pgbench::new(self.folder.file("first.sql"), &script, &self.database)?;
        let requests = self.fresh();
        let (mut rounds, mut measured) = (Rounds::<2>::default(), Measured::default());
        for _ in 0..ROUNDS {
            let limit = limit.rate(CONNECTIONS, TURN).await?;
            let load = measured.load(&requests, &self.origin, CONNECTIONS).await?;
            rounds.push([load.rate, limit]);
        }
        self.line(name, &rounds, "pgbench with claim and finish");
        measured.print(self.report, name);
        self.alone().await
    }

    /// One connection: a lone request waits for no batch.
    async fn alone(&mut self) -> Result<()> {
        let requests = self.fresh();
        let mut measured = Measured::default();
        measured.load(&requests, &self.origin, 1).await?;
        measured.print(self.report, "origin/first/c1");
        Ok(())
    }

    async fn replay_cache(&mut self) -> Result<()> {
        let name = "origin/replay-cache/c64";
        if !self.report.wants(name) {
            return Ok(());
        }
        let echo = Service::echo(&self.folder).await?;
        let requests = self.known(self.origin.address()).await?;
        let plain = Arc::new(Requests::new("/echo", BODY, 0..1, "HTTP/1.1 200"));
        let (mut rounds, mut measured) = (Rounds::<2>::default(), Measured::default());
        for _ in 0..ROUNDS {
            let limit = plain.load(echo.address(), CONNECTIONS, TURN).await?;
            let load = measured.load(&requests, &self.origin, CONNECTIONS).await?;
            rounds.push([load.rate, limit.rate]);
        }
        self.line(name, &rounds, "an axum echo");
        measured.print(self.report, name);
        Ok(())
    }

    async fn replay_postgres(&mut self) -> Result<()> {
        let name = "origin/replay-postgres/c64";
        if !self.report.wants(name) {
            return Ok(());
        }
        let forgetful =
            parts::start_origin(&self.folder, "forgetful.log", &self.database, 0).await?;
        let requests = self.known(forgetful.address()).await?;
        let script = pgbench::select(ROWS);
        let limit = Pgbench::new(self.folder.file("select.sql"), &script, &self.database)?;
        let (mut rounds, mut measured) = (Rounds::<2>::default(), Measured::default());
        for _ in 0..ROUNDS {
            let limit = limit.rate(CONNECTIONS, TURN).await?;
            let load = measured.load(&requests, &forgetful, CONNECTIONS).await?;
            rounds.push([load.rate, limit]);
        }
        self.line(name, &rounds, "pgbench by primary key");
        measured.print(self.report, name);
        Ok(())
    }

    /// The same over `rows` records, against the small table.
    async fn over(&mut self, rows: u64) -> Result<()> {
        let database = parts::create_database(&self.server.url(), "large").await?;
        let first = parts::start_origin(&self.folder, "large.log", &database, CACHE).await?;
        parts::fill(&database, rows).await?;
        let small = parts::start_origin(&self.folder, "small.log", &self.database, 0).await?;
        let large = parts::start_origin(&self.folder, "replays.log", &database, 0).await?;
        let known = [
            self.known(small.address()).await?,
            self.known(large.address()).await?,
        ];
        let (mut firsts, mut replays) = (Rounds::<2>::default(), Rounds::<2>::default());
        for _ in 0..ROUNDS {
            let (few, many) = (self.fresh(), self.fresh());
            let few = few.load(self.origin.address(), CONNECTIONS, TURN).await?;
            let many = many.load(first.address(), CONNECTIONS, TURN).await?;
            firsts.push([many.rate, few.rate]);
            let few = known[0].load(small.address(), CONNECTIONS, TURN).await?;
            let many = known[1].load(large.address(), CONNECTIONS, TURN).await?;
            replays.push([many.rate, few.rate]);
        }
        let against = format!("the same over {ROWS} records");
        self.line(&format!("origin/first-of-{rows}/c64"), &firsts, &against);
        self.line(
            &format!("origin/replay-postgres-of-{rows}/c64"),
            &replays,
            &against,
        );
        Ok(())
    }

    fn line(&self, name: &str, rounds: &Rounds<2>, against: &str) {
        self.report.line(&Line {
            name,
            value: rounds.median(0),
            unit: "req/s",
            against: Some(against),
            ratio: Some(rounds.ratio(0, 1)),
        });
    }
}

/// What a service's requests cost beside their rate.
#[derive(Default)]
struct Measured {
    p50: Vec<f64>,
    p99: Vec<f64>,
    cpu_seconds: f64,
    answered: usize,
}

impl Measured {
    async fn load(
        &mut self,
        requests: &Arc<Requests>,
        service: &Service,
        connections: usize,
    ) -> Result<Load> {
        let before = service.cpu_seconds();
        let load = requests.load(service.address(), connections, TURN).await?;
        self.cpu_seconds += service.cpu_seconds() - before;
        self.answered += load.answered;
        self.p50.push(load.percentile(50));
        self.p99.push(load.percentile(99));
        Ok(load)
    }

    fn print(&self, report: &Report, name: &str) {
        let cpu = self.cpu_seconds / count(self.answered) * 1e3;
        let values = [
            ("p50", crate::rounds::middle(self.p50.iter().copied()), "ms"),
            ("p99", crate::rounds::middle(self.p99.iter().copied()), "ms"),
            ("cpu", cpu, "s/1000"),
        ];
        for (what, value, unit) in values {
            report.line(&Line {
                name: &format!("{name}/{what}"),
                value,
                unit,
                against: None,
                ratio: None,
            });
        }
    }
}
