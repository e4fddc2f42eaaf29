//! Configuration: the environment, read once, refused with the variable's name.

mod environment;

pub use environment::Environment;

use crate::{credentials::Credentials, operations::gateway::Sealing};
use protocol::wire::signature::EdgeKeys;
use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

/// Everything that the environment says.
#[derive(Debug, Clone)]
pub struct Config {
    /// `DATABASE_URL`: the writable Postgres.
    pub database_url: String,
    /// `DATABASE_CONNECTIONS`, 16 by default.
    pub database_connections: u32,
    /// `BIND`, 127.0.0.1:8080 by default.
    pub bind: SocketAddr,
    /// `POLICY_FILE`, policy.toml by default.
    pub policy_file: PathBuf,
    /// `PROVIDER_URL`, Stripe's wire format.
    pub provider_url: String,
    /// `PROVIDER_SECRET`.
    pub provider_secret: String,
    /// `PROVIDER_TIMEOUT_SECONDS`, 80 by default: Stripe's own.
    pub provider_timeout: Duration,
    /// `LEASE_SECONDS`, 15 by default: how long an unrenewed attempt holds its record.
    pub lease: Duration,
    /// `ARCHIVE_CACHE_BYTES`, 64 MiB by default: archived responses kept in memory.
    pub archive_cache_bytes: u64,
    /// `EDGE_KEYS`: who may call; unset, everybody.
    pub edge_keys: Option<EdgeKeys>,
    /// `SEALING_KEYS`, `base64,base64` of 32 bytes: they seal what the store keeps of a client's
    /// head. Unset, one of this process: after a restart a retry must bring the head again.
    pub sealing: Arc<Sealing>,
    /// `JWT_…`: which tokens are believed.
    pub credentials: Arc<Credentials>,
    /// `WEBHOOK_URL`: where events go; unset, they stay in the outbox.
    pub webhook: Option<Webhook>,
    /// `MIGRATE`, on by default.
    pub migrate: bool,
    /// `SEED_STOCK=dev` puts the development stock on the shelves.
    pub seed_stock: bool,
}

/// Where events go.
#[derive(Clone)]
pub struct Webhook {
    /// `WEBHOOK_URL`.
    pub url: String,
    /// `WEBHOOK_SECRET`, `whsec_` and base64 (Standard Webhooks).
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A variable that can't be used. Its value is not repeated: it may be a secret.
#[derive(Debug, thiserror::Error)]
#[error("{variable} {what}")]
pub struct Error {
    variable: &'static str,
    what: String,
}

impl Error {
    /// This variable is wrong in this way.
    pub fn invalid(variable: &'static str, what: impl Into<String>) -> Self {
        Self {
            variable,
            what: what.into(),
        }
    }
}

impl Config {
    /// `DATABASE_URL` alone, for commands on the store.
    pub fn database_url(variable: impl Fn(&str) -> Option<String>) -> Result<String, Error> {
        variable("DATABASE_URL")
            .filter(|url| !url.is_empty())
            .ok_or_else(|| Error::invalid("DATABASE_URL", "is not set"))
    }

    /// Reads the environment through `variable`.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let or = |name, default: &str| text(name).unwrap_or_else(|| default.to_owned());
        Ok(Self {
            database_url: Self::database_url(text)?,
            database_connections: number(
                "DATABASE_CONNECTIONS",
                &or("DATABASE_CONNECTIONS", "16"),
            )?,
            bind: bind(text)?,
            policy_file: or("POLICY_FILE", "policy.toml").into(),
            provider_url: or("PROVIDER_URL", "http://127.0.0.1:8090"),
            provider_secret: or("PROVIDER_SECRET", "sk_test_sandbox"),
            provider_timeout: Duration::from_secs(number(
                "PROVIDER_TIMEOUT_SECONDS",
                &or("PROVIDER_TIMEOUT_SECONDS", "80"),
            )?),
            lease: Duration::from_secs(number("LEASE_SECONDS", &or("LEASE_SECONDS", "15"))?),
            archive_cache_bytes: number(
                "ARCHIVE_CACHE_BYTES",
                &or("ARCHIVE_CACHE_BYTES", "67108864"),
            )?,
            edge_keys: text("EDGE_KEYS").map(|keys| edge_keys(&keys)).transpose()?,
            sealing: Arc::new(sealing(text("SEALING_KEYS"))?),
            credentials: Arc::new(Credentials::read(&variable)?),
            webhook: webhook(text("WEBHOOK_URL"), text("WEBHOOK_SECRET"))?,
            migrate: or("MIGRATE", "on") != "off",
            seed_stock: match or("SEED_STOCK", "none").as_str() {
                "dev" => true,
                "none" => false,
                _ => return Err(Error::invalid("SEED_STOCK", "is neither dev nor none")),
            },
        })
    }
}

/// `BIND` alone, 127.0.0.1:8080 by default.
pub fn bind(variable: impl Fn(&str) -> Option<String>) -> Result<SocketAddr, Error> {
    let bind = variable("BIND").filter(|bind| !bind.is_empty());
    let bind = bind.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    parse("BIND", &bind, "is not an address and port")
}

fn parse<T: std::str::FromStr>(name: &'static str, value: &str, what: &str) -> Result<T, Error> {
    value.parse().map_err(|_| Error::invalid(name, what))
}

fn number<T: std::str::FromStr>(name: &'static str, value: &str) -> Result<T, Error> {
    parse(name, value, "is not a number that fits")
}

fn edge_keys(keys: &str) -> Result<EdgeKeys, Error> {
    EdgeKeys::parse(keys).map_err(|error| Error::invalid("EDGE_KEYS", format!("is wrong: {error}")))
}

fn sealing(keys: Option<String>) -> Result<Sealing, Error> {
    let Some(keys) = keys else {
        return Ok(Sealing::of_this_process());
    };
    let refused = |error| Error::invalid("SEALING_KEYS", format!("is wrong: {error}"));
    Sealing::parse(&keys).map_err(refused)
}

fn webhook(url: Option<String>, secret: Option<String>) -> Result<Option<Webhook>, Error> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let Some(url) = url else { return Ok(None) };
    let secret = secret.ok_or_else(|| Error::invalid("WEBHOOK_SECRET", "is not set"))?;
    let secret = STANDARD.decode(secret.trim_start_matches("whsec_"));
    let secret = secret.map_err(|_| Error::invalid("WEBHOOK_SECRET", "is not base64"))?;
    Ok(Some(Webhook { url, secret }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Config, Error> {
        Config::read(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_refusal_names_the_variable_and_hides_its_value() {
        let url = ("DATABASE_URL", "postgres://localhost/x");
        let table = [
            (vec![], "DATABASE_URL is not set"),
            (
                vec![url, ("BIND", "8080")],
                "BIND is not an address and port",
            ),
            (
                vec![url, ("EDGE_KEYS", "secret")],
                "EDGE_KEYS is wrong: entry 1 is not of the form kid:base64",
            ),
            (
                vec![url, ("SEALING_KEYS", "secret")],
                "SEALING_KEYS is wrong: entry 1 is not base64 of 32 bytes",
            ),
            (
                vec![url, ("WEBHOOK_URL", "http://x")],
                "WEBHOOK_SECRET is not set",
            ),
            (
                vec![url, ("DATABASE_CONNECTIONS", "many")],
                "DATABASE_CONNECTIONS is not a number that fits",
            ),
        ];
        for (variables, message) in table {
            assert_eq!(read(&variables).unwrap_err().to_string(), message);
        }
        assert!(read(&[url]).is_ok());
    }
}
