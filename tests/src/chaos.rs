//! Chaos: random load through two edges and two origins while everything fails, and a check of all
//! promises against what came of it. All choices come from the seed.

pub mod checker;
pub mod command;
pub mod deck;
pub mod downstream;
pub mod evidence;
pub mod history;
pub mod inbox;
pub mod load;
pub mod network;
pub mod processes;
pub mod quiet;
pub mod report;

use crate::{client::Client, edge::Edge, world::World};
use checker::Violation;
use deck::Deck;
use evidence::Evidence;
use fastrand::Rng;
use history::{Asked, History, Outcome};
use inbox::Inbox;
use load::Load;
use network::{Harm, Link};
use processes::Processes;
use report::Report;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio::join;
use xtask::project;

/// Short, so that a pause past it is.
const LEASE_SECONDS: u32 = 2;

/// The kinds of faults of a run.
#[derive(Debug)]
struct Faults {
    processes: Vec<processes::Fault>,
    links: Vec<network::Fault>,
    downstream: Vec<downstream::Fault>,
}

impl Faults {
    fn all() -> Self {
        Self {
            processes: processes::ALL.to_vec(),
            links: network::all(),
            downstream: downstream::ALL.to_vec(),
        }
    }

    /// Where it takes the fence to keep two attempts apart: what is refused is free, and many claim
    /// it again, some of them late. Other faults leave an outcome unknown, and who meets that
    /// attempt is kept out by its state alone.
    fn for_the_fence() -> Self {
        Self {
            processes: Vec::new(),
            links: vec![network::Fault(Link::ToStore, Harm::Delayed)],
            downstream: vec![downstream::Fault::Error429],
        }
    }

    /// Their names, each with the number of times that it never happened.
    fn none_yet(&self) -> BTreeMap<String, usize> {
        let processes = self.processes.iter().map(ToString::to_string);
        let links = self.links.iter().map(ToString::to_string);
        let downstream = self.downstream.iter().map(ToString::to_string);
        let names = processes.chain(links).chain(downstream);
        names.map(|name| (name, 0)).collect()
    }
}

/// What a run is told.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Chooses everything.
    pub seed: u64,
    /// How long load and faults last.
    pub time: Duration,
    /// Whether the origins check no fence and no owner.
    pub unfenced: bool,
}

impl Options {
    /// How long what is under way may take to end. Far beyond what DESIGN gives the completer,
    /// because this machine may be busy; shorter where it is not expected to end.
    fn patience(&self) -> Duration {
        Duration::from_secs(if self.unfenced { 10 } else { 60 })
    }
}

/// Runs, waits for quiet, asks for everything once more, and checks.
pub async fn run(options: Options) -> Report {
    let Options { seed, .. } = options;
    let inbox = Inbox::start().await;
    let kinds = if options.unfenced {
        Faults::for_the_fence()
    } else {
        Faults::all()
    };
    let mut world = start(&options, &inbox).await;
    let history = History::start();
    let edges: Vec<_> = world.edges.iter().map(Edge::client).collect();
    trouble(&mut world, (&edges, &inbox), (&history, &kinds), options).await;
    let mut violations = unasked_ends(&mut world);
    quiet::wait(&world.database, options.patience()).await;
    let keys = keys(&history);
    let load = Load {
        edges: &edges,
        seed,
        history: &history,
    };
    load.ask_again(&keys).await;
    quiet::wait(&world.database, options.patience()).await;
    let sources = (&world.database, &world.sandbox);
    let evidence = Evidence::gather(sources, inbox.events(), (seed, &keys)).await;
    let asked = history.asked();
    violations.extend(checker::check(&asked, &evidence));
    let faults = faults(kinds.none_yet(), &history, &asked);
    let is_good = violations.is_empty();
    let kept = (!is_good).then(|| keep(&world, &history, seed).expect("a writable target folder"));
    Report {
        seed,
        keys: keys.len(),
        requests: asked.len(),
        effects: evidence.charges.len(),
        faults,
        outcomes: outcomes(&asked),
        violations,
        kept,
    }
}

