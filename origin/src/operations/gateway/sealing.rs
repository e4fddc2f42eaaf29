//! Sealed bytes in the store: what a takeover needs of a client's credentials, and nobody may read.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::{Engine, engine::general_purpose::STANDARD};
use protocol::scope::Scope;

/// Bytes of a key: AES-256.
const KEY_BYTES: usize = 32;

/// Keys: the first seals, each opens, so that they can be rotated.
pub struct Sealing(Vec<RandomizedNonceKey>);

/// Why keys were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("entry {0} is not base64 of 32 bytes")]
pub struct SealingError(usize);

impl Sealing {
    /// Reads `base64,base64`: 32 random bytes each.
    pub fn parse(list: &str) -> Result<Self, SealingError> {
        let keys = list.split(',').enumerate().map(|(n, text)| {
            let refused = SealingError(n + 1);
            let bytes = STANDARD.decode(text.trim()).map_err(|_| refused)?;
            Some(bytes)
                .filter(|bytes| bytes.len() == KEY_BYTES)
                .and_then(|bytes| RandomizedNonceKey::new(&AES_256_GCM, &bytes).ok())
                .ok_or(refused)
        });
        keys.collect::<Result<_, _>>().map(Self)
    }

    /// One random key, which ends with this process.
    pub fn of_this_process() -> Self {
        let [a, b] = [(); 2].map(|()| *uuid::Uuid::new_v4().as_bytes());
        let key = RandomizedNonceKey::new(&AES_256_GCM, &[a, b].concat());
        Self(key.into_iter().collect())
    }

    /// Seals bytes for this record: moved to another one they no longer open.
    pub(super) fn seal(&self, scope: &Scope, bytes: &[u8]) -> Vec<u8> {
        let mut sealed = bytes.to_vec();
        let nonce = self.0.first().and_then(|key| {
            key.seal_in_place_append_tag(Aad::from(scope.0), &mut sealed)
                .ok()
        });
        match nonce {
            Some(nonce) => [nonce.as_ref().as_slice(), &sealed].concat(),
            // What can't be sealed is not kept.
            None => Vec::new(),
        }
    }

    /// The bytes, where one of the keys sealed them for this record.
    pub(super) fn open(&self, scope: &Scope, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        self.0.iter().find_map(|key| {
            let mut bytes = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let opened = key.open_in_place(nonce, Aad::from(scope.0), &mut bytes);
            opened.ok().map(|opened| opened.to_vec())
        })
    }
}

impl std::fmt::Debug for Sealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealing(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const NEW: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

    #[test]
    fn only_a_known_key_opens_and_only_for_its_record() {
        let (scope, other) = (Scope([1; 32]), Scope([2; 32]));
        let old = Sealing::parse(OLD).unwrap();
        let sealed = old.seal(&scope, b"authorization");
        assert!(!sealed.windows(4).any(|bytes| bytes == b"auth"));
        let rotated = Sealing::parse(&format!("{NEW}, {OLD}")).unwrap();
        assert_eq!(rotated.open(&scope, &sealed).unwrap(), b"authorization");
        assert_eq!(rotated.open(&other, &sealed), None);
        assert_eq!(Sealing::parse(NEW).unwrap().open(&scope, &sealed), None);
        let process = Sealing::of_this_process();
        assert_eq!(process.open(&scope, &sealed), None);
        assert!(process.open(&scope, &process.seal(&scope, b"")).is_some());
        assert_eq!(old.open(&scope, b"short"), None);
    }

    #[test]
    fn a_key_that_is_none_is_refused_by_its_number() {
        assert_eq!(Sealing::parse("").unwrap_err(), SealingError(1));
        let short = format!("{OLD},AAAA");
        assert_eq!(Sealing::parse(&short).unwrap_err(), SealingError(2));
    }
}
