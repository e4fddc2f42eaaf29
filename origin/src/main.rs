//! The origin's program: `origin` serves; its other commands inspect.

mod commands;

use clap::{Parser, Subcommand};
use origin::{App, Config, jobs, routes};
use std::{future::IntoFuture, path::PathBuf, process::ExitCode, time::Duration};
use tokio::{net::TcpListener, signal::unix::SignalKind};
use tokio_util::sync::CancellationToken;

/// How long running operations may take to end after SIGTERM.
const DRAIN: Duration = Duration::from_secs(25);
/// Development stock: plenty, and one single piece.
const DEV_STOCK: [(&str, i64); 3] = [("A1", 1_000_000_000), ("B2", 1_000_000_000), ("LAST1", 1)];

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
    let done = match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => {
            log();
            serve().await
        }
        Command::Canonical { policy, route } => commands::canonical(&policy, route.as_deref()),
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

async fn serve() -> Result<(), Failure> {
    let config = Config::read(|name| std::env::var(name).ok())?;
    let app = App::new(&config, commands::policy(&config.policy_file)?)?;
    let listener = TcpListener::bind(config.bind)
        .await
        .map_err(|error| format!("BIND {} can't be listened on: {error}", config.bind))?;
    let stop = CancellationToken::new();
    let prepare = prepare(app.clone(), config.clone(), stop.clone());
    tracing::info!(address = %listener.local_addr()?, "listening");
    let serve = axum::serve(listener, routes::router(app.clone()))
        .with_graceful_shutdown(stopped(stop.clone()));
    let jobs = tokio::spawn(prepare);
    serve.into_future().await?;
    drain(&app, jobs).await
}

/// Migrates and starts the jobs once Postgres answers; until then requests get 503.
async fn prepare(app: App, config: Config, stop: CancellationToken) -> Result<(), String> {
    let store = &app.engine.store;
    while config.migrate
        && let Err(error) = store.migrate().await
    {
        tracing::warn!(%error, "the schema is not up to date yet");
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
        }
    }
    if config.seed_stock {
        store
            .seed_stock(&DEV_STOCK)
            .await
            .map_err(|error| error.to_string())?;
    }
    jobs::start(&app, config.webhook, &stop).wait().await;
    Ok(())
}

/// Waits for SIGTERM or Ctrl-C, then stops claiming.
async fn stopped(stop: CancellationToken) {
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate()).ok();
    let terminated = async {
        match &mut terminate {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    tracing::info!("draining");
    stop.cancel();
}

/// Lets what runs come to its end, within a deadline; what does not is the completer's.
async fn drain(
    app: &App,
    jobs: tokio::task::JoinHandle<Result<(), String>>,
) -> Result<(), Failure> {
    let drained = tokio::time::timeout(DRAIN, app.engine.drain()).await;
    if drained.is_err() {
        tracing::warn!(running = app.engine.leases().len(), "left to the completer");
    }
    jobs.await??;
    app.engine.store.close().await;
    Ok(())
}
