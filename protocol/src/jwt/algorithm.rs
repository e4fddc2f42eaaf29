//! The algorithms that tokens may be signed with (RFC 7518 section 3, RFC 8037).

/// One of four; there is no other, and no negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-256.
    Hs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

impl Algorithm {
    /// The `alg` of a header; names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Hs256, Self::Es256, Self::EdDsa, Self::Rs256];
        all.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// As `alg` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }
}
