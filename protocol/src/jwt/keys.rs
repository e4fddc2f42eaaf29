//! The keys that tokens are verified with: a secret, a key set (RFC 7517 section 5), or both.

use super::{Algorithm, JwkError, PublicKey, Refusal, object};
use serde_json::Value;
use std::fmt;

/// The shortest secret, in bytes: 128 bits can't be guessed.
pub const SECRET_BYTES_MIN: usize = 16;
/// The longest key set, in bytes.
pub const SET_BYTES_MAX: usize = 256 * 1024;

/// All keys that may sign.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Key>);

#[derive(Debug, Clone)]
struct Key {
    id: Option<String>,
    material: Material,
}

/// What a key is made of. Its type fixes its algorithm.
#[derive(Clone)]
pub(super) enum Material {
    /// Shared with the issuer, for HS256.
    Secret(Vec<u8>),
    /// The issuer keeps the private half.
    Public(PublicKey),
}

/// Why keys can't be used. The words hold no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// Under [`SECRET_BYTES_MIN`].
    #[error("the secret is shorter than 16 bytes")]
    ShortSecret,
    /// Not a JSON object with a list `keys`, of at most 256 KiB.
    #[error("this is not a JSON Web Key Set")]
    NotASet,
    /// The key at this place, counted from 1.
    #[error("key {0} of the set is bad: {1}")]
    Key(usize, JwkError),
    /// Two keys of one algorithm with one `kid`: which is meant?
    #[error("key {0} of the set has the kid of another one")]
    Repeated(usize),
}

impl Keys {
    /// The key of HS256; it verifies tokens of any `kid`.
    pub fn from_secret(secret: Vec<u8>) -> Result<Self, KeysError> {
        if secret.len() < SECRET_BYTES_MIN {
            return Err(KeysError::ShortSecret);
        }
        Ok(Self(vec![Key {
            id: None,
            material: Material::Secret(secret),
        }]))
    }

    /// The keys of a set. Secrets in it (`oct`) are not looked at: sets are published.
    pub fn from_jwks(text: &str) -> Result<Self, KeysError> {
        let text = Some(text).filter(|text| text.len() <= SET_BYTES_MAX);
        let set = text.and_then(|text| object::parse(text.as_bytes()));
        let list = set
            .as_ref()
            .and_then(|set| set.get("keys"))
            .and_then(Value::as_array);
        let mut keys: Vec<Key> = Vec::new();
        for (jwk, place) in list.ok_or(KeysError::NotASet)?.iter().zip(1..) {
            let Some(key) = read(jwk).map_err(|error| KeysError::Key(place, error))? else {
                continue;
            };
            if keys
                .iter()
                .any(|other| other.id == key.id && other.algorithm() == key.algorithm())
            {
                return Err(KeysError::Repeated(place));
            }
            keys.push(key);
        }
        Ok(Self(keys))
    }

    /// These and those.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Whether no token can be verified.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key of this id, or else the only one that has none, among those of the algorithm. A
    /// token that names no key means the only one there is.
    pub(super) fn pick(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<&Material, Refusal> {
        let fitting = || self.0.iter().filter(|key| key.algorithm() == algorithm);
        if let Some(key) = fitting().find(|key| id.is_some() && key.id.as_deref() == id) {
            return Ok(&key.material);
        }
        let mut open = fitting().filter(|key| id.is_none() || key.id.is_none());
        match (open.next(), open.next()) {
            (Some(key), None) => Ok(&key.material),
            _ => Err(Refusal::UnknownKey),
        }
    }
}

fn read(jwk: &Value) -> Result<Option<Key>, JwkError> {
    let jwk = jwk.as_object().ok_or(JwkError::NotAKey)?;
    let id = match jwk.get("kid") {
        None => None,
        Some(id) => Some(id.as_str().ok_or(JwkError::Member("kid"))?.to_owned()),
    };
    let key = PublicKey::read(jwk)?;
    Ok(key.map(|key| Key {
        id,
        material: Material::Public(key),
    }))
}

impl Key {
    /// The one algorithm that this key verifies.
    fn algorithm(&self) -> Algorithm {
        match &self.material {
            Material::Secret(_) => Algorithm::Hs256,
            Material::Public(key) => key.algorithm(),
        }
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(_) => f.write_str("Secret(hidden)"),
            Self::Public(key) => key.fmt(f),
        }
    }
}
