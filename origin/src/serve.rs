//! The life of the service: listen, prepare, serve, drain.

use crate::{Failure, commands};
use origin::{App, Config, config::Environment, jobs, routes};
use std::{future::IntoFuture, net::SocketAddr, sync::atomic::Ordering, time::Duration};
use tokio::{net::TcpListener, signal::unix::SignalKind};
use tokio_util::sync::CancellationToken;

/// How long running operations may take to end after SIGTERM.
const DRAIN: Duration = Duration::from_secs(25);
/// How long connections may then take to carry their answers away.
const HANG_UP: Duration = Duration::from_secs(2);
/// Development stock: plenty, and one single piece.
const DEV_STOCK: [(&str, i64); 3] = [("A1", 1_000_000_000), ("B2", 1_000_000_000), ("LAST1", 1)];

/// Serves until SIGTERM or Ctrl-C.
pub(crate) async fn serve() -> Result<(), Failure> {
    let environment = Environment::read()?;
    let config = Config::read(|name| environment.get(name))?;
    let app = App::new(&config, commands::policy(&config.policy_file)?)?;
    let listener = TcpListener::bind(config.bind)
        .await
        .map_err(|error| format!("BIND {} can't be listened on: {error}", config.bind))?;
    tracing::info!(address = %listener.local_addr()?, "listening");
    let (stop, drained) = (CancellationToken::new(), CancellationToken::new());
    // Renewals go on until the last attempt has ended, the other jobs until the drain begins.
    let leases = tokio::spawn(jobs::leases::run(app.clone(), drained.clone()));
    let jobs = tokio::spawn(prepare(app.clone(), config, stop.clone()));
    let service = routes::router(app.clone()).into_make_service_with_connect_info::<SocketAddr>();
    let server =
        axum::serve(listener, service).with_graceful_shutdown(stop.clone().cancelled_owned());
    let server = tokio::spawn(server.into_future());
    told_to_stop().await;
    tracing::info!("draining");
    stop.cancel();
    app.engine.drain(DRAIN).await;
    drained.cancel();
    leases.await?;
    jobs.await?;
    drop(tokio::time::timeout(HANG_UP, server).await);
    app.engine.store.close().await;
    Ok(())
}

/// Starts the jobs once Postgres answers with an up-to-date schema; until then requests get 503.
async fn prepare(app: App, config: Config, stop: CancellationToken) {
    while let Err(error) = schema(&app, &config).await {
        tracing::warn!(%error, "the schema is not up to date yet");
        let pause = tokio::time::sleep(Duration::from_millis(500));
        if stop.run_until_cancelled(pause).await.is_none() {
            return;
        }
    }
    app.is_prepared.store(true, Ordering::Relaxed);
    jobs::start(&app, config.webhook, &stop).wait().await;
}

async fn schema(app: &App, config: &Config) -> Result<(), Failure> {
    let store = &app.engine.store;
    if config.migrate {
        store.migrate().await?;
    }
    if config.seed_stock {
        store.seed_stock(&DEV_STOCK).await?;
    }
    Ok(())
}

async fn told_to_stop() {
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
}
