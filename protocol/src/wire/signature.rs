//! The signed hop: HTTP Message Signatures (RFC 9421) with hmac-sha256 (DESIGN section 7).
//!
//! An edge signs method, target, key and, for a protected request, the digest of its body
//! (RFC 9530). The origin recomputes each of them from the request itself.

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sfv::{Dictionary, FieldType, InnerList, ListEntry, Parser};
use sha2::Sha256;
use std::fmt;

/// `Signature`.
pub const SIGNATURE: &str = "signature";
/// `Signature-Input`.
pub const SIGNATURE_INPUT: &str = "signature-input";
/// `Content-Digest`.
pub const CONTENT_DIGEST: &str = "content-digest";
/// How far `created` may lie from the verifier's clock, in seconds.
pub const SKEW_SECONDS: i64 = 60;

const LABEL: &str = "edge";
const ALGORITHM: &str = "hmac-sha256";

/// The keys that edges sign with: the first signs, each verifies, so that keys can rotate.
#[derive(Clone)]
pub struct EdgeKeys(Vec<EdgeKey>);

#[derive(Clone)]
struct EdgeKey {
    id: String,
    secret: Vec<u8>,
}

/// `EDGE_KEYS` is not `kid:base64,kid:base64`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EdgeKeysError {
    /// An entry without a colon, or with an id that is no visible ASCII.
    #[error("entry {0} is not of the form kid:base64")]
    Form(usize),
    /// The secret is not base64.
    #[error("the secret of entry {0} is not base64")]
    Base64(usize),
    /// An HMAC key under 16 bytes can be guessed.
    #[error("the secret of entry {0} is shorter than 16 bytes")]
    Short(usize),
    /// Two entries with one id.
    #[error("entry {0} repeats the id of an earlier one")]
    Repeated(usize),
}

/// Why a signature was refused. The words name no secret and are safe to answer and to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// One of the two fields is not there.
    #[error("the request is not signed")]
    Missing,
    /// The fields are not what RFC 9421 describes.
    #[error("the signature fields are malformed")]
    Malformed,
    /// No key of this id.
    #[error("the key id is unknown")]
    UnknownKey,
    /// `created` is too far from now.
    #[error("the signature is older than 60 seconds, or from the future")]
    Stale,
    /// A component that must be signed is not covered, or one is covered that we don't know.
    #[error("the signature does not cover what it must")]
    Coverage,
    /// The bytes do not match.
    #[error("the signature does not match the request")]
    Mismatch,
}

impl SignatureError {
    /// One stable word, for counting.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown-key",
            Self::Stale => "stale",
            Self::Coverage => "coverage",
            Self::Mismatch => "mismatch",
        }
    }
}

/// What a signature is about, as the request shows it.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `@method`.
    pub method: &'a str,
    /// `@request-target`: path and query as sent.
    pub target: &'a str,
    /// `content-digest`; absent where the body streams.
    pub content_digest: Option<&'a str>,
    /// `idempotency-key`, the field value as sent.
    pub idempotency_key: Option<&'a str>,
}

impl<'a> Signed<'a> {
    fn components(&self) -> Vec<(&'static str, &'a str)> {
        let optional = [
            (CONTENT_DIGEST, self.content_digest),
            (super::IDEMPOTENCY_KEY, self.idempotency_key.map(str::trim)),
        ];
        let present = optional
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        [("@method", self.method), ("@request-target", self.target)]
            .into_iter()
            .chain(present)
            .collect()
    }
}

impl EdgeKeys {
    /// Reads `kid:base64,kid:base64`.
    pub fn parse(text: &str) -> Result<Self, EdgeKeysError> {
        let mut keys: Vec<EdgeKey> = Vec::new();
        for (entry, n) in text.split(',').zip(1..) {
            let (id, secret) = entry.trim().split_once(':').ok_or(EdgeKeysError::Form(n))?;
            if id.is_empty()
                || !id
                    .bytes()
                    .all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
            {
                return Err(EdgeKeysError::Form(n));
            }
            let secret = STANDARD
                .decode(secret)
                .map_err(|_| EdgeKeysError::Base64(n))?;
            if secret.len() < 16 {
                return Err(EdgeKeysError::Short(n));
            }
            if keys.iter().any(|key| key.id == id) {
                return Err(EdgeKeysError::Repeated(n));
            }
            keys.push(EdgeKey {
                id: id.to_owned(),
                secret,
            });
        }
        Ok(Self(keys))
    }

    /// The values of `Signature-Input` and `Signature`. `created` is in Unix seconds.
    pub fn sign(&self, signed: &Signed<'_>, created: i64) -> Option<(String, String)> {
        let key = self.0.first()?;
        let components = signed.components();
        let names: Vec<_> = components
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let params = format!(
            "({});created={created};keyid=\"{}\";alg=\"{ALGORITHM}\"",
            names.join(" "),
            key.id
        );
        let signature = mac(&key.secret, &base(&components, &params))?
            .finalize()
            .into_bytes();
        let signature = format!("{LABEL}=:{}:", STANDARD.encode(signature));
        Some((format!("{LABEL}={params}"), signature))
    }

