//! The rules of canonical JSON once more, written for being read: recursive, allocating and slow.

use std::fmt::Write as _;

/// A JSON document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Model {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    Array(Vec<Model>),
    /// Names are unique.
    Object(Vec<(String, Model)>),
}

/// 0.digits × 10^point. The digits neither start nor end with a zero; none means zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: String,
    pub(crate) point: i32,
}

impl Decimal {
    /// The decimal 0.digits × 10^point, whatever zeros the digits have around them.
    pub(crate) fn new(negative: bool, digits: &str, point: i32) -> Self {
        let leading = digits.len() - digits.trim_start_matches('0').len();
        let digits = digits.trim_matches('0').to_owned();
        let point = point - i32::try_from(leading).unwrap();
        match digits.as_str() {
            "" => Self {
                negative: false,
                digits,
                point: 0,
            },
            _ => Self {
                negative,
                digits,
                point,
            },
        }
    }

    /// ECMAScript, `Number::toString`.
    fn canonical(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let (digits, len) = (&self.digits, i32::try_from(self.digits.len()).unwrap());
        let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap());
        let split = |at: i32| digits.split_at(usize::try_from(at).unwrap());
        let text = match self.point {
            _ if len == 0 => return "0".to_owned(),
            n if len <= n && n <= 21 => format!("{digits}{}", zeros(n - len)),
            n if 0 < n && n <= 21 => format!("{}.{}", split(n).0, split(n).1),
            n if -6 < n && n <= 0 => format!("0.{}{digits}", zeros(-n)),
            n if len == 1 => format!("{digits}e{:+}", n - 1),
            n => format!("{}.{}e{:+}", split(1).0, split(1).1, n - 1),
        };
        format!("{sign}{text}")
    }
}

impl Model {
    /// The canonical text.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(decimal) => decimal.canonical(),
            Self::Text(text) => canonical_string(text),
            Self::Array(elements) => {
                let texts: Vec<_> = elements.iter().map(Self::canonical).collect();
                format!("[{}]", texts.join(","))
            }
            Self::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by_key(|(name, _)| name.encode_utf16().collect::<Vec<_>>());
                let member = |(name, value): &&(String, Self)| {
                    format!("{}:{}", canonical_string(name), value.canonical())
                };
                let texts: Vec<_> = sorted.iter().map(member).collect();
                format!("{{{}}}", texts.join(","))
            }
        }
    }

    /// The value at a path of unescaped tokens (RFC 6901).
    pub(crate) fn at(&self, path: &[String]) -> Option<&Self> {
        let Some((token, rest)) = path.split_first() else {
            return Some(self);
        };
        match self {
            Self::Array(elements) => {
                let index: usize = token.parse().ok()?;
                elements
                    .get(index)
                    .filter(|_| index.to_string() == *token)?
                    .at(rest)
            }
            Self::Object(members) => members.iter().find(|(name, _)| name == token)?.1.at(rest),
            _ => None,
        }
    }
}

fn canonical_string(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{9}' => quoted.push_str("\\t"),
            '\u{a}' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{d}' => quoted.push_str("\\r"),
            char if char < ' ' => write!(quoted, "\\u{:04x}", char as u32).unwrap(),
            char => quoted.push(char),
        }
    }
    quoted + "\""
}
