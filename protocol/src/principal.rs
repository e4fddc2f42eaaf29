//! The principal: who is asking, from verified data only (DESIGN section 3).

use crate::framing::Framing;

/// A verified caller. Two callers never share a record, whatever key they send (CASES C24).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// The route takes no credentials.
    Anonymous,
    /// A stable API key, kept as a digest of it and of the header that it came in.
    Header([u8; 32]),
    /// The subject of a verified token; never the token's bytes, which rotate between retries.
    Subject {
        /// `iss`, when the token names one.
        issuer: Option<String>,
        /// The claim that names the subject, by policy (`sub` by default).
        claim: String,
        /// What that claim holds.
        subject: String,
    },
}

impl Principal {
    /// The principal of a stable API key, the value of the header of this name.
    pub fn from_header(name: &str, value: &[u8]) -> Self {
        Self::Header(
            Framing::new("unavez-api-key-1")
                .part(name.as_bytes())
                .part(value)
                .finish(),
        )
    }

    /// A digest that names this principal without telling who it is.
    pub fn to_bytes(&self) -> [u8; 32] {
        let framing = Framing::new("unavez-principal-1");
        match self {
            Self::Anonymous => framing.part(b"anonymous"),
            Self::Header(digest) => framing.part(b"header").part(digest),
            Self::Subject {
                issuer,
                claim,
                subject,
            } => {
                let framing = framing.part(b"subject").part(claim.as_bytes());
                let framing = framing.part(subject.as_bytes());
                match issuer {
                    Some(issuer) => framing.part(issuer.as_bytes()),
                    None => framing,
                }
            }
        }
        .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(issuer: Option<&str>, claim: &str, subject: &str) -> Principal {
        let issuer = issuer.map(str::to_owned);
        Principal::Subject {
            issuer,
            claim: claim.into(),
            subject: subject.into(),
        }
    }

    #[test]
    fn no_two_callers_are_one_principal() {
        let principals = [
            Principal::Anonymous,
            Principal::from_header("x-api-key", b"anonymous"),
            Principal::from_header("x-tenant", b"anonymous"),
            subject(None, "sub", "anonymous"),
            subject(Some(""), "sub", "anonymous"),
            subject(Some("a"), "sub", "anonymous"),
            subject(None, "tenant", "anonymous"),
            subject(None, "sub", "Anonymous"),
            subject(None, "su", "banonymous"),
        ];
        let digests: std::collections::HashSet<_> =
            principals.iter().map(Principal::to_bytes).collect();
        assert_eq!(digests.len(), principals.len());
    }
}
