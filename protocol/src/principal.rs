//! The principal: who is asking, from verified data only (DESIGN section 3).

use crate::framing::Framing;
use sha2::{Digest, Sha256};

/// A verified caller. Two callers never share a record, whatever key they send (CASES C24).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// The route takes no credentials.
    Anonymous,
    /// A stable API key, kept as its SHA-256 only.
    Header([u8; 32]),
    /// The subject of a verified token; never the token's bytes, which rotate between retries.
    Subject {
        /// `iss`, when the token names one.
        issuer: Option<String>,
        /// The claim that policy names (`sub` by default).
        subject: String,
    },
}

impl Principal {
    /// The principal of a stable API key.
    pub fn from_header(value: &[u8]) -> Self {
        Self::Header(Sha256::digest(value).into())
    }

    /// A digest that names this principal without telling who it is.
    pub fn to_bytes(&self) -> [u8; 32] {
        let framing = Framing::new("unavez-principal-1");
        match self {
            Self::Anonymous => framing.part(b"anonymous"),
            Self::Header(digest) => framing.part(b"header").part(digest),
            Self::Subject { issuer, subject } => framing
                .part(b"subject")
                .part(issuer.as_deref().unwrap_or_default().as_bytes())
                .part(subject.as_bytes()),
        }
        .finish()
    }
}