    /// Checks that the request was signed by one of these keys within [`SKEW_SECONDS`] of `now`.
    pub fn verify(
        &self,
        signed: &Signed<'_>,
        signature_input: Option<&str>,
        signature: Option<&str>,
        now: i64,
    ) -> Result<(), SignatureError> {
        let input = member(signature_input.ok_or(SignatureError::Missing)?)?;
        let signature = member(signature.ok_or(SignatureError::Missing)?)?;
        let (ListEntry::InnerList(input), ListEntry::Item(signature)) = (input, signature) else {
            return Err(SignatureError::Malformed);
        };
        let signature = signature
            .bare_item
            .as_byte_sequence()
            .ok_or(SignatureError::Malformed)?;
        let covered = covered(&input, signed)?;
        let key = self.key_of(&input)?;
        check_created(&input, now)?;
        let params = vec![ListEntry::InnerList(input)].serialize();
        let params = params.ok_or(SignatureError::Malformed)?;
        mac(&key.secret, &base(&covered, &params))
            .ok_or(SignatureError::Malformed)?
            .verify_slice(signature)
            .map_err(|_| SignatureError::Mismatch)
    }

    fn key_of(&self, input: &InnerList) -> Result<&EdgeKey, SignatureError> {
        let algorithm = string_param(input, "alg");
        if algorithm.is_some_and(|algorithm| algorithm != ALGORITHM) {
            return Err(SignatureError::UnknownKey);
        }
        let id = string_param(input, "keyid").ok_or(SignatureError::Malformed)?;
        self.0
            .iter()
            .find(|key| key.id == id)
            .ok_or(SignatureError::UnknownKey)
    }
}

fn member(field: &str) -> Result<ListEntry, SignatureError> {
    let fields: Dictionary = Parser::new(field)
        .parse()
        .map_err(|_| SignatureError::Malformed)?;
    let found = fields
        .into_iter()
        .find(|(label, _)| label.as_str() == LABEL);
    found.map(|(_, entry)| entry).ok_or(SignatureError::Missing)
}

/// The covered components in the signature's own order; exactly those of the request.
fn covered<'a>(
    input: &InnerList,
    signed: &Signed<'a>,
) -> Result<Vec<(&'static str, &'a str)>, SignatureError> {
    let mut expected = signed.components();
    let mut covered = Vec::with_capacity(expected.len());
    for item in &input.items {
        let name = item
            .bare_item
            .as_string()
            .ok_or(SignatureError::Malformed)?;
        let at = expected
            .iter()
            .position(|(expected, _)| *expected == name.as_str());
        let at = at
            .filter(|_| item.params.is_empty())
            .ok_or(SignatureError::Coverage)?;
        covered.push(expected.remove(at));
    }
    if expected.is_empty() {
        Ok(covered)
    } else {
        Err(SignatureError::Coverage)
    }
}

fn check_created(input: &InnerList, now: i64) -> Result<(), SignatureError> {
    let created = input
        .params
        .iter()
        .find(|(name, _)| name.as_str() == "created");
    let created = created.and_then(|(_, value)| value.as_integer());
    let created = i64::from(created.ok_or(SignatureError::Malformed)?);
    if now.abs_diff(created) > SKEW_SECONDS.unsigned_abs() {
        return Err(SignatureError::Stale);
    }
    Ok(())
}

fn string_param<'a>(input: &'a InnerList, name: &str) -> Option<&'a str> {
    let found = input
        .params
        .iter()
        .find(|(param, _)| param.as_str() == name);
    found
        .and_then(|(_, value)| value.as_string())
        .map(sfv::StringRef::as_str)
}

/// The signature base (RFC 9421 section 2.5).
fn base(components: &[(&str, &str)], params: &str) -> String {
    let mut base = String::with_capacity(256);
    for (name, value) in components {
        base.push('"');
        base.push_str(name);
        base.push_str("\": ");
        base.push_str(value);
        base.push('\n');
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(params);
    base
}

fn mac(secret: &[u8], base: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(base.as_bytes());
    Some(mac)
}

/// The value of `Content-Digest` for a body of this SHA-256 (RFC 9530).
pub fn content_digest(sha256: &[u8; 32]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(sha256))
}

