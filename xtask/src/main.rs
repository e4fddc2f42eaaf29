//! `cargo xtask`: see [`USAGE`].

use std::env;
use std::error::Error;
use std::process::ExitCode;

use xtask::artifacts::{Profile, Programs, Worker, default_policy};
use xtask::failure::{Failure, Result};
use xtask::setup::Setup;

const USAGE: &str = "\
cargo xtask setup               install what building the Worker needs
cargo xtask build [--release]   build edge and origin; with --edge the Worker alone
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", chain(&failure));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let (command, options) = arguments
        .split_first()
        .ok_or_else(|| Failure::new(format!("name a command:\n{USAGE}")))?;
    match command.as_str() {
        "setup" => Setup::ensure().map(drop),
        "build" => build(options),
        other => Err(Failure::new(format!(
            "there is no command {other}:\n{USAGE}"
        ))),
    }
}

fn build(options: &[String]) -> Result<()> {
    let setup = Setup::ensure()?;
    let asked = |option: &str| options.iter().any(|given| given == option);
    let deploys = env::var("WRANGLER_COMMAND").is_ok_and(|command| command != "dev");
    let profile = if asked("--release") || deploys {
        Profile::Release
    } else {
        Profile::Dev
    };
    if asked("--edge") {
        return Worker::for_wrangler(profile).build(&setup).map(drop);
    }
    Programs::build(profile)?;
    Worker::new(profile, &default_policy())?
        .build(&setup)
        .map(drop)
}

/// A failure with all its causes on one line.
fn chain(failure: &Failure) -> String {
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
