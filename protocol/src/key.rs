//! The idempotency key: the value of `Idempotency-Key` (DESIGN section 3).

use sha2::{Digest, Sha256};
use std::fmt;

/// The longest key, in bytes, without quotes.
pub const KEY_BYTES_MAX: usize = 255;

/// A client's key, unquoted. It has no `Display`, and its `Debug` hides it: keys never reach a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

/// Why a key header was refused. All are answered 400 `key-malformed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// More than one field line.
    #[error("the header is repeated; send exactly one line")]
    Repeated,
    /// No byte between the quotes, or none at all.
    #[error("the key is empty")]
    Empty,
    /// Over [`KEY_BYTES_MAX`].
    #[error("the key is longer than 255 bytes")]
    TooLong,
    /// A space, a control or a byte beyond ASCII.
    #[error("the key holds a byte that is not visible ASCII")]
    NotVisibleAscii,
    /// A bare key with a comma: two lines may have been joined into it on the way.
    #[error("a bare key holds no comma; quote it or send one line")]
    Comma,
    /// A quoted key that is no RFC 8941 string.
    #[error("the key begins with a quote but is not one RFC 8941 string")]
    NotAString,
}

impl Key {
    /// Reads the field lines of `Idempotency-Key`; `None` when there is none.
    ///
    /// A quoted key (RFC 8941 section 3.3.3) and the same bytes bare are one key.
    pub fn parse<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<Self>, KeyError> {
        let mut lines = lines.into_iter();
        let Some(line) = lines.next() else {
            return Ok(None);
        };
        if lines.next().is_some() {
            return Err(KeyError::Repeated);
        }
        let line = line.trim_ascii();
        let bytes = match line.strip_prefix(b"\"") {
            Some(rest) => unquote(rest)?,
            None if line.contains(&b',') => return Err(KeyError::Comma),
            None => line.to_vec(),
        };
        Self::new(bytes).map(Some)
    }

    /// A key of these unquoted bytes.
    pub fn new(bytes: Vec<u8>) -> Result<Self, KeyError> {
        match bytes.len() {
            0 => Err(KeyError::Empty),
            n if n > KEY_BYTES_MAX => Err(KeyError::TooLong),
            _ if !bytes.iter().all(u8::is_ascii_graphic) => Err(KeyError::NotVisibleAscii),
            _ => Ok(Self(bytes)),
        }
    }

    /// The unquoted bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// SHA-256 of the key: the only form in which it is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

/// Reads an RFC 8941 string whose opening quote has been taken off.
fn unquote(rest: &[u8]) -> Result<Vec<u8>, KeyError> {
    let mut key = Vec::with_capacity(rest.len());
    let mut bytes = rest.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' if bytes.as_slice().is_empty() => return Ok(key),
            b'"' => return Err(KeyError::NotAString),
            b'\\' => match bytes.next() {
                Some(&escaped @ (b'"' | b'\\')) => key.push(escaped),
                _ => return Err(KeyError::NotAString),
            },
            _ => key.push(byte),
        }
    }
    Err(KeyError::NotAString)
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &[u8]) -> Result<Option<Key>, KeyError> {
        Key::parse([line])
    }

    fn bytes(line: &[u8]) -> Vec<u8> {
        one(line).unwrap().unwrap().0
    }

    #[test]
    fn quoted_and_bare_are_one_key() {
        assert_eq!(bytes(b"\"8e03\""), bytes(b"8e03"));
        assert_eq!(bytes(b"  8e03\t"), bytes(b"8e03"));
        assert_eq!(bytes(br#""a\"b\\c""#), bytes(br#"a"b\c"#));
    }

    #[test]
    fn case_counts() {
        assert_ne!(bytes(b"abc"), bytes(b"ABC"));
    }

    #[test]
    fn absent_is_none() {
        assert_eq!(Key::parse([]), Ok(None));
    }

    #[test]
    fn limits_count_bytes_without_quotes() {
        let longest = vec![b'k'; KEY_BYTES_MAX];
        assert_eq!(bytes(&longest), longest);
        let quoted = [b"\"".as_slice(), &longest, b"\""].concat();
        assert_eq!(bytes(&quoted), longest);
        assert_eq!(one(&[b'k'; 256]), Err(KeyError::TooLong));
        assert_eq!(one(&[b'k'; 8192]), Err(KeyError::TooLong));
        assert_eq!(bytes(b"k").len(), 1);
    }

    #[test]
    fn malformed_keys_are_refused() {
        let table: [(&[u8], KeyError); 12] = [
            (b"", KeyError::Empty),
            (b"   ", KeyError::Empty),
            (b"\"\"", KeyError::Empty),
            (b"a b", KeyError::NotVisibleAscii),
            (b"\"a b\"", KeyError::NotVisibleAscii),
            ("clé".as_bytes(), KeyError::NotVisibleAscii),
            (b"a\x7f", KeyError::NotVisibleAscii),
            (b"a, b", KeyError::Comma),
            (b"\"a\", \"b\"", KeyError::NotAString),
            (b"\"a", KeyError::NotAString),
            (b"\"a\";v=1", KeyError::NotAString),
            (br#""a\n""#, KeyError::NotAString),
        ];
        for (line, error) in table {
            assert_eq!(one(line), Err(error), "{line:?}");
        }
    }

    #[test]
    fn two_lines_are_refused_apart_and_joined() {
        assert_eq!(Key::parse([&b"a"[..], b"a"]), Err(KeyError::Repeated));
        assert!(one(b"a, a").is_err());
        assert!(
            one(b"\"a, b\"").is_err(),
            "a quote opened in one line and closed in the next"
        );
    }

    #[test]
    fn debug_hides_the_key() {
        assert_eq!(
            format!("{:?}", one(b"secret").unwrap().unwrap()),
            "Key(hidden)"
        );
    }
}
