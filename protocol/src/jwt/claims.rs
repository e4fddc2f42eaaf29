//! The claims of a token whose signature is right.

use super::{Refusal, object};
use crate::principal::Principal;
use serde_json::{Map, Value};

/// How far the issuer's clock may be from ours, in seconds.
pub const LEEWAY_SECONDS: u64 = 30;

/// What every token must say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The `iss` that tokens must have; without one, any.
    pub issuer: Option<String>,
    /// The `aud` that tokens must hold; without one, a token must not have any.
    pub audience: Option<String>,
}

/// The claims of a token that one of the keys signed.
#[derive(Debug)]
pub struct Verified(Map<String, Value>);

impl Verified {
    pub(super) fn read(part: &str) -> Result<Self, Refusal> {
        object::decode(part).map(Self).ok_or(Refusal::Claims)
    }

    /// Who the token speaks for, by the claim of this name, if it holds at `now` (Unix seconds).
    pub fn principal(
        &self,
        expected: &Expected,
        claim: &str,
        now: u64,
    ) -> Result<Principal, Refusal> {
        self.check_time(now)?;
        let issuer = self.text("iss")?;
        if expected.issuer.is_some() && issuer != expected.issuer.as_deref() {
            return Err(Refusal::Issuer);
        }
        self.check_audience(expected.audience.as_deref())?;
        let subject = self
            .0
            .get(claim)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty());
        Ok(Principal::Subject {
            issuer: issuer.map(str::to_owned),
            claim: claim.to_owned(),
            subject: subject.ok_or(Refusal::NoSubject)?.to_owned(),
        })
    }

    /// RFC 7519 sections 4.1.4 and 4.1.5: expired from `exp` on, not valid before `nbf`.
    fn check_time(&self, now: u64) -> Result<(), Refusal> {
        let [now, leeway] = [now, LEEWAY_SECONDS].map(as_seconds);
        let expires = self.seconds("exp")?.ok_or(Refusal::NoExpiry)?;
        if now >= expires + leeway {
            return Err(Refusal::Expired);
        }
        match self.seconds("nbf")? {
            Some(begins) if now < begins - leeway => Err(Refusal::NotYet),
            _ => Ok(()),
        }
    }

    /// One text, or a list of texts (RFC 7519 section 4.1.3).
    fn check_audience(&self, expected: Option<&str>) -> Result<(), Refusal> {
        let audiences = match self.0.get("aud") {
            None => &[][..],
            Some(Value::Array(audiences)) => audiences,
            Some(audience) => std::slice::from_ref(audience),
        };
        let audiences: Option<Vec<_>> = audiences.iter().map(Value::as_str).collect();
        let audiences = audiences.ok_or(Refusal::Claims)?;
        let fits = match expected {
            Some(expected) => audiences.contains(&expected),
            None => audiences.is_empty(),
        };
        if fits { Ok(()) } else { Err(Refusal::Audience) }
    }

    fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or(Refusal::Claims),
        }
    }

    /// A `NumericDate`, which may have a fraction (RFC 7519 section 2).
    fn seconds(&self, name: &str) -> Result<Option<f64>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(Refusal::Claims),
        }
    }
}

/// Exact for the next 285 million years.
#[allow(clippy::cast_precision_loss)]
fn as_seconds(seconds: u64) -> f64 {
    seconds as f64
}
