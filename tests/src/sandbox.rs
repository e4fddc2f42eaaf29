//! The sandbox provider of a test: its faults, and what it counted.

use crate::provider::{DEFAULT_SECRET, InProcess};
use serde::Deserialize;
use serde_json::{Value, json};

/// A provider with an empty ledger, inside this process.
#[derive(Debug)]
pub struct Sandbox {
    provider: InProcess,
    http: reqwest::Client,
}

/// A charge that moved money.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Charge {
    /// The id of the payment intent.
    pub id: String,
    /// The key that it came with.
    pub idempotency_key: Option<String>,
    /// Minor units.
    pub amount: u64,
    /// Lower case.
    pub currency: String,
    /// `succeeded` or `refunded`.
    pub status: String,
    /// How many calls carried the key.
    pub requests: u64,
}

/// A call of the provider's API.
#[derive(Clone, Debug, Deserialize)]
pub struct Call {
    /// Its path.
    pub path: String,
    /// The key that it came with.
    pub idempotency_key: Option<String>,
    /// `running`, `answered` or `cut`.
    pub outcome: String,
}

impl Sandbox {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        let provider = InProcess::start(DEFAULT_SECRET).await.expect("a free port");
        Self {
            provider,
            http: reqwest::Client::new(),
        }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.provider.url()
    }

    /// Where it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.provider.address()
    }

    /// Replaces all faults, `{"delay_ms":1000}` for example.
    pub async fn set_faults(&self, faults: Value) {
        let url = format!("{}/_sandbox/faults", self.url());
        let answer = self
            .http
            .put(url)
            .json(&faults)
            .send()
            .await
            .expect("an answer");
        assert!(answer.status().is_success(), "{faults} are no faults");
    }

    /// All faults, as far as no call has taken them yet.
    pub async fn faults(&self) -> Value {
        self.read("/_sandbox/faults").await
    }

    /// Every following call takes so long before it commits.
    pub async fn delay(&self, milliseconds: u32) {
        self.set_faults(json!({ "delay_ms": milliseconds })).await;
    }

    /// The charges that moved money, oldest first.
    pub async fn charges(&self) -> Vec<Charge> {
        self.read("/_sandbox/charges").await
    }

    /// All calls, oldest first.
    pub async fn calls(&self) -> Vec<Call> {
        self.read("/_sandbox/requests").await
    }

    /// The webhook deliveries that were taken, oldest first.
    pub async fn deliveries(&self) -> Vec<Value> {
        self.read("/_sandbox/webhook").await
    }

    /// Whether a call is waiting out its delay.
    pub async fn is_busy(&self) -> bool {
        self.calls()
            .await
            .iter()
            .any(|call| call.outcome == "running")
    }

    async fn read<T: for<'a> Deserialize<'a>>(&self, path: &str) -> T {
        let answer = self.http.get(format!("{}{path}", self.url())).send().await;
        answer
            .expect("an answer")
            .json()
            .await
            .expect("the documented form")
    }
}
