//! Bearer tokens at the origin: which keys verify them, and what they must say.
//!
//! `protocol` decides; here signatures of public keys are verified and key sets are fetched.

mod key_set;
#[cfg(test)]
mod tests;

use crate::config;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use key_set::{KeySet, Source};
use protocol::{
    jwt::{Expected, Keys, PublicKey, Refusal, Signed, Token, Unverified, Verified},
    principal::Principal,
    problem::Problem,
};

/// Judges bearer tokens. Without any key it refuses all of them.
#[derive(Debug)]
pub struct Credentials {
    expected: Expected,
    keys: KeySet,
}

impl Credentials {
    /// Reads `JWT_HS256_SECRET`, `JWT_JWKS_FILE` or `JWT_JWKS_URL`, `JWT_ISSUER` and
    /// `JWT_AUDIENCE` through `variable`. A file is read at once, a URL with the first token.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, config::Error> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let secret = text("JWT_HS256_SECRET").map(|secret| Keys::from_secret(secret.into_bytes()));
        let secret = secret.transpose().map_err(|error| {
            config::Error::invalid("JWT_HS256_SECRET", format!("is wrong: {error}"))
        })?;
        let source = match (text("JWT_JWKS_FILE"), text("JWT_JWKS_URL")) {
            (None, None) => None,
            (Some(file), None) => Some(Source::File(file.into())),
            (None, Some(url)) => Some(Source::url(&url)?),
            (Some(_), Some(_)) => {
                return Err(config::Error::invalid(
                    "JWT_JWKS_URL",
                    "is set beside JWT_JWKS_FILE",
                ));
            }
        };
        Ok(Self {
            expected: Expected {
                issuer: text("JWT_ISSUER"),
                audience: text("JWT_AUDIENCE"),
            },
            keys: KeySet::open(secret.unwrap_or_default(), source)?,
        })
    }

    /// Who a token speaks for, by this claim. `now` is in Unix seconds.
    ///
    /// 401 for a token that does not hold, 503 where the keys it asks for can't be fetched.
    pub async fn principal(
        &self,
        token: &str,
        claim: &str,
        now: u64,
    ) -> Result<Principal, Problem> {
        Token::parse(token)?;
        let keys = self.keys.current(now).await;
        let verified = match verified(token, &keys) {
            Err(Refusal::UnknownKey) => verified(token, &*self.keys.after(&keys, now).await?)?,
            verified => verified?,
        };
        Ok(verified.principal(&self.expected, claim, now)?)
    }
}

fn verified(token: &str, keys: &Keys) -> Result<Verified, Refusal> {
    match Token::parse(token)?.signed_by(keys)? {
        Signed::Verified(verified) => Ok(verified),
        Signed::Unverified(token) => {
            let is_valid = is_signed(&token);
            token.accept(is_valid)
        }
    }
}

/// Whether the key made the signature; a key that is no point of its curve made none.
fn is_signed(token: &Unverified<'_, '_>) -> bool {
    let (key, algorithm) = match token.key() {
        PublicKey::P256 { x, y } => {
            let point = [&[4], x.as_slice(), y].concat();
            (DecodingKey::from_ec_der(&point), Algorithm::ES256)
        }
        PublicKey::Ed25519 { x } => (DecodingKey::from_ed_der(x), Algorithm::EdDSA),
        PublicKey::Rsa { n, e } => (DecodingKey::from_rsa_raw_components(n, e), Algorithm::RS256),
    };
    let signature = URL_SAFE_NO_PAD.encode(token.signature());
    crypto::verify(&signature, token.message(), &key, algorithm).unwrap_or(false)
}
