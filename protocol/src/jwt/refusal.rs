//! Why a token was refused.

use crate::problem::{Kind, Problem};

/// Each is answered 401 `credentials-invalid`. The words hold nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Over [`super::TOKEN_BYTES_MAX`].
    #[error("the token is longer than 16 KiB")]
    TooLong,
    /// Not three parts of base64url without padding.
    #[error("the token is not in the compact form of a JWS")]
    NotCompact,
    /// The header is no JSON object of the names and types of RFC 7515.
    #[error("the token's header is malformed")]
    Header,
    /// `alg` is missing, `none`, or anything else but the four.
    #[error("the token's alg is not one of HS256, ES256, EdDSA and RS256")]
    Algorithm,
    /// An extension that must be understood; none is.
    #[error("the token's header has crit")]
    Critical,
    /// A `typ` of another purpose.
    #[error("the token's typ is not JWT or at+jwt")]
    Type,
    /// No key, or more than one, is meant by `kid` and fits `alg`. A fresh key set may know it.
    #[error("no configured key fits the token's kid and alg")]
    UnknownKey,
    /// Not made by the key.
    #[error("the token's signature is wrong")]
    Signature,
    /// The claims are no JSON object, or one of them has the wrong type.
    #[error("the token's claims are malformed")]
    Claims,
    /// A token without an end could never be taken back.
    #[error("the token has no exp")]
    NoExpiry,
    /// `exp` is over.
    #[error("the token is expired")]
    Expired,
    /// `nbf` is still to come.
    #[error("the token is not valid yet")]
    NotYet,
    /// Not from the configured issuer.
    #[error("the token's iss is not the configured issuer")]
    Issuer,
    /// Not for the configured audience, or for one where none is configured.
    #[error("the token's aud does not hold the configured audience")]
    Audience,
    /// The claim that names the subject is absent, empty or no text.
    #[error("the token does not name its subject")]
    NoSubject,
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::new(Kind::CredentialsInvalid, format!("Refused: {refusal}."))
    }
}
