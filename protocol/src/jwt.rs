//! Bearer tokens: JWTs (RFC 7519) in the compact serialisation of a JWS (RFC 7515).
//!
//! A token becomes a principal in four steps, each its own type, so that none can be left out:
//! [`Token::parse`] takes it apart, [`Token::signed_by`] finds the key, a shell verifies the
//! signature ([`Unverified`]; an HMAC is verified here), and [`Verified::principal`] judges the
//! claims. The shells verify with what their platform has: `crypto.subtle` at the edge, a crate at
//! the origin, over one set of vectors (`vectors/jwt.json`).
//!
//! Conservative where the RFCs leave a choice (RFC 8725 says why):
//! - four algorithms, each bound to one type of key, so that no public key is ever taken for an
//!   HMAC secret; `none` and every other algorithm are refused, and so is every `crit`;
//! - a token without `exp` is refused: it could never be taken back;
//! - a token with `aud` is refused where no audience is configured (RFC 7519 section 4.1.3);
//! - keys come from configuration only, never from the token (`jwk`, `jku`, `x5c` say nothing);
//! - duplicate member names are refused, in header, claims and key sets alike.

mod algorithm;
mod claims;
mod jwk;
mod keys;
mod object;
mod refusal;
mod rotation;

pub use algorithm::Algorithm;
pub use claims::{Expected, LEEWAY_SECONDS, Verified};
pub use jwk::{JwkError, PublicKey};
pub use keys::{Keys, KeysError, SECRET_BYTES_MIN, SET_BYTES_MAX};
pub use refusal::Refusal;
pub use rotation::{FETCHES_MAX, FRESH_SECONDS, Rotation, WINDOW_SECONDS};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use keys::Material;
use sha2::Sha256;

/// The longest token, in bytes. HTTP servers take few headers that are longer.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// A token taken apart. Nothing in it is to be believed yet.
pub struct Token<'t> {
    algorithm: Algorithm,
    key_id: Option<String>,
    /// Header and claims as sent: what was signed.
    message: &'t str,
    claims: &'t str,
    signature: Vec<u8>,
}

/// A token and the key that must have signed it.
pub enum Signed<'t, 'k> {
    /// By a secret, which was checked on the spot.
    Verified(Verified),
    /// By a private key, which its public key has yet to show.
    Unverified(Unverified<'t, 'k>),
}

/// A token whose signature a shell has to verify.
pub struct Unverified<'t, 'k> {
    token: Token<'t>,
    key: &'k PublicKey,
}

impl<'t> Token<'t> {
    /// Takes the compact serialisation apart: three parts of base64url without padding.
    pub fn parse(text: &'t str) -> Result<Self, Refusal> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::TooLong);
        }
        let (message, signature) = text.rsplit_once('.').ok_or(Refusal::NotCompact)?;
        let (header, claims) = message.split_once('.').ok_or(Refusal::NotCompact)?;
        if claims.contains('.') {
            return Err(Refusal::NotCompact);
        }
        let (algorithm, key_id) = read_header(header)?;
        let signature = URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|_| Refusal::NotCompact)?;
        Ok(Self {
            algorithm,
            key_id,
            message,
            claims,
            signature,
        })
    }

    /// Finds the key that the token names, by `kid` and `alg`.
    pub fn signed_by<'k>(self, keys: &'k Keys) -> Result<Signed<'t, 'k>, Refusal> {
        match keys.pick(self.key_id.as_deref(), self.algorithm)? {
            Material::Secret(secret) => {
                let mac = Hmac::<Sha256>::new_from_slice(secret).map_err(|_| Refusal::Signature)?;
                let mac = mac.chain_update(self.message);
                mac.verify_slice(&self.signature)
                    .map_err(|_| Refusal::Signature)?;
                Verified::read(self.claims).map(Signed::Verified)
            }
            Material::Public(key) if self.signature.len() == key.signature_bytes() => {
                Ok(Signed::Unverified(Unverified { token: self, key }))
            }
            Material::Public(_) => Err(Refusal::Signature),
        }
    }
}

impl Unverified<'_, '_> {
    /// The key that must have signed [`Self::message`].
    pub fn key(&self) -> &PublicKey {
        self.key
    }

    /// What was signed.
    pub fn message(&self) -> &[u8] {
        self.token.message.as_bytes()
    }

    /// The signature in the form of JWS: for ES256 the two integers one behind the other.
    pub fn signature(&self) -> &[u8] {
        &self.token.signature
    }

    /// Takes the shell's word for whether [`Self::key`] made the signature.
    pub fn accept(self, is_valid: bool) -> Result<Verified, Refusal> {
        if is_valid {
            Verified::read(self.token.claims)
        } else {
            Err(Refusal::Signature)
        }
    }
}

/// The JOSE header: the algorithm and the id of the key.
fn read_header(part: &str) -> Result<(Algorithm, Option<String>), Refusal> {
    let header = object::decode(part).ok_or(Refusal::Header)?;
    if header.contains_key("crit") {
        return Err(Refusal::Critical);
    }
    let text = |name: &str| match header.get(name) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or(Refusal::Header),
    };
    if text("typ")?.is_some_and(|name| !is_access_token(name)) {
        return Err(Refusal::Type);
    }
    let algorithm = text("alg")?
        .and_then(Algorithm::parse)
        .ok_or(Refusal::Algorithm)?;
    Ok((algorithm, text("kid")?.map(str::to_owned)))
}

/// `JWT`, or the `at+jwt` of RFC 9068: tokens of other types were made for another purpose
/// (RFC 8725 section 3.11).
fn is_access_token(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.strip_prefix("application/").unwrap_or(&name),
        "jwt" | "at+jwt"
    )
}
