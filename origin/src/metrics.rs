//! What Prometheus may count (`/metrics`). No label holds anything of a client's: only our words.

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use std::sync::Arc;

/// Labels of a protected request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Protected {
    route: String,
    outcome: String,
}

/// Labels of a refused edge.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    reason: String,
}

/// All metrics of this process.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    requests: Family<Protected, Counter>,
    signatures: Family<Refused, Counter>,
    hints: Counter,
    completed: Counter,
    running: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("unavez");
        let requests = Family::default();
        let signatures = Family::default();
        let (hints, completed, running) =
            (Counter::default(), Counter::default(), Gauge::default());
        registry.register(
            "requests",
            "Protected requests by outcome",
            requests.clone(),
        );
        registry.register(
            "edge_signatures_refused",
            "Requests without a valid edge signature",
            signatures.clone(),
        );
        registry.register(
            "edge_hints_wrong",
            "Requests whose edge computed another fingerprint",
            hints.clone(),
        );
        registry.register(
            "completed",
            "Abandoned operations that the completer took over",
            completed.clone(),
        );
        registry.register_with_unit(
            "running",
            "Attempts that run in this process",
            Unit::Other("attempts".into()),
            running.clone(),
        );
        Self {
            registry: Arc::new(registry),
            requests,
            signatures,
            hints,
            completed,
            running,
        }
    }
}

impl Metrics {
    /// A protected request was answered: `first`, `replayed` or a problem's slug.
    pub fn answered(&self, route: &str, outcome: &str) {
        let labels = Protected {
            route: route.to_owned(),
            outcome: outcome.to_owned(),
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// A request whose signature was refused, in this word.
    pub fn signature_refused(&self, reason: &str) {
        let labels = Refused {
            reason: reason.to_owned(),
        };
        self.signatures.get_or_create(&labels).inc();
    }

    /// An edge had another fingerprint than we.
    pub fn hint_wrong(&self) {
        self.hints.inc();
    }

    /// The completer took over this many.
    pub fn completed(&self, operations: usize) {
        self.completed.inc_by(operations as u64);
    }

    /// The text that Prometheus reads.
    pub fn text(&self, running: usize) -> String {
        self.running.set(i64::try_from(running).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing into a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
