//! Public keys in JSON (RFC 7517, RFC 7518 section 6, RFC 8037).

use super::Algorithm;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

/// A public key, of the one type that its algorithm takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicKey {
    /// A point on P-256, for ES256.
    P256 {
        /// First coordinate.
        x: [u8; 32],
        /// Second coordinate.
        y: [u8; 32],
    },
    /// For `EdDSA`.
    Ed25519 {
        /// The key.
        x: [u8; 32],
    },
    /// For RS256.
    Rsa {
        /// Modulus, 2048 to 8192 bits, big-endian, without leading zeros.
        n: Vec<u8>,
        /// Exponent, big-endian, without leading zeros.
        e: Vec<u8>,
    },
}

/// Why a key was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwkError {
    /// No object with a `kty`.
    #[error("it is not an object with a kty")]
    NotAKey,
    /// Whoever reads the set could sign with it.
    #[error("it holds a private key; publish the public half only")]
    Private,
    /// A member that is absent or of another type, length or range.
    #[error("its member {0} is missing or wrong")]
    Member(&'static str),
}

impl PublicKey {
    /// Reads a key; `None` for one of a type, curve, algorithm or use that tokens here have no use
    /// for, which key sets hold for others.
    pub(super) fn read(jwk: &Map<String, Value>) -> Result<Option<Self>, JwkError> {
        let kty = jwk
            .get("kty")
            .and_then(Value::as_str)
            .ok_or(JwkError::NotAKey)?;
        let crv = jwk.get("crv").and_then(Value::as_str).unwrap_or_default();
        let algorithm = match (kty, crv) {
            ("EC", "P-256") => Algorithm::Es256,
            ("OKP", "Ed25519") => Algorithm::EdDsa,
            ("RSA", _) => Algorithm::Rs256,
            _ => return Ok(None),
        };
        if !is_for(jwk, algorithm) {
            return Ok(None);
        }
        if jwk.contains_key("d") {
            return Err(JwkError::Private);
        }
        match algorithm {
            Algorithm::Es256 => Ok(Some(Self::P256 {
                x: octets(jwk, "x")?,
                y: octets(jwk, "y")?,
            })),
            Algorithm::EdDsa => Ok(Some(Self::Ed25519 {
                x: octets(jwk, "x")?,
            })),
            _ => Ok(Some(Self::Rsa {
                n: modulus(jwk)?,
                e: exponent(jwk)?,
            })),
        }
    }

    /// The one algorithm that this key verifies.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::P256 { .. } => Algorithm::Es256,
            Self::Ed25519 { .. } => Algorithm::EdDsa,
            Self::Rsa { .. } => Algorithm::Rs256,
        }
    }

    /// How long each of its signatures is, in bytes.
    pub(super) fn signature_bytes(&self) -> usize {
        match self {
            Self::P256 { .. } | Self::Ed25519 { .. } => 64,
            Self::Rsa { n, .. } => n.len(),
        }
    }

    /// The key alone as a JWK, as `crypto.subtle` imports it.
    pub fn to_jwk(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::P256 { x, y } => {
                let (x, y) = (text(x), text(y));
                format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#)
            }
            Self::Ed25519 { x } => {
                format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, text(x))
            }
            Self::Rsa { n, e } => {
                format!(r#"{{"kty":"RSA","n":"{}","e":"{}"}}"#, text(n), text(e))
            }
        }
    }
}

/// Whether `use`, `key_ops` and `alg`, as far as they are there, allow to verify with it.
fn is_for(jwk: &Map<String, Value>, algorithm: Algorithm) -> bool {
    let says = |name, value| jwk.get(name).is_none_or(|it| it.as_str() == Some(value));
    let verifies = |ops: &Value| {
        ops.as_array()
            .is_some_and(|ops| ops.contains(&"verify".into()))
    };
    says("use", "sig") && says("alg", algorithm.name()) && jwk.get("key_ops").is_none_or(verifies)
}

fn bytes(jwk: &Map<String, Value>, name: &'static str) -> Result<Vec<u8>, JwkError> {
    let text = jwk.get(name).and_then(Value::as_str);
    text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .ok_or(JwkError::Member(name))
}

fn octets(jwk: &Map<String, Value>, name: &'static str) -> Result<[u8; 32], JwkError> {
    bytes(jwk, name)?
        .try_into()
        .map_err(|_| JwkError::Member(name))
}

/// At least 2048 bits (RFC 7518 section 3.3), and no more than every platform verifies.
fn modulus(jwk: &Map<String, Value>) -> Result<Vec<u8>, JwkError> {
    let n = bytes(jwk, "n")?;
    let bits = n.len() * 8 - n.first().map_or(0, |first| first.leading_zeros() as usize);
    let is_odd = n.last().is_some_and(|last| last % 2 == 1);
    if n.first() == Some(&0) || !(2048..=8192).contains(&bits) || !is_odd {
        return Err(JwkError::Member("n"));
    }
    Ok(n)
}

/// Odd, above 1, at most 4 bytes.
fn exponent(jwk: &Map<String, Value>) -> Result<Vec<u8>, JwkError> {
    let e = bytes(jwk, "e")?;
    let is_odd = e.last().is_some_and(|last| last % 2 == 1);
    if e.first() == Some(&0) || e == [1] || e.len() > 4 || !is_odd {
        return Err(JwkError::Member("e"));
    }
    Ok(e)
}
