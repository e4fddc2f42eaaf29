//! The keys as they stand: configured ones, and those of a file or URL, read again when a token
//! asks for an unknown one or they have become old.

use crate::config;
use protocol::{
    jwt::{Keys, Rotation, SET_BYTES_MAX},
    problem::{Kind, Problem},
};
use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::Mutex;

/// The longest that a token waits for its keys.
const FETCH_TIMEOUT: Duration = Duration::from_secs(3);

/// Where a set is published.
#[derive(Debug)]
pub(super) enum Source {
    /// A file beside the program.
    File(PathBuf),
    /// The issuer's address.
    Url(reqwest::Client, reqwest::Url),
}

/// Keys that their issuer may change.
#[derive(Debug)]
pub(super) struct KeySet {
    fixed: Keys,
    source: Option<Source>,
    current: RwLock<Arc<Keys>>,
    /// Held by the one request that fetches.
    rotation: Mutex<Rotation>,
}

impl KeySet {
    /// Reads a file, which must be right from the start; a URL may answer later.
    pub(super) fn open(fixed: Keys, source: Option<Source>) -> Result<Self, config::Error> {
        let mut keys = fixed.clone();
        if let Some(Source::File(file)) = &source {
            let read = read(file).map_err(|what| config::Error::invalid("JWT_JWKS_FILE", what))?;
            keys = keys.and(read);
        }
        let current = RwLock::new(Arc::new(keys));
        Ok(Self {
            fixed,
            source,
            current,
            rotation: Mutex::default(),
        })
    }

    /// The keys to judge by. Whoever finds them old fetches them while the others go on.
    pub(super) async fn current(&self, now: u64) -> Arc<Keys> {
        if let Ok(mut rotation) = self.rotation.try_lock()
            && rotation.is_due(now)
        {
            self.fetch(&mut rotation, now).await;
        }
        self.known()
    }

    /// The keys after those in which one was missing, fetched unless another request just did.
    /// 503 where they can't be had.
    pub(super) async fn after(&self, stale: &Arc<Keys>, now: u64) -> Result<Arc<Keys>, Problem> {
        let mut rotation = self.rotation.lock().await;
        if Arc::ptr_eq(stale, &self.known()) {
            self.fetch(&mut rotation, now).await;
        }
        if rotation.has_failed() && Arc::ptr_eq(stale, &self.known()) {
            let detail = "The issuer's keys can't be reached. Nothing was executed.";
            return Err(Problem::new(Kind::OriginUnavailable, detail).retry_after(2));
        }
        Ok(self.known())
    }

    fn known(&self) -> Arc<Keys> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn fetch(&self, rotation: &mut Rotation, now: u64) {
        let Some(source) = &self.source else { return };
        if !rotation.begin(now) {
            return;
        }
        let fetched = source.fetch().await;
        rotation.end(now, fetched.is_ok());
        match fetched {
            Ok(keys) => {
                let keys = Arc::new(self.fixed.clone().and(keys));
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = keys;
            }
            Err(error) => tracing::warn!(error, "the key set can't be read; the last one stays"),
        }
    }
}

impl Source {
    /// The address of a set.
    pub(super) fn url(url: &str) -> Result<Self, config::Error> {
        let invalid = |what| config::Error::invalid("JWT_JWKS_URL", what);
        let url = reqwest::Url::parse(url).map_err(|_| invalid("is no URL"))?;
        let client = reqwest::Client::builder()
            .timeout(FETCH_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        Ok(Self::Url(
            client.map_err(|_| invalid("makes no HTTP client"))?,
            url,
        ))
    }

    async fn fetch(&self) -> Result<Keys, String> {
        match self {
            Self::File(file) => read(file),
            Self::Url(client, url) => {
                let request = client.get(url.clone()).send();
                let text = bounded(request).await.map_err(|error| error.to_string())?;
                Keys::from_jwks(&text).map_err(|error| error.to_string())
            }
        }
    }
}

fn read(file: &PathBuf) -> Result<Keys, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("can't be read: {error}"))?;
    Keys::from_jwks(&text).map_err(|error| format!("is wrong: {error}"))
}

/// As much of the body as a key set may have, and a byte more, which is refused as too long.
async fn bounded(
    request: impl Future<Output = reqwest::Result<reqwest::Response>>,
) -> reqwest::Result<String> {
    let mut response = request.await?.error_for_status()?;
    let mut bytes = Vec::new();
    while bytes.len() <= SET_BYTES_MAX
        && let Some(chunk) = response.chunk().await?
    {
        bytes.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