async fn start(options: &Options, inbox: &Inbox) -> World {
    let builder = World::builder()
        .edges(2)
        .origins(2)
        .own_postgres()
        .faulty_links()
        .lease_seconds(LEASE_SECONDS)
        .webhook_url(inbox.url());
    let builder = if options.unfenced {
        builder.unfenced()
    } else {
        builder
    };
    let world = builder.start().await;
    let rare = "INSERT INTO inventory (sku, stock) VALUES ('RARE', 10)";
    world.database.execute(rare).await;
    world
}

/// Load, and lanes of faults for the processes, the links, and whom the origins call.
async fn trouble(
    world: &mut World,
    (edges, inbox): (&[Client], &Inbox),
    (history, kinds): (&History, &Faults),
    Options { seed, time, .. }: Options,
) {
    let mut rng = Rng::with_seed(seed);
    let until = Instant::now() + time;
    let load = Load {
        edges,
        seed,
        history,
    };
    let mut processes = Processes {
        origins: &mut world.origins,
        edges: &mut world.edges,
        postgres: world.postgres.as_mut().expect("a Postgres of its own"),
        lease: Duration::from_secs(LEASE_SECONDS.into()),
    };
    let mut of_processes = Deck::new(&kinds.processes, rng.fork());
    let mut of_links = rng.fork();
    let mut downstream = Deck::new(&kinds.downstream, rng.fork());
    join!(
        load.run(&mut rng, until),
        processes.run(&mut of_processes, history, until),
        network::run((&world.links, &kinds.links), &mut of_links, history, until),
        downstream::run((&world.sandbox, inbox), &mut downstream, history, until),
    );
}

/// Origins that have ended though nobody has ended them.
fn unasked_ends(world: &mut World) -> Vec<Violation> {
    let ended = world
        .origins
        .iter_mut()
        .enumerate()
        .filter_map(|(n, origin)| {
            let promise = "no process ends by itself";
            let detail = format!("origin {n} did");
            origin.has_ended().then_some(Violation { promise, detail })
        });
    ended.collect()
}

fn keys(history: &History) -> Vec<usize> {
    let asked = history.asked();
    let keys: BTreeSet<_> = asked.iter().map(|asked| asked.command.key).collect();
    keys.into_iter().collect()
}

/// All kinds, those of the clients and those that never happened included.
fn faults(
    mut faults: BTreeMap<String, usize>,
    history: &History,
    asked: &[Asked],
) -> BTreeMap<String, usize> {
    faults.extend(history.faults());
    let first: BTreeSet<_> = asked.iter().map(|asked| asked.command).collect();
    let left = |asked: &&Asked| matches!(asked.outcome, Outcome::Left);
    let count = asked.iter().filter(|asked| !asked.is_final).count();
    faults.insert(
        "client duplicated".to_owned(),
        count.saturating_sub(first.len()),
    );
    let others = asked.iter().filter(|a| a.command.is_other && !a.is_final);
    faults.insert("client mismatched".to_owned(), others.count());
    faults.insert("client left".to_owned(), asked.iter().filter(left).count());
    faults
}

fn outcomes(asked: &[Asked]) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for asked in asked {
        let name = match &asked.outcome {
            Outcome::Answered(answer) => match answer.replayed() {
                Some(true) => format!("{} replayed", answer.status),
                _ => format!("{} {}", answer.status, answer.problem()),
            },
            Outcome::Unanswered(_) => "unanswered".to_owned(),
            Outcome::Left => "left".to_owned(),
        };
        *outcomes.entry(name).or_default() += 1;
    }
    outcomes
}

/// Writes the history and all logs into a folder of the seed's.
fn keep(world: &World, history: &History, seed: u64) -> io::Result<PathBuf> {
    let folder = project::target().join("chaos").join(seed.to_string());
    fs::create_dir_all(&folder)?;
    let write = |file: &Path, text: String| fs::write(file, text);
    for (n, origin) in world.origins.iter().enumerate() {
        write(&folder.join(format!("origin-{n}.log")), origin.log())?;
    }
    for (n, edge) in world.edges.iter().enumerate() {
        write(&folder.join(format!("edge-{n}.log")), edge.log())?;
    }
    history.write(&folder.join("history.jsonl"))?;
    Ok(folder)
}
