//! `cargo xtask`: see [`USAGE`].

use std::env;
use std::process::ExitCode;

use xtask::arguments::Arguments;
use xtask::artifacts::{Profile, Programs, Worker, default_policy};
use xtask::bench;
use xtask::chaos;
use xtask::dev;
use xtask::failure::{Failure, Result};
use xtask::lint;
use xtask::setup::Setup;
use xtask::signal;
use xtask::test;

const USAGE: &str = "\
cargo xtask setup               install what building the Worker needs
cargo xtask build [--release]   build edge and origin; with --edge the Worker alone
cargo xtask dev [--edges N] [--origins N] [--policy FILE] [--signed] [--release]
                                run the whole system
cargo xtask test [FILTER…]      run every test, or those whose names hold a filter
cargo xtask bench NAME [--json] [FILTER…]
                                measure: hash
cargo xtask chaos --seed S --seconds N [--unfenced]
                                random load while everything fails, and a check of all promises;
                                without fence and owner it must find violations
cargo xtask lint                rustfmt, clippy for host and Wasm, docs
";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever has ended the development system while it was being built has what was asked for.
        Err(_) if signal::asked_to_end() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", failure.chain());
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    let (command, options) = words
        .split_first()
        .ok_or_else(|| Failure::new(format!("name a command:\n{USAGE}")))?;
    let options = Arguments::new(options);
    match command.as_str() {
        "setup" => setup(options),
        "build" => build(options),
        "dev" => dev::run(options),
        "test" => test::run(options),
        "bench" => bench::run(options),
        "chaos" => chaos::run(options),
        "lint" => lint::run(options),
        other => Err(Failure::new(format!(
            "there is no command {other}:\n{USAGE}"
        ))),
    }
}

fn setup(options: Arguments) -> Result<()> {
    options.finish()?;
    Setup::ensure().map(drop)
}

fn build(mut options: Arguments) -> Result<()> {
    let deploys = env::var("WRANGLER_COMMAND").is_ok_and(|command| command != "dev");
    let optimised = options.flag("--release") || deploys;
    let profile = if optimised {
        Profile::Release
    } else {
        Profile::Dev
    };
    let edge_alone = options.flag("--edge");
    options.finish()?;
    let setup = Setup::ensure()?;
    if edge_alone {
        return Worker::for_wrangler(profile).build(&setup).map(drop);
    }
    Programs::build(profile)?;
    Worker::new(profile, &default_policy())?
        .build(&setup)
        .map(drop)
}
