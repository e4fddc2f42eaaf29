//! Bearer tokens: those of `protocol/vectors/jwt.json`, and fresh ones.

use crate::origin::JWT_SECRET;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the file holds.
#[derive(Debug, Deserialize)]
pub struct Vectors {
    /// The time at which a case is judged that names none, in seconds since 1970.
    pub now: u64,
    /// The secret of HS256.
    pub secret: String,
    /// The public keys of everything else.
    pub jwks: serde_json::Value,
    /// The tokens.
    pub cases: Vec<Case>,
}

/// A token and what it is told apart by.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// What is special about it.
    pub name: String,
    /// The compact serialisation.
    pub token: String,
    /// The claim that names the subject, unless it is `sub`.
    pub claim: Option<String>,
    /// The issuer that is expected.
    pub issuer: Option<String>,
    /// The audience that is expected.
    pub audience: Option<String>,
    /// When it is judged.
    pub now: Option<u64>,
    /// Why it is refused, if it is.
    pub refused: Option<String>,
}

impl Vectors {
    /// Reads the file.
    pub fn read() -> Self {
        let vectors = include_str!("../../protocol/vectors/jwt.json");
        serde_json::from_str(vectors).expect("the project's own vectors")
    }

    /// The token of this name.
    pub fn token(&self, name: &str) -> &str {
        let case = self.cases.iter().find(|case| case.name == name);
        &case.expect("a case of this name").token
    }
}

/// An HS256 token of this subject; `n` makes each one another text.
pub fn token(subject: &str, n: u32, expires_in: i64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time after 1970")
        .as_secs();
    let exp = i64::try_from(now).expect("a time of this age") + expires_in;
    let claims = format!(r#"{{"sub":"{subject}","exp":{exp},"jti":"{n}"}}"#);
    let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(JWT_SECRET.as_bytes()).expect("a key");
    mac.update(signed.as_bytes());
    format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    )
}
