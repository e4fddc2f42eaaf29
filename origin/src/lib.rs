//! The origin: decides, by a Postgres unique constraint, and replays byte for byte.

pub mod config;
pub mod credentials;
mod error;
pub mod idempotency;
pub mod jobs;
pub mod metrics;
pub mod operations;
pub mod routes;
pub mod store;

pub use config::Config;
pub use error::Error;

use credentials::Credentials;
use idempotency::{Engine, Limits};
use operations::{
    Operations,
    gateway::Gateway,
    orders::{Orders, provider::Provider},
};
use protocol::{
    identity::Credentials as Sent,
    policy::{Policy, Route},
    principal::Principal,
    problem::Problem,
    wire::signature::EdgeKeys,
};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{SystemTime, UNIX_EPOCH},
};
use store::Store;

/// What every request and job shares.
#[derive(Debug, Clone)]
pub struct App {
    /// The engine.
    pub engine: Arc<Engine>,
    /// The operations' provider and more that jobs need.
    pub orders: Orders,
    /// What has an upstream.
    pub gateway: Gateway,
    /// Protected routes.
    pub routes: Arc<[Arc<Route>]>,
    /// Keys of the edges; none accepts every request.
    pub edge_keys: Option<Arc<EdgeKeys>>,
    /// Who tokens speak for.
    pub credentials: Arc<Credentials>,
    /// What is counted.
    pub metrics: metrics::Metrics,
    /// Whether the schema is known to be up to date.
    pub is_prepared: Arc<AtomicBool>,
}

impl App {
    /// Puts the parts together; connects to nothing yet.
    pub fn new(config: &Config, policy: Policy) -> Result<Self, config::Error> {
        let store = Store::open(&config.database_url, config.database_connections)
            .map_err(|_| config::Error::invalid("DATABASE_URL", "is not a Postgres URL"))?;
        let secret = config.provider_secret.clone();
        let provider = Provider::new(&config.provider_url, secret, config.provider_timeout)
            .map_err(|_| config::Error::invalid("PROVIDER_URL", "makes no HTTP client"))?;
        let orders = Orders { provider };
        let gateway = Gateway::new(Arc::clone(&config.sealing))
            .map_err(|_| config::Error::invalid("SSL_CERT_FILE", "names no certificates"))?;
        let operations = Operations {
            orders: orders.clone(),
            gateway: gateway.clone(),
        };
        let limits = Limits {
            lease: config.lease,
            cache_bytes: config.archive_cache_bytes,
            ..Limits::default()
        };
        let engine = Arc::new(Engine::new(store, operations, limits));
        let routes = policy.routes.into_iter().map(Arc::new).collect();
        let edge_keys = config.edge_keys.clone().map(Arc::new);
        Ok(Self {
            engine,
            orders,
            gateway,
            routes,
            edge_keys,
            credentials: Arc::clone(&config.credentials),
            metrics: metrics::Metrics::default(),
            is_prepared: Arc::default(),
        })
    }

    /// The verified caller behind these credentials.
    pub async fn principal(&self, credentials: Sent<'_>) -> Result<Principal, Problem> {
        match credentials {
            Sent::Known(principal) => Ok(principal),
            Sent::Bearer { token, claim } => {
                self.credentials
                    .principal(token, claim, unix_seconds())
                    .await
            }
        }
    }

    /// The protected route of a request, if any.
    pub fn route(&self, method: &str, path: &str) -> Option<&Arc<Route>> {
        self.routes.iter().find(|route| route.matches(method, path))
    }
}

/// Seconds since the epoch on this process's clock, by which tokens and signatures are judged.
pub(crate) fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}
