//! Which key sets are taken, and which are refused whole.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::prelude::*;
use protocol::{
    jwt::{JwkError, Keys, KeysError, Refusal, SECRET_BYTES_MIN, Signed, Token},
    problem::{Kind, Problem},
};
use serde_json::{Value, json};
use std::slice;

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn set(keys: &[Value]) -> Result<Keys, KeysError> {
    Keys::from_jwks(&json!({"keys": keys}).to_string())
}

fn rsa() -> Value {
    json!({"kty": "RSA", "n": text(&[0xff; 256]), "e": "AQAB"})
}

fn ec() -> Value {
    json!({"kty": "EC", "crv": "P-256", "x": text(&[1; 32]), "y": text(&[2; 32])})
}

fn ed() -> Value {
    json!({"kty": "OKP", "crv": "Ed25519", "x": text(&[3; 32])})
}

fn with(mut key: Value, name: &str, value: impl Into<Value>) -> Value {
    key[name] = value.into();
    key
}

/// The key that a token of this header asks for, as a JWK.
fn asked(keys: &Keys, header: &Value) -> Result<String, Refusal> {
    let token = format!(
        "{}.{}.{}",
        text(header.to_string().as_bytes()),
        text(b"{}"),
        text(&[0; 64])
    );
    match Token::parse(&token)?.signed_by(keys) {
        Ok(Signed::Unverified(token)) => Ok(token.key().to_jwk()),
        Ok(Signed::Verified(_)) => panic!("nothing was signed"),
        Err(refusal) => Err(refusal),
    }
}

#[test]
fn keys_for_other_purposes_are_passed_over() {
    let others = [
        with(rsa(), "use", "enc"),
        with(rsa(), "alg", "PS256"),
        with(rsa(), "key_ops", json!(["encrypt"])),
        with(rsa(), "key_ops", "verify"),
        with(ec(), "crv", "P-384"),
        with(ed(), "crv", "X25519"),
        json!({"kty": "oct", "k": text(&[7; 32])}),
        json!({"kty": "new"}),
    ];
    for other in others {
        assert!(set(slice::from_ref(&other)).unwrap().is_empty(), "{other}");
    }
    let used = [
        with(rsa(), "use", "sig"),
        with(ec(), "key_ops", json!(["verify", "sign"])),
        with(ed(), "alg", "EdDSA"),
    ];
    for key in used {
        assert!(!set(slice::from_ref(&key)).unwrap().is_empty(), "{key}");
    }
}

#[test]
fn one_bad_key_spoils_the_set() {
    use JwkError::{Member, NotAKey, Private};
    let cases = [
        (json!(1), NotAKey),
        (json!({"kid": "a"}), NotAKey),
        (with(rsa(), "kid", 1), Member("kid")),
        (with(rsa(), "d", "AQ"), Private),
        (with(ec(), "d", "AQ"), Private),
        (with(rsa(), "n", text(&[0xff; 255])), Member("n")),
        (
            with(
                rsa(),
                "n",
                text(&[[0x7f].as_slice(), &[0xff; 255]].concat()),
            ),
            Member("n"),
        ),
        (
            with(rsa(), "n", text(&[[0].as_slice(), &[0xff; 256]].concat())),
            Member("n"),
        ),
        (with(rsa(), "n", text(&[0xff; 1025])), Member("n")),
        (with(rsa(), "n", text(&[0xfe; 256])), Member("n")),
        (with(rsa(), "n", "="), Member("n")),
        (with(rsa(), "e", "AQ"), Member("e")),
        (with(rsa(), "e", "Ag"), Member("e")),
        (with(rsa(), "e", ""), Member("e")),
        (with(rsa(), "e", "AAEAAQ"), Member("e")),
        (with(rsa(), "e", 65_537), Member("e")),
        (with(ec(), "x", text(&[1; 31])), Member("x")),
        (with(ec(), "y", Value::Null), Member("y")),
        (with(ed(), "x", text(&[3; 33])), Member("x")),
    ];
    for (key, error) in cases {
        assert_eq!(
            set(&[ed(), key.clone()]).err(),
            Some(KeysError::Key(2, error)),
            "{key}"
        );
    }
    assert!(set(&[with(rsa(), "n", text(&[0xff; 1024]))]).is_ok());
    let two = [
        with(ec(), "kid", "a"),
        with(ed(), "kid", "a"),
        with(ec(), "kid", "a"),
    ];
    assert_eq!(set(&two).err(), Some(KeysError::Repeated(3)));
}

