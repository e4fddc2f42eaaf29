//! The vector file, whose format `vectors/README.md` describes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use protocol::canonical::{CanonicalError, Selection, digest, text};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const VECTORS: &str = include_str!("../../vectors/canonical.json");

fn hexadecimal(digest: [u8; 32]) -> String {
    digest
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn strings(vector: &Value, field: &str) -> Vec<String> {
    let list = vector[field].as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What the canonicaliser makes of a vector, as the file writes it.
fn outcome(body: &[u8], selection: &Selection) -> Result<(String, String), CanonicalError> {
    let canonical = text(body, selection)?;
    let digest = digest(body, selection)?;
    assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(&canonical)));
    Ok((
        String::from_utf8(canonical.into_owned()).unwrap(),
        hexadecimal(digest),
    ))
}

fn check(vector: &Value) {
    let name = vector["name"].as_str().unwrap();
    let body = BASE64_STANDARD
        .decode(vector["input"].as_str().unwrap())
        .unwrap();
    let [include, exclude] = ["include", "exclude"].map(|field| strings(vector, field));
    let selection = Selection::new(&include, &exclude).unwrap();
    match outcome(&body, &selection) {
        Ok((canonical, sha256)) => {
            assert_eq!(vector["canonical"], canonical, "{name}");
            assert_eq!(vector["sha256"], sha256, "{name}");
            assert_eq!(vector["error"], Value::Null, "{name}");
        }
        Err(error) => {
            assert_eq!(vector["error"], error.kind.name(), "{name}");
            assert_eq!(vector["offset"], error.offset, "{name}");
            assert_eq!(digest(&body, &selection), Err(error), "{name}");
        }
    }
}

#[test]
fn every_vector_holds() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() >= 300);
    vectors.iter().for_each(check);
}

#[test]
fn every_canonical_text_of_the_vectors_is_itself() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    for text in vectors
        .iter()
        .filter_map(|vector| vector["canonical"].as_str())
    {
        let again = outcome(text.as_bytes(), &Selection::whole()).unwrap();
        assert_eq!(again.0, text);
    }
}
