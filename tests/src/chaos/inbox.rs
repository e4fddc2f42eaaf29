//! The receiver of events, which keeps all that it has taken.

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use serde::Deserialize;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};
use tokio::{net::TcpListener, task::JoinHandle};

/// It listens until it is dropped.
#[derive(Debug)]
pub struct Inbox {
    address: SocketAddr,
    kept: Arc<Kept>,
    task: JoinHandle<std::io::Result<()>>,
}

#[derive(Debug, Default)]
struct Kept {
    events: Mutex<Vec<Event>>,
    refusals: AtomicU32,
}

/// An event, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Event {
    /// Its own key.
    pub id: String,
    /// `order.created`.
    pub r#type: String,
    /// The order.
    pub subject: String,
}

impl Inbox {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let kept = Arc::<Kept>::default();
        let app = Router::new()
            .route("/", post(receive))
            .with_state(Arc::clone(&kept));
        let task = tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            address,
            kept,
            task,
        }
    }

    /// Where events go.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Refuses so many events from now on.
    pub fn refuse_next(&self, count: u32) {
        self.kept.refusals.store(count, Ordering::Relaxed);
    }

    /// All events that were taken, repeated ones included, in the order in which they came.
    pub fn events(&self) -> Vec<Event> {
        self.kept.events.lock().expect("no holder panics").clone()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn receive(State(kept): State<Arc<Kept>>, Json(event): Json<Event>) -> StatusCode {
    let one_less = |left: u32| left.checked_sub(1);
    let ordering = Ordering::Relaxed;
    if kept
        .refusals
        .fetch_update(ordering, ordering, one_less)
        .is_ok()
    {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    kept.events.lock().expect("no holder panics").push(event);
    StatusCode::OK
}