#[test]
fn what_is_no_set_is_refused() {
    let long = format!("{{\"keys\":[],\"pad\":\"{}\"}}", "x".repeat(256 * 1024));
    for text in [
        "",
        "[]",
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":[],"keys":[]}"#,
        "{\"keys\":[]}}",
        &long,
    ] {
        assert_eq!(Keys::from_jwks(text).err(), Some(KeysError::NotASet));
    }
    assert!(set(&[]).unwrap().is_empty());
}

#[test]
fn short_secrets_are_refused() {
    assert!(Keys::from_secret(vec![7; SECRET_BYTES_MIN]).is_ok());
    let short = Keys::from_secret(vec![7; SECRET_BYTES_MIN - 1]);
    assert_eq!(short.err(), Some(KeysError::ShortSecret));
}

#[test]
fn a_key_without_id_fits_every_token_and_one_with_the_id_comes_first() {
    let named = with(ed(), "kid", "named");
    let open = with(ed(), "x", text(&[4; 32]));
    let jwk = |key: &Value| json!({"kty": "OKP", "crv": "Ed25519", "x": key["x"]}).to_string();
    let same = |found: Result<String, Refusal>, key: &Value| {
        let found: Value = serde_json::from_str(&found.unwrap()).unwrap();
        assert_eq!(found, serde_json::from_str::<Value>(&jwk(key)).unwrap());
    };
    let keys = set(&[open.clone(), named.clone()]).unwrap();
    same(
        asked(&keys, &json!({"alg": "EdDSA", "kid": "named"})),
        &named,
    );
    same(
        asked(&keys, &json!({"alg": "EdDSA", "kid": "other"})),
        &open,
    );
    assert_eq!(
        asked(&keys, &json!({"alg": "EdDSA"})),
        Err(Refusal::UnknownKey)
    );
    assert_eq!(
        asked(&keys, &json!({"alg": "ES256", "kid": "named"})),
        Err(Refusal::UnknownKey)
    );
}

#[test]
fn keys_come_out_as_they_went_in() {
    for (key, alg) in [(ec(), "ES256"), (ed(), "EdDSA")] {
        let jwk = asked(&set(slice::from_ref(&key)).unwrap(), &json!({"alg": alg})).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&jwk).unwrap(), key);
    }
}

#[test]
fn secrets_are_not_shown() {
    let keys = Keys::from_secret(b"a secret that nobody may see".to_vec()).unwrap();
    let shown = format!("{keys:?}");
    assert!(shown.contains("hidden") && !shown.contains("97"), "{shown}");
}

#[test]
fn a_refusal_is_a_problem_of_its_own_words() {
    let problem = Problem::from(Refusal::Expired);
    assert_eq!(
        (problem.kind, problem.detail.as_str()),
        (Kind::CredentialsInvalid, "Refused: the token is expired.")
    );
}

proptest! {
    #[test]
    fn no_text_panics(token in ".{0,80}", set in ".{0,80}") {
        let keys = Keys::from_secret(vec![7; 32]).unwrap();
        let _ = Token::parse(&token).and_then(|token| token.signed_by(&keys).map(drop));
        let _ = Keys::from_jwks(&set);
    }

    #[test]
    fn no_header_or_claims_panic(header in any::<Vec<u8>>(), claims in any::<Vec<u8>>()) {
        let keys = Keys::from_secret(vec![7; 32]).unwrap();
        let token = format!("{}.{}.AA", text(&header), text(&claims));
        let outcome = Token::parse(&token).and_then(|token| token.signed_by(&keys).map(drop));
        prop_assert!(outcome.is_err());
    }
}
