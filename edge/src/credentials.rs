//! Bearer tokens at the edge: which keys verify them, and what they must say.
//!
//! `protocol` decides; here `crypto.subtle` verifies what public keys signed.

use crate::{clock, error::Error, key_set, key_set::Source};
use protocol::{
    jwt::{Expected, Keys, PublicKey, Refusal, Signed, Token, Unverified, Verified},
    principal::Principal,
    problem::Problem,
};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::js_sys::{JSON, Promise, Uint8Array, futures::JsFuture};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = importKey)]
    fn import_key(
        format: &str,
        key: &JsValue,
        algorithm: &JsValue,
        is_extractable: bool,
        uses: Vec<String>,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = verify)]
    fn verify(
        algorithm: &JsValue,
        key: &JsValue,
        signature: &Uint8Array,
        message: &Uint8Array,
    ) -> Result<Promise, JsValue>;
}

/// What tokens are judged by.
#[derive(Debug)]
pub(crate) struct Credentials {
    expected: Expected,
    source: Source,
}

impl Credentials {
    /// Reads `JWT_HS256_SECRET`, `JWT_JWKS` (the set itself, since a Worker has no files) or
    /// `JWT_JWKS_URL`, `JWT_ISSUER` and `JWT_AUDIENCE`. Without any key every token is refused.
    pub(crate) fn read(var: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let mut fixed = match var("JWT_HS256_SECRET") {
            Some(secret) => Keys::from_secret(secret.into_bytes())
                .map_err(|_| Error::Setting("JWT_HS256_SECRET is shorter than 16 bytes"))?,
            None => Keys::default(),
        };
        let (set, url) = (var("JWT_JWKS"), var("JWT_JWKS_URL"));
        if set.is_some() && url.is_some() {
            return Err(Error::Setting("JWT_JWKS_URL is set beside JWT_JWKS"));
        }
        if let Some(set) = set {
            let set = Keys::from_jwks(&set);
            fixed =
                fixed.and(set.map_err(|_| Error::Setting("JWT_JWKS is no set of public keys"))?);
        }
        let expected = Expected {
            issuer: var("JWT_ISSUER"),
            audience: var("JWT_AUDIENCE"),
        };
        Ok(Self {
            expected,
            source: Source { fixed, url },
        })
    }

    /// Who a token speaks for, by this claim: 401 for one that does not hold, 503 where the keys
    /// that it asks for can't be fetched.
    pub(crate) async fn principal(&self, token: &str, claim: &str) -> Result<Principal, Error> {
        let now = clock::now() / 1_000;
        let keys = key_set::current(&self.source).await;
        let verified = match verified(token, &keys.keys).await {
            Err(Refusal::UnknownKey) => {
                let newer = key_set::after(&self.source, &keys).await?;
                verified(token, &newer.keys).await
            }
            verified => verified,
        };
        let principal = verified.and_then(|token| token.principal(&self.expected, claim, now));
        principal.map_err(|refusal| Problem::from(refusal).into())
    }
}

async fn verified(token: &str, keys: &Keys) -> Result<Verified, Refusal> {
    match Token::parse(token)?.signed_by(keys)? {
        Signed::Verified(verified) => Ok(verified),
        Signed::Unverified(token) => {
            let is_valid = is_signed(&token).await.unwrap_or(false);
            token.accept(is_valid)
        }
    }
}

/// Whether the key made the signature; a key that the runtime does not take made none.
async fn is_signed(token: &Unverified<'_, '_>) -> Result<bool, JsValue> {
    let algorithm = JSON::parse(match token.key() {
        PublicKey::P256 { .. } => r#"{"name":"ECDSA","namedCurve":"P-256","hash":"SHA-256"}"#,
        PublicKey::Ed25519 { .. } => r#"{"name":"Ed25519"}"#,
        PublicKey::Rsa { .. } => r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-256"}"#,
    })?;
    let key = JSON::parse(&token.key().to_jwk())?;
    let key = import_key("jwk", &key, &algorithm, false, vec!["verify".into()])?;
    let key = JsFuture::from(key).await?;
    let (signature, message) = (
        Uint8Array::from(token.signature()),
        Uint8Array::from(token.message()),
    );
    let is_valid = JsFuture::from(verify(&algorithm, &key, &signature, &message)?).await?;
    Ok(is_valid.is_truthy())
}
