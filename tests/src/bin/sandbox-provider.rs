//! The sandbox provider as a program of its own. `BIND` is where it listens (127.0.0.1:8090),
//! `PROVIDER_SECRET` the bearer token it asks for (`sk_test_sandbox`).

use std::env;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tests::provider;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// How long calls in progress may take once the program was told to stop.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
enum ProgramError {
    #[error("cannot listen on {address} (set BIND to another address)")]
    Listen {
        address: String,
        #[source]
        source: io::Error,
    },
    #[error("cannot watch for signals")]
    Signals(#[source] io::Error),
    #[error("cannot serve")]
    Serve(#[source] io::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = error.source().map(|s| format!(": {s}")).unwrap_or_default();
            eprintln!("sandbox-provider: {error}{cause}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), ProgramError> {
    let address = env::var("BIND").unwrap_or_else(|_| "127.0.0.1:8090".to_owned());
    let secret =
        env::var("PROVIDER_SECRET").unwrap_or_else(|_| provider::DEFAULT_SECRET.to_owned());
    // Before the line that says "listening": whoever reads it may send a signal at once.
    let terminate = signal(SignalKind::terminate()).map_err(ProgramError::Signals)?;
    let interrupt = signal(SignalKind::interrupt()).map_err(ProgramError::Signals)?;
    let listener = listen(address).await?;
    let (stop, stopped) = oneshot::channel();
    let serving = provider::serve(listener, secret, async {
        let _ = stopped.await;
    });
    tokio::select! {
        ended = serving => ended.map_err(ProgramError::Serve),
        () = stopping(terminate, interrupt, stop) => Ok(()),
    }
}

async fn listen(address: String) -> Result<TcpListener, ProgramError> {
    let bound = TcpListener::bind(&address).await;
    let listener = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (local, listener) = listener.map_err(|source| ProgramError::Listen { address, source })?;
    println!("provider listening on http://{local}");
    Ok(listener)
}

/// Ends when the grace period after a signal is over.
async fn stopping(mut terminate: Signal, mut interrupt: Signal, stop: oneshot::Sender<()>) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    let _ = stop.send(());
    tokio::time::sleep(GRACE).await;
}
