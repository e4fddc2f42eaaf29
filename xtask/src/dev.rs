//! `cargo xtask dev`: the whole system on this machine, until Ctrl-C.

mod options;
mod part;
mod parts;

use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use self::options::Options;
use self::part::Part;
use self::parts::{Built, numbered};
use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::project;
use crate::signal;
use crate::step::step;

const WATCH_INTERVAL: Duration = Duration::from_millis(100);
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// How long the guards of a run that was killed need to end its processes.
const PATIENCE: Duration = Duration::from_secs(6);

/// Sets up, builds, starts everything, says where it is, and keeps it running until it is asked to end.
pub fn run(arguments: Arguments) -> Result<()> {
    signal::note_requests_to_end();
    let options = Options::read(arguments)?;
    let turn = Turn::take()?;
    options.check_ports(turn.patience)?;
    let built = Built::build(&options)?;
    let mut parts = step("starting", || parts::start(&options, &built))?;
    let outcome = watch(&options, &mut parts);
    stop(parts);
    outcome
}

fn watch(options: &Options, parts: &mut [Part]) -> Result<()> {
    for part in parts.iter_mut() {
        part.wait_until_ready()?;
    }
    if !signal::asked_to_end() {
        announce(options, parts);
    }
    while !signal::asked_to_end() {
        let revived = parts
            .iter_mut()
            .map(Part::revive)
            .filter(|revived| *revived);
        if revived.count() > 0 {
            println!("{}", pids(options, parts));
        }
        thread::sleep(WATCH_INTERVAL);
    }
    Ok(())
}

/// Edges first, so that nothing new comes in, and the database last.
fn stop(parts: Vec<Part>) {
    eprintln!("» stopping");
    for part in parts.into_iter().rev() {
        part.stop(STOP_LIMIT);
    }
}

fn announce(options: &Options, parts: &[Part]) {
    let (edge, origin) = (options.ports.edge, options.ports.origin);
    let edges = (0..options.edges).map(|n| (numbered("edge", n), edge + n));
    let origins = (0..options.origins).map(|n| (numbered("origin", n), origin + n));
    let provider = [("provider".to_owned(), options.ports.provider)];
    let urls = edges
        .chain(origins)
        .chain(provider)
        .map(|(name, port)| format!(" {name}=http://127.0.0.1:{port}"))
        .collect::<Vec<_>>();
    println!("READY{}", urls.concat());
    println!("{}", pids(options, parts));
    println!("{}", example(edge));
}

fn pids(options: &Options, parts: &[Part]) -> String {
    let database = match options.database_url {
        Some(_) => " postgres=external",
        None => "",
    };
    let pids = parts
        .iter()
        .map(|part| format!(" {}={}", part.name, part.pid()));
    format!("PIDS{database}{}", pids.collect::<Vec<_>>().concat())
}

/// An order to try, under a key of its own for each run.
fn example(port: u16) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let key = now.unwrap_or_default().as_secs();
    format!(
        "Try this, twice:\n  curl -i http://127.0.0.1:{port}/orders -H 'Content-Type: application/json' \
         -H 'Idempotency-Key: \"try-{key}\"' \
         -d '{{\"amount\":1250,\"currency\":\"EUR\",\"destination\":\"acct_1\",\"items\":[{{\"sku\":\"A1\",\"quantity\":2}}]}}'"
    )
}

/// The one run that this clone's data allows at a time.
struct Turn {
    /// Held as long as this is; the system takes it back from a process that was killed.
    _lock: File,
    /// Exists while a run has not ended in order.
    marker: PathBuf,
    /// How long to wait for ports.
    patience: Duration,
}

impl Turn {
    fn take() -> Result<Self> {
        let folder = project::state();
        project::ensure_dir(&folder)?;
        let wrong = || Failure::because(format!("{} can't be written", folder.display()));
        let lock = File::create(folder.join("lock")).map_err(wrong())?;
        lock.try_lock()
            .map_err(|_| Failure::new("`cargo xtask dev` is already running in this clone"))?;
        let marker = folder.join("running");
        let patience = if marker.exists() {
            PATIENCE
        } else {
            Duration::ZERO
        };
        File::create(&marker).map_err(wrong())?;
        Ok(Self {
            _lock: lock,
            marker,
            patience,
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Left behind, it costs a later run some patience.
        let _ = fs::remove_file(&self.marker);
    }
}
