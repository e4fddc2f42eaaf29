//! The sandbox provider: a program that stands in for Stripe in development and tests.
//!
//! It speaks the part of Stripe's wire format that an order needs (`PaymentIntents`, their search,
//! refunds), keeps idempotency keys as Stripe does, and fails on demand:
//!
//! - a key stands for one endpoint and one set of parameters, compared parsed and sorted; the same
//!   again gets the saved answer (`Idempotent-Replayed: true`), anything else 400;
//! - while the first call runs, the same again gets 409 `idempotency_key_in_use`;
//! - what executed is saved, a decline too; what was refused before it executed is not;
//! - the destination `acct_declined` is declined.
//!
//! `/_sandbox/charges` counts the money that moved, `/_sandbox/requests` the calls,
//! `/_sandbox/faults` switches faults on, and `/_sandbox/webhook` receives events. A call takes its
//! faults when it arrives, waits out its delay before it commits, and so holds its key meanwhile.
//! Calls without the secret take none.

mod answer;
mod call;
mod control;
mod faults;
mod journal;
mod keys;
mod ledger;
mod parameters;
mod payment_intents;
mod refunds;
mod search;
mod world;

use std::future::{Future, pending};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use answer::{Answer, ApiError};
use world::World;

/// The secret where none is set.
pub const DEFAULT_SECRET: &str = "sk_test_sandbox";

/// One provider: what it remembers and the secret it asks for.
struct Sandbox {
    secret: String,
    world: Mutex<World>,
}

impl Sandbox {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no holder of the lock panics")
    }
}

/// A provider with an empty ledger that asks for `secret` as bearer token.
pub fn app(secret: impl Into<String>) -> Router {
    let sandbox = Sandbox {
        secret: secret.into(),
        world: Mutex::default(),
    };
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(call::routes())
        .merge(control::routes())
        .fallback(unrecognised)
        .with_state(Arc::new(sandbox))
}

async fn unrecognised() -> Answer {
    ApiError::invalid("Unrecognized request URL.").answer(StatusCode::NOT_FOUND)
}

/// Serves a new provider on `listener` until `stop` ends, then lets the calls in progress end.
pub async fn serve(
    listener: TcpListener,
    secret: impl Into<String>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, app(secret))
        .with_graceful_shutdown(stop)
        .await
}

/// A provider inside this process, on a free port of the loopback; it stops accepting when dropped.
#[derive(Debug)]
pub struct InProcess {
    address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
}

impl InProcess {
    /// Starts one; it is ready when this returns.
    pub async fn start(secret: impl Into<String>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(serve(listener, secret.into(), pending()));
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.task.abort();
    }
}
