//! The origin's program: `origin` serves; its other commands inspect.

mod commands;
mod serve;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The origin of Unavez: decides, and replays. Without a command it serves, configured by the
/// environment.
#[derive(Debug, Parser)]
#[command(name = "origin")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve (the default).
    Serve,
    /// Print the canonical text and the fingerprint of a body from standard input.
    Canonical {
        /// The policy that names the route's fields.
        #[arg(long, default_value = "policy.toml")]
        policy: PathBuf,
        /// The route, such as "POST /orders".
        #[arg(long)]
        route: Option<String>,
    },
    /// Say whether the origin that listens on BIND is ready.
    Health,
    /// Look at records, and settle what only an operator can.
    Records {
        #[command(subcommand)]
        command: commands::records::RecordsCommand,
    },
    /// Work on the policy.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Say whether a policy is valid, and what is wrong with it.
    Check {
        /// The file.
        #[arg(default_value = "policy.toml")]
        file: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    // Without the feature this is nothing; with it, FAILPOINTS names where to die.
    let _scenario = fail::has_failpoints().then(fail::FailScenario::setup);
    let done = match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => {
            log();
            serve::serve().await
        }
        Command::Canonical { policy, route } => commands::canonical(&policy, route.as_deref()),
        Command::Health => commands::health::run().await,
        Command::Records { command } => commands::records::run(command).await,
        Command::Policy {
            command: PolicyCommand::Check { file },
        } => commands::check(&file),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("origin: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One JSON line an event, on standard error; `RUST_LOG` says how much.
fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| "info,sqlx=warn".into()))
        .with_writer(std::io::stderr)
        .json()
        .init();
}
