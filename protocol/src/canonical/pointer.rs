//! JSON pointers (RFC 6901): the names of places in a body.

use serde::{Deserialize, Serialize};

/// A JSON pointer, parsed. In JSON it is its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer {
    text: String,
    /// The names and indices on the way, unescaped.
    pub(super) tokens: Vec<String>,
}

/// Why a text is not a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// Neither empty nor starting with a slash.
    #[error("the JSON pointer `{0}` must start with `/`")]
    NoSlash(String),
    /// A tilde that is not part of `~0` or `~1`.
    #[error("the JSON pointer `{0}` must write `~` as `~0` and `/` as `~1`")]
    Escape(String),
}

impl Pointer {
    /// Parses the string representation of RFC 6901, section 5.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        let tokens = match text.strip_prefix('/') {
            Some(path) => path.split('/').map(unescape).collect(),
            None if text.is_empty() => Some(Vec::new()),
            None => return Err(PointerError::NoSlash(text.to_owned())),
        };
        let tokens = tokens.ok_or_else(|| PointerError::Escape(text.to_owned()))?;
        Ok(Self {
            text: text.to_owned(),
            tokens,
        })
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Does this pointer name what `other` names, or a place inside it?
    pub fn is_within(&self, other: &Self) -> bool {
        self.tokens.starts_with(&other.tokens)
    }
}

impl TryFrom<String> for Pointer {
    type Error = PointerError;

    fn try_from(text: String) -> Result<Self, PointerError> {
        Self::parse(&text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.text
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (char, rest) = match part.split_at_checked(1)? {
            ("0", rest) => ('~', rest),
            ("1", rest) => ('/', rest),
            _ => return None,
        };
        text.push(char);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_unescaped() {
        let tokens = |text| Pointer::parse(text).map(|pointer| pointer.tokens);
        assert_eq!(tokens(""), Ok(vec![]));
        assert_eq!(tokens("/"), Ok(vec![String::new()]));
        assert_eq!(
            tokens("/a~1b/~0/~01//é"),
            Ok(["a/b", "~", "~1", "", "é"].map(String::from).to_vec())
        );
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        assert_eq!(
            Pointer::parse("a"),
            Err(PointerError::NoSlash("a".to_owned()))
        );
        for text in ["/~", "/~2", "/a~", "/~é"] {
            assert_eq!(
                Pointer::parse(text),
                Err(PointerError::Escape(text.to_owned()))
            );
        }
    }

    #[test]
    fn a_place_is_within_itself_and_within_those_around_it() {
        let [a, ab, a2] = ["/a", "/a/b", "/a2"].map(|text| Pointer::parse(text).unwrap());
        assert!(a.is_within(&a) && ab.is_within(&a));
        assert!(!a.is_within(&ab) && !a2.is_within(&a));
    }
}
