//! What an isolate is told once: its policy and its bindings.

use crate::{credentials::Credentials, error::Error};
use protocol::{policy::Policy, wire::signature::EdgeKeys};
use std::sync::OnceLock;
use worker::{Env, web_sys};

/// Written by the build script, which has validated it.
const POLICY: &str = include_str!(concat!(env!("OUT_DIR"), "/policy.json"));
/// `LOCK_SHARDS` unless set.
const LOCK_SHARDS: u32 = 16;

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The same for every request of the isolate.
#[derive(Debug)]
pub(crate) struct Settings {
    /// `ORIGIN_URL`, without a slash at its end.
    pub(crate) origin: String,
    /// `EDGE_KEYS`; requests are not signed without.
    pub(crate) keys: Option<EdgeKeys>,
    /// `LOCK_SHARDS`: objects that share one continent's and principal's flights.
    pub(crate) lock_shards: u32,
    /// `JWT_…`: how bearer tokens are judged.
    pub(crate) credentials: Credentials,
    /// The routes.
    pub(crate) policy: Policy,
}

impl Settings {
    /// Reads them with the isolate's first request.
    pub(crate) fn of(env: &Env) -> Result<&'static Self, Error> {
        if let Some(settings) = SETTINGS.get() {
            return Ok(settings);
        }
        let settings = Self::read(|name| env.var(name).ok().map(|value| value.to_string()))?;
        // What the runtime does not take for a URL would fail with each request, as if it were sent.
        web_sys::Request::new_with_str(&settings.origin)
            .map_err(|_| Error::Setting("ORIGIN_URL is no http or https URL"))?;
        Ok(SETTINGS.get_or_init(|| settings))
    }

    fn read(var: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let var = |name: &str| var(name).filter(|value| !value.is_empty());
        let origin = var("ORIGIN_URL").ok_or(Error::Setting("ORIGIN_URL is not set"))?;
        if !origin.starts_with("http://") && !origin.starts_with("https://") {
            return Err(Error::Setting("ORIGIN_URL is no http or https URL"));
        }
        let keys = var("EDGE_KEYS")
            .map(|keys| EdgeKeys::parse(&keys))
            .transpose();
        let lock_shards = var("LOCK_SHARDS").map(|shards| shards.parse()).transpose();
        Ok(Self {
            origin: origin.trim_end_matches('/').to_owned(),
            keys: keys.map_err(|_| Error::Setting("EDGE_KEYS is not kid:base64,kid:base64"))?,
            lock_shards: lock_shards
                .map_err(|_| Error::Setting("LOCK_SHARDS is no number"))?
                .unwrap_or(LOCK_SHARDS),
            credentials: Credentials::read(var)?,
            policy: serde_json::from_str(POLICY)
                .map_err(|_| Error::Setting("the embedded policy does not fit this build"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Settings, Error> {
        let find = |name: &str| vars.iter().find(|(var, _)| *var == name);
        Settings::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_origin_must_be_named_and_the_rest_has_defaults() {
        let settings = read(&[("ORIGIN_URL", "http://o:1/"), ("EDGE_KEYS", "")]).unwrap();
        assert_eq!(settings.origin, "http://o:1");
        assert_eq!(settings.lock_shards, LOCK_SHARDS);
        assert!(settings.keys.is_none());
        let wrong: [&[(&str, &str)]; 4] = [
            &[],
            &[("ORIGIN_URL", "o:1")],
            &[("ORIGIN_URL", "http://o"), ("EDGE_KEYS", "k")],
            &[("ORIGIN_URL", "http://o"), ("LOCK_SHARDS", "many")],
        ];
        for vars in wrong {
            assert!(matches!(read(vars), Err(Error::Setting(_))), "{vars:?}");
        }
    }
}
