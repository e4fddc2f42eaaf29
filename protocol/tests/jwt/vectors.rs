//! `vectors/jwt.json`, but for the signatures of public keys, which the shells verify.

use protocol::{
    jwt::{Expected, Keys, Refusal, Signed, Token},
    principal,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    now: u64,
    secret: String,
    jwks: serde_json::Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    token: String,
    claim: Option<String>,
    issuer: Option<String>,
    audience: Option<String>,
    now: Option<u64>,
    principal: Option<Principal>,
    refused: Option<String>,
}

/// What a token gives.
#[derive(Debug, PartialEq, Deserialize)]
struct Principal {
    issuer: Option<String>,
    claim: String,
    #[serde(rename = "subject")]
    name: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../vectors/jwt.json")).unwrap()
}

fn keys(vectors: &Vectors) -> Keys {
    let secret = Keys::from_secret(vectors.secret.clone().into_bytes()).unwrap();
    secret.and(Keys::from_jwks(&vectors.jwks.to_string()).unwrap())
}

fn judge(case: &Case, keys: &Keys, now: u64) -> Result<principal::Principal, Refusal> {
    let verified = match Token::parse(&case.token)?.signed_by(keys)? {
        Signed::Verified(verified) => verified,
        Signed::Unverified(token) => token.accept(case.refused.as_deref() != Some("signature"))?,
    };
    let expected = Expected {
        issuer: case.issuer.clone(),
        audience: case.audience.clone(),
    };
    verified.principal(&expected, case.claim.as_deref().unwrap_or("sub"), now)
}

/// `UnknownKey` is `unknown-key`.
fn name(refusal: Refusal) -> String {
    let mut name = String::new();
    for char in format!("{refusal:?}").chars() {
        if char.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(char.to_lowercase());
    }
    name
}

#[test]
fn every_token_has_its_outcome() {
    let vectors = vectors();
    let keys = keys(&vectors);
    for case in &vectors.cases {
        let outcome = judge(case, &keys, case.now.unwrap_or(vectors.now));
        let refused = outcome.as_ref().err().copied().map(name);
        assert_eq!(refused, case.refused, "{}", case.name);
        assert_eq!(outcome.ok().map(named), case.principal, "{}", case.name);
    }
}

fn named(principal: principal::Principal) -> Principal {
    match principal {
        principal::Principal::Subject {
            issuer,
            claim,
            subject,
        } => Principal {
            issuer,
            claim,
            name: subject,
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_vectors_refuse_for_every_reason_there_is() {
    let reasons = [
        "too-long",
        "not-compact",
        "header",
        "algorithm",
        "critical",
        "type",
        "unknown-key",
        "signature",
        "claims",
        "no-expiry",
        "expired",
        "not-yet",
        "issuer",
        "audience",
        "no-subject",
    ];
    let vectors = vectors();
    for reason in reasons {
        let is_used = vectors
            .cases
            .iter()
            .any(|case| case.refused.as_deref() == Some(reason));
        assert!(is_used, "{reason}");
    }
}

#[test]
fn tokens_that_rotate_are_one_principal() {
    let vectors = vectors();
    let keys = keys(&vectors);
    let names = [
        "HS256",
        "ES256 by es",
        "EdDSA by ed",
        "RS256 by rs",
        "RS256 by rs-next",
    ];
    let principals = names.map(|name| {
        let case = vectors.cases.iter().find(|case| case.name == name).unwrap();
        judge(case, &keys, vectors.now).unwrap().to_bytes()
    });
    assert!(
        principals
            .iter()
            .all(|principal| *principal == principals[0])
    );
}

#[test]
fn without_keys_every_token_is_refused() {
    let vectors = vectors();
    for case in &vectors.cases {
        assert!(
            judge(case, &Keys::default(), vectors.now).is_err(),
            "{}",
            case.name
        );
    }
}
