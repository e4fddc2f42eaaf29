//! Who asks for what: the checks that both sides make of a protected request, in one order.
//!
//! Key, size, principal, body (DESIGN section 4); mismatch and in progress follow where the
//! record or the flight is known. Every refusal here happens before any lock is taken.

use crate::{
    canonical::{self, CanonicalError, Pointer},
    fingerprint::{Command, Content, Fingerprint},
    framing::Framing,
    key::Key,
    policy::{KeyRule, PrincipalRule, Route, ScopeRule},
    principal::Principal,
    problem::{Kind, Problem},
    scope::{KeyKind, Scope},
    wire::hex,
};
use sha2::{Digest as _, Sha256};

/// Where the key of this request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The header.
    Sent(Key),
    /// Fields of the body.
    Derived,
    /// Policy makes the key optional and none was sent.
    Unprotected,
}

/// What a request says about its caller, before anything is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials<'a> {
    /// Nothing to verify.
    Known(Principal),
    /// A bearer token whose signature and claims decide.
    Bearer {
        /// The compact serialisation (RFC 7519).
        token: &'a str,
        /// The claim that names the subject.
        claim: &'a str,
    },
}

/// What names the record of a request, and what it is compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Names the record and the flight.
    pub scope: Scope,
    /// Tells commands apart.
    pub fingerprint: Fingerprint,
    /// SHA-256 of the key, for inspection.
    pub key_hash: [u8; 32],
}

/// First check: the key's header.
pub fn key<'a>(
    route: &Route,
    lines: impl IntoIterator<Item = &'a [u8]>,
) -> Result<KeySource, Problem> {
    let key = Key::parse(lines)
        .map_err(|error| Problem::new(Kind::KeyMalformed, sentence(&error.to_string())))?;
    match (key, &route.key) {
        (Some(key), _) => Ok(KeySource::Sent(key)),
        (None, KeyRule::Optional) => Ok(KeySource::Unprotected),
        (None, KeyRule::Derived(_)) => Ok(KeySource::Derived),
        (None, KeyRule::Required) => Err(Problem::new(
            Kind::KeyMissing,
            "Send an Idempotency-Key header: a new random key for each operation, the same for its retries.",
        )),
    }
}

/// Second check: the size of the body, announced or read.
pub fn body_size(route: &Route, bytes: u64) -> Result<(), Problem> {
    if bytes <= route.body_max as u64 {
        return Ok(());
    }
    let max = route.body_max;
    Err(Problem::new(
        Kind::BodyTooLarge,
        format!("This route takes at most {max} bytes."),
    ))
}

/// Third check, first half: which credentials the route looks at. `header` gives the one value of
/// a header by its lower-case name.
pub fn credentials<'a>(
    route: &'a Route,
    header: impl Fn(&str) -> Option<&'a [u8]>,
) -> Result<Credentials<'a>, Problem> {
    let is_anonymous = route.principal == PrincipalRule::Anonymous;
    if is_anonymous && !route.ignore_credentials && header("authorization").is_some() {
        return Err(Problem::new(
            Kind::CredentialsUnexpected,
            "This route takes no credentials; leave Authorization out.",
        ));
    }
    sent(&route.principal, header)
}

/// The credentials of a question about a key, which is never refused for having some: judged by
/// the route that it names, or else by the first of all `routes` that looks at what was sent, or
/// else anonymous (DESIGN section 11).
pub fn status_credentials<'a>(
    named: Option<&'a Route>,
    routes: impl IntoIterator<Item = &'a Route>,
    header: impl Fn(&str) -> Option<&'a [u8]>,
) -> Result<Credentials<'a>, Problem> {
    let is_sent = |rule: &&PrincipalRule| match rule {
        PrincipalRule::Anonymous => false,
        PrincipalRule::Header(name) => header(name).is_some(),
        PrincipalRule::BearerJwt { .. } => header("authorization").is_some(),
    };
    let rule = match named {
        Some(route) => Some(&route.principal),
        None => routes
            .into_iter()
            .map(|route| &route.principal)
            .find(is_sent),
    };
    sent(rule.unwrap_or(&PrincipalRule::Anonymous), header)
}

