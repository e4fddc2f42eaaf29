//! Injective pre-images: every part is preceded by its length (CASES C12).

use sha2::{Digest, Sha256};

/// A SHA-256 over length-prefixed parts, so that no two lists of parts share a pre-image.
pub(crate) struct Framing(Sha256);

impl Framing {
    /// Starts with a tag that names what is hashed and in which version.
    pub(crate) fn new(tag: &str) -> Self {
        Self(Sha256::new()).part(tag.as_bytes())
    }

    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
