//! An origin that answers with what reached it, to see what an edge sends.

use axum::{Json, Router, extract::Request};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::{net::TcpListener, task::JoinHandle};

/// Listens until it is dropped.
#[derive(Debug)]
pub struct Echo {
    address: SocketAddr,
    task: JoinHandle<std::io::Result<()>>,
}

/// A request as it arrived.
#[derive(Debug, Serialize, Deserialize)]
pub struct Echoed {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// All header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, if it was text.
    pub body: String,
}

impl Echo {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let app = Router::new().fallback(echo);
        let task = tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, task }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Echoed {
    /// All values of a header, by its lower-case name.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(line, _)| line == name);
        lines.map(|(_, value)| value.as_str()).collect()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn echo(request: Request) -> Json<Echoed> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX)
        .await
        .unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = parts.headers.iter();
    Json(Echoed {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        headers: lines
            .map(|(name, value)| (name.to_string(), text(value.as_bytes())))
            .collect(),
        body: text(&body),
    })
}
