//! `cargo xtask test`: everything that the tests need, and then all of them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::arguments::Arguments;
use crate::artifacts::{Profile, Worker, default_policy};
use crate::command;
use crate::failure::{Failure, Result};
use crate::postgres::{self, Postgres, Stop};
use crate::process::Log;
use crate::project;
use crate::setup::Setup;
use crate::step::step;

/// Sets up, builds, starts a Postgres for the tests and runs those whose names hold one of the filters.
pub fn run(arguments: Arguments) -> Result<()> {
    let filters = arguments.rest();
    let setup = Setup::ensure()?;
    build()?;
    Worker::new(Profile::Dev, &default_policy())?.build(&setup)?;
    Worker::of_tests(Profile::Dev).build(&setup)?;
    let folder = project::target().join(format!("test-{}", std::process::id()));
    let postgres = step("starting Postgres for the tests", || {
        start_postgres(&folder)
    })?;
    let outcome = cargo_test(&filters, &postgres.url());
    postgres.stop(Stop::Immediate);
    // What stays is found by its name and hurts nobody.
    let _ = fs::remove_dir_all(&folder);
    outcome
}

/// Everything, with what tests alone may do to the origin: let it die at named places, and forget
/// the fence. One choice of features for programs and tests, so that nothing is compiled twice;
/// `bench` would add its own.
const ALL: [&str; 6] = [
    "test",
    "--workspace",
    "--exclude",
    "bench",
    "--features",
    "origin/failpoints,origin/unfenced",
];

/// Builds the tests and, beside them, the programs that they start.
pub fn build() -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(ALL).arg("--no-run");
    command::visibly(&mut cargo)
}

/// Fast before safe: its data ends with the tests.
fn start_postgres(folder: &Path) -> Result<Postgres> {
    let settings = ["fsync=off", "full_page_writes=off", "max_connections=400"];
    Postgres::start(&postgres::Options {
        data: folder.join("postgres"),
        port: free_port()?,
        settings: settings.map(str::to_owned).to_vec(),
        log: Log::File(folder.join("postgres.log")),
    })
}

fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|socket| socket.local_addr())
        .map(|address| address.port())
        .map_err(Failure::because("no port is free"))
}

fn cargo_test(filters: &[String], database_url: &str) -> Result<()> {
    let wrong = || Failure::because("cargo test could not be run");
    let mut cargo = Command::new("cargo")
        .current_dir(project::root())
        .args(ALL)
        .args(["--no-fail-fast", "--"])
        .args(filters)
        .env("TEST_DATABASE_URL", database_url)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(wrong())?;
    let mut skipped = 0;
    if let Some(output) = cargo.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(wrong())?;
            skipped += ignored(&line);
            println!("{line}");
        }
    }
    let status = cargo.wait().map_err(wrong())?;
    match (status.success(), skipped) {
        (false, _) => Err(Failure::new("some tests failed")),
        (true, 0) => Ok(()),
        (true, skipped) => Err(Failure::new(format!("{skipped} tests were skipped"))),
    }
}

/// How many tests a runner has skipped, from its summary line.
fn ignored(line: &str) -> u32 {
    let counts = line.strip_prefix("test result: ").unwrap_or_default();
    counts
        .split("; ")
        .find_map(|count| count.strip_suffix(" ignored")?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ignored;

    #[test]
    fn only_a_summary_counts_skipped_tests() {
        let summary = "test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(ignored(summary), 2);
        assert_eq!(ignored("test a_rule ... ignored"), 0);
        assert_eq!(ignored("log: 1 ignored; 2 ignored"), 0);
    }
}