impl fmt::Debug for EdgeKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|key| &key.id))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn keys(text: &str) -> EdgeKeys {
        EdgeKeys::parse(text).unwrap()
    }

    fn new_key() -> EdgeKeys {
        keys("new:bmV3bmV3bmV3bmV3bmV3bmV3,old:b2xkb2xkb2xkb2xkb2xkb2xk")
    }

    fn request() -> Signed<'static> {
        Signed {
            method: "POST",
            target: "/orders?x=1",
            content_digest: Some("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
            idempotency_key: Some("\"k-1\""),
        }
    }

    fn check(signed: &Signed<'_>, by: &Signed<'_>, at: i64) -> Result<(), SignatureError> {
        let (input, signature) = new_key().sign(by, NOW).unwrap();
        new_key().verify(signed, Some(&input), Some(&signature), at)
    }

    #[test]
    fn the_example_of_the_rfc_is_reproduced() {
        // RFC 9421, appendix B.2.5 with the key of B.1.5.
        let secret = STANDARD
            .decode("uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==")
            .unwrap();
        let components = [
            ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
            ("@authority", "example.com"),
            ("content-type", "application/json"),
        ];
        let params = "(\"date\" \"@authority\" \"content-type\");created=1618884473;keyid=\"test-shared-secret\"";
        let signature = mac(&secret, &base(&components, params))
            .unwrap()
            .finalize()
            .into_bytes();
        assert_eq!(
            STANDARD.encode(signature),
            "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8="
        );
    }

    #[test]
    fn a_signed_request_is_accepted_within_the_skew() {
        for at in [NOW, NOW - 60, NOW + 60] {
            assert_eq!(check(&request(), &request(), at), Ok(()));
        }
        for at in [NOW - 61, NOW + 61] {
            assert_eq!(
                check(&request(), &request(), at),
                Err(SignatureError::Stale)
            );
        }
        let streamed = Signed {
            content_digest: None,
            idempotency_key: None,
            ..request()
        };
        assert_eq!(check(&streamed, &streamed, NOW), Ok(()));
    }

    #[test]
    fn a_request_altered_after_signing_is_refused() {
        let altered = [
            Signed {
                method: "PATCH",
                ..request()
            },
            Signed {
                target: "/orders?x=2",
                ..request()
            },
            Signed {
                content_digest: Some("sha-256=:AAAA:"),
                ..request()
            },
            Signed {
                idempotency_key: Some("k-2"),
                ..request()
            },
        ];
        for seen in altered {
            assert_eq!(
                check(&seen, &request(), NOW),
                Err(SignatureError::Mismatch),
                "{seen:?}"
            );
        }
    }

    #[test]
    fn what_must_be_signed_must_be_covered() {
        let no_key = Signed {
            idempotency_key: None,
            ..request()
        };
        let no_digest = Signed {
            content_digest: None,
            ..request()
        };
        assert_eq!(
            check(&request(), &no_key, NOW),
            Err(SignatureError::Coverage)
        );
        assert_eq!(
            check(&request(), &no_digest, NOW),
            Err(SignatureError::Coverage)
        );
        assert_eq!(
            check(&no_key, &request(), NOW),
            Err(SignatureError::Coverage)
        );
    }

    #[test]
    fn either_key_of_a_rotation_verifies_and_another_does_not() {
        let old = keys("old:b2xkb2xkb2xkb2xkb2xkb2xk");
        let (input, signature) = old.sign(&request(), NOW).unwrap();
        let verify = |keys: &EdgeKeys| keys.verify(&request(), Some(&input), Some(&signature), NOW);
        assert_eq!(verify(&new_key()), Ok(()));
        let gone = keys("new:bmV3bmV3bmV3bmV3bmV3bmV3");
        assert_eq!(verify(&gone), Err(SignatureError::UnknownKey));
        let other = keys("old:b3RoZXJvdGhlcm90aGVyb3RoZXI=");
        assert_eq!(verify(&other), Err(SignatureError::Mismatch));
    }

    #[test]
    fn fields_that_are_missing_or_malformed_are_refused() {
        let (input, signature) = new_key().sign(&request(), NOW).unwrap();
        let verify = |input: Option<&str>, signature: Option<&str>| {
            new_key().verify(&request(), input, signature, NOW)
        };
        assert_eq!(verify(None, Some(&signature)), Err(SignatureError::Missing));
        assert_eq!(verify(Some(&input), None), Err(SignatureError::Missing));
        assert_eq!(
            verify(Some("other=()"), Some(&signature)),
            Err(SignatureError::Missing)
        );
        let malformed = [
            "edge",
            "edge=1",
            "edge=(1);created=1;keyid=\"new\"",
            "=",
            "edge=()x",
        ];
        for input in malformed {
            assert!(verify(Some(input), Some(&signature)).is_err(), "{input}");
        }
        let rsa = input.replace(ALGORITHM, "rsa-pss-sha512");
        assert_eq!(
            verify(Some(&rsa), Some(&signature)),
            Err(SignatureError::UnknownKey)
        );
    }

    #[test]
    fn keys_are_read_or_refused_by_their_place() {
        assert_eq!(EdgeKeys::parse("a").unwrap_err(), EdgeKeysError::Form(1));
        assert_eq!(
            EdgeKeys::parse("a:%").unwrap_err(),
            EdgeKeysError::Base64(1)
        );
        assert_eq!(
            EdgeKeys::parse("a:YQ==").unwrap_err(),
            EdgeKeysError::Short(1)
        );
        let twice = "a:bmV3bmV3bmV3bmV3bmV3bmV3, a:bmV3bmV3bmV3bmV3bmV3bmV3";
        assert_eq!(
            EdgeKeys::parse(twice).unwrap_err(),
            EdgeKeysError::Repeated(2)
        );
        assert_eq!(format!("{:?}", new_key()), "[\"new\", \"old\"]");
    }
}