/// What was sent of the credentials that this rule looks at.
fn sent<'a>(
    rule: &'a PrincipalRule,
    header: impl Fn(&str) -> Option<&'a [u8]>,
) -> Result<Credentials<'a>, Problem> {
    let invalid = |detail| Problem::new(Kind::CredentialsInvalid, detail);
    match rule {
        PrincipalRule::Anonymous => Ok(Credentials::Known(Principal::Anonymous)),
        PrincipalRule::Header(name) => match header(name) {
            Some(value) if !value.is_empty() => {
                Ok(Credentials::Known(Principal::from_header(name, value)))
            }
            _ => Err(invalid(format!("Send your API key in {name}."))),
        },
        PrincipalRule::BearerJwt { claim } => {
            let token = header("authorization").and_then(bearer);
            let token =
                token.ok_or_else(|| invalid("Send Authorization: Bearer <token>.".into()))?;
            Ok(Credentials::Bearer { token, claim })
        }
    }
}

/// The token of `Authorization: Bearer`; the scheme's case does not count (RFC 9110 11.1).
fn bearer(value: &[u8]) -> Option<&str> {
    let (scheme, token) = std::str::from_utf8(value).ok()?.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Last check: the body. Gives the names under which the request is known.
pub fn identify(
    route: &Route,
    source: &KeySource,
    principal: &Principal,
    command: &Command<'_>,
) -> Result<Identity, Problem> {
    let content = content(route, command)?;
    let digest = Sha256::digest(content.bytes()).into();
    let fingerprint = Fingerprint::of(command, &content, &digest);
    identify_by(route, source, principal, command, fingerprint)
}

/// First half of the last check, for whoever hashes by other means: what is to be hashed.
pub fn content<'a>(route: &Route, command: &Command<'a>) -> Result<Content<'a>, Problem> {
    command.content(&route.selection).map_err(not_canonical)
}

/// Second half of the last check: the names, once the fingerprint is known.
pub fn identify_by(
    route: &Route,
    source: &KeySource,
    principal: &Principal,
    command: &Command<'_>,
    fingerprint: Fingerprint,
) -> Result<Identity, Problem> {
    let derived;
    let (kind, key) = match (source, &route.key) {
        (KeySource::Sent(key), _) => (KeyKind::Sent, key),
        (KeySource::Derived, KeyRule::Derived(fields)) => {
            derived = derive(fields, command.body)?;
            (KeyKind::Derived, &derived)
        }
        _ => return Err(Problem::new(Kind::KeyMissing, "This request has no key.")),
    };
    let name = (route.scope == ScopeRule::Route).then(|| route.name());
    let scope = Scope::new(principal, kind, key, name.as_deref());
    Ok(Identity {
        scope,
        fingerprint,
        key_hash: key.hash(),
    })
}

/// The key of a request that sent none: a digest of the fields that policy names.
fn derive(fields: &[Pointer], body: &[u8]) -> Result<Key, Problem> {
    let values = canonical::pointers(body, fields).map_err(not_canonical)?;
    let mut framing = Framing::new("unavez-derived-key-1");
    for (field, value) in fields.iter().zip(values) {
        let value = value.ok_or_else(|| {
            let detail = format!(
                "Send an Idempotency-Key header, or the field {}.",
                field.as_str()
            );
            Problem::new(Kind::KeyMissing, detail)
        })?;
        framing = framing.part(field.as_str().as_bytes()).part(&value);
    }
    let key = hex::encode(&framing.finish()).into_bytes();
    Key::new(key).map_err(|error| Problem::new(Kind::KeyMalformed, error.to_string()))
}

fn not_canonical(error: CanonicalError) -> Problem {
    Problem::new(Kind::BodyNotCanonical, sentence(&error.to_string()))
}

/// An error's words as the sentence of a problem.
fn sentence(error: &str) -> String {
    let mut chars = error.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}
