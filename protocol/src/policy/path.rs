//! Path patterns: literal segments or `{name}`.

use serde::{Deserialize, Serialize};

/// A pattern such as `/orders/{id}/refunds`. It matches segment by segment, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPattern(String);

/// Why a pattern was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathPatternError {
    /// It does not start with `/`.
    #[error("a path starts with /")]
    NotAbsolute,
    /// A brace that does not enclose a whole segment, or an empty name.
    #[error("a parameter is a whole segment: /{{name}}/")]
    Parameter,
    /// A query, a fragment or a byte that no path holds.
    #[error("a path holds no query, fragment, space or byte beyond ASCII")]
    NotAPath,
}

impl PathPattern {
    /// Validates a pattern.
    pub fn new(pattern: &str) -> Result<Self, PathPatternError> {
        let segments = pattern
            .strip_prefix('/')
            .ok_or(PathPatternError::NotAbsolute)?;
        if !pattern
            .bytes()
            .all(|b| b.is_ascii_graphic() && b != b'?' && b != b'#')
        {
            return Err(PathPatternError::NotAPath);
        }
        for segment in segments.split('/') {
            let braces = segment.matches(['{', '}']).count();
            if braces > 0 && (braces != 2 || !is_parameter(segment)) {
                return Err(PathPatternError::Parameter);
            }
        }
        Ok(Self(pattern.to_owned()))
    }

    /// Whether a path, as sent, is of this pattern. A parameter takes one non-empty segment.
    pub fn matches(&self, path: &str) -> bool {
        let mut segments = path.split('/');
        let matched = self.0.split('/').all(|pattern| match segments.next() {
            Some(segment) if is_parameter(pattern) => !segment.is_empty(),
            segment => segment == Some(pattern),
        });
        matched && segments.next().is_none()
    }

    /// Whether some path is of both patterns.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.0.split('/'), other.0.split('/'));
        ours.clone().count() == theirs.clone().count()
            && ours
                .zip(theirs)
                .all(|(a, b)| is_parameter(a) || is_parameter(b) || a == b)
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.len() > 2 && segment.starts_with('{') && segment.ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PathPattern {
        PathPattern::new(text).unwrap()
    }

    #[test]
    fn segments_match_one_by_one() {
        let refunds = pattern("/orders/{id}/refunds");
        assert!(refunds.matches("/orders/1/refunds"));
        for path in [
            "/orders//refunds",
            "/orders/1/refunds/",
            "/orders/1",
            "/Orders/1/refunds",
        ] {
            assert!(!refunds.matches(path), "{path}");
        }
        assert!(pattern("/").matches("/"));
        assert!(!pattern("/orders").matches("/orders/"));
    }

    #[test]
    fn overlap_is_a_path_that_both_match() {
        assert!(pattern("/a/{x}").overlaps(&pattern("/{y}/b")));
        assert!(!pattern("/a/{x}").overlaps(&pattern("/b/{x}")));
        assert!(!pattern("/a/{x}").overlaps(&pattern("/a")));
    }

    #[test]
    fn malformed_patterns_are_refused() {
        use PathPatternError::*;
        for (text, error) in [
            ("orders", NotAbsolute),
            ("/orders?x", NotAPath),
            ("/a b", NotAPath),
            ("/{}", Parameter),
            ("/a{b}", Parameter),
            ("/{a}{b}", Parameter),
            ("/{a", Parameter),
        ] {
            assert_eq!(PathPattern::new(text), Err(error), "{text}");
        }
    }
}
