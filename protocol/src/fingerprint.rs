//! The fingerprint: what makes two requests one command (DESIGN section 3).

use crate::{
    canonical::{self, CanonicalError, Selection},
    framing::Framing,
    wire::hex,
};
use sha2::{Digest, Sha256};
use std::{borrow::Cow, fmt};

/// The scheme that this build writes.
pub const VERSION: u8 = 1;

/// A request's digest and the version of the scheme that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Version of the scheme; digests of two versions say nothing about each other.
    pub version: u8,
    /// SHA-256 over the framed parts.
    pub digest: [u8; 32],
}

/// How a request's fingerprint relates to a stored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same command.
    Same,
    /// Another command.
    Different,
    /// Made by a scheme that this process does not know: neither a match nor a mismatch (C14).
    Unknown,
}

/// The parts of a request that its fingerprint looks at.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// As sent, upper case.
    pub method: &'a str,
    /// Path as sent, without the query.
    pub path: &'a str,
    /// Query byte for byte, without `?`; empty when absent.
    pub query: &'a str,
    /// The `Content-Type` field value, when there is one.
    pub content_type: Option<&'a str>,
    /// Values of the headers that policy selects, in policy's order.
    pub headers: &'a [(&'a str, Option<&'a [u8]>)],
    /// The whole body.
    pub body: &'a [u8],
}

impl<'a> Command<'a> {
    /// What of the body is hashed.
    pub fn content(&self, selection: &Selection) -> Result<Content<'a>, CanonicalError> {
        Ok(if is_json(&self.essence()) {
            Content::Json(canonical::text(self.body, selection)?)
        } else if self.body.is_empty() {
            Content::None
        } else {
            Content::Raw(self.body)
        })
    }

    fn essence(&self) -> String {
        self.content_type
            .map(media_type_essence)
            .unwrap_or_default()
    }
}

/// What a fingerprint looks at of a body: JSON and raw bytes that look alike differ (C12, C15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// The canonical text of a JSON body.
    Json(Cow<'a, [u8]>),
    /// The bytes of any other body.
    Raw(&'a [u8]),
    /// Nothing, where there is none.
    None,
}

impl Content<'_> {
    /// The bytes whose SHA-256 [`Fingerprint::of`] takes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Json(text) => text,
            Self::Raw(body) => body,
            Self::None => &[],
        }
    }

    /// Are these the bytes of this body, where they stand?
    pub fn is_all_of(&self, body: &[u8]) -> bool {
        std::ptr::eq(self.bytes(), body)
    }
}

impl Fingerprint {
    /// Computes the fingerprint in the current scheme.
    pub fn new(command: &Command<'_>, selection: &Selection) -> Result<Self, CanonicalError> {
        let content = command.content(selection)?;
        let digest = Sha256::digest(content.bytes()).into();
        Ok(Self::of(command, &content, &digest))
    }

    /// The fingerprint of a command whose content has this SHA-256.
    pub fn of(command: &Command<'_>, content: &Content<'_>, digest: &[u8; 32]) -> Self {
        let mut framing = Framing::new("unavez-fingerprint-1")
            .part(command.method.as_bytes())
            .part(command.path.as_bytes())
            .part(command.query.as_bytes())
            .part(command.essence().as_bytes());
        for (name, value) in command.headers {
            let presence: &[u8] = if value.is_some() { b"+" } else { b"-" };
            framing = framing
                .part(name.as_bytes())
                .part(presence)
                .part(value.unwrap_or_default());
        }
        let (tag, digest): (&[u8], _) = match content {
            Content::Json(_) => (b"json", digest),
            Content::Raw(_) => (b"raw", digest),
            Content::None => (b"none", &[0; 32]),
        };
        Self {
            version: VERSION,
            digest: framing.part(tag).part(digest).finish(),
        }
    }

    /// Compares with a stored fingerprint. Version 1 is the only one there is; a later version
    /// recomputes the request in the stored one here.
    pub fn compare(&self, stored: &Self) -> Comparison {
        if stored.version != self.version {
            Comparison::Unknown
        } else if stored.digest == self.digest {
            Comparison::Same
        } else {
            Comparison::Different
        }
    }

    /// `<version>:<hex>`, the value of `Unavez-Fingerprint`.
    pub fn to_field(&self) -> String {
        format!("{}:{}", self.version, hex::encode(&self.digest))
    }

    /// Reads [`Self::to_field`] back.
    pub fn from_field(field: &str) -> Option<Self> {
        let (version, digest) = field.split_once(':')?;
        let (version, digest) = (version.parse().ok()?, hex::decode(digest)?);
        Some(Self { version, digest })
    }

    /// The 8 hex digits that a 422 names, so that a client can tell which body was first.
    pub fn prefix(&self) -> String {
        hex::encode(self.digest.get(..4).unwrap_or_default())
    }
}

/// Whether bodies of this media type are canonicalised: `application/json` and `+json`.
pub fn is_json(essence: &str) -> bool {
    essence == "application/json" || essence.ends_with("+json")
}

/// Type and subtype in lower case, without parameters (RFC 9110 section 8.3.1).
pub fn media_type_essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({}:{})", self.version, self.prefix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(body: &[u8]) -> Command<'_> {
        Command {
            method: "POST",
            path: "/orders",
            query: "",
            content_type: Some("application/json"),
            headers: &[],
            body,
        }
    }

    fn digest(command: &Command<'_>) -> [u8; 32] {
        Fingerprint::new(command, &Selection::whole())
            .unwrap()
            .digest
    }

    #[test]
    fn equal_commands_are_equal_however_they_are_spelled() {
        let plain = digest(&command(br#"{"a":1,"b":2}"#));
        assert_eq!(plain, digest(&command(b" { \"b\": 2.0, \"a\": 10e-1 }\n")));
        let types = [
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            " application/json ",
        ];
        for content_type in types {
            let other = Command {
                content_type: Some(content_type),
                ..command(br#"{"a":1,"b":2}"#)
            };
            assert_eq!(plain, digest(&other), "{content_type}");
        }
    }

    #[test]
    fn every_part_counts_and_none_flows_into_the_next() {
        let body = br#"{"a":1}"#;
        let base = command(body);
        let value: Option<&[u8]> = Some(b"v");
        let all = [
            base,
            Command {
                method: "PATCH",
                ..base
            },
            Command {
                path: "/order",
                query: "s",
                ..base
            },
            Command {
                path: "/orderss",
                ..base
            },
            Command {
                query: "a=&a=b&c=",
                ..base
            },
            Command {
                query: "a=&b=c&b=",
                ..base
            },
            Command {
                content_type: Some("application/vnd.api+json"),
                ..base
            },
            Command {
                content_type: Some("text/plain"),
                ..base
            },
            Command {
                content_type: None,
                ..base
            },
            Command {
                content_type: None,
                body: b"",
                ..base
            },
            Command {
                headers: &[("x", None)],
                ..base
            },
            Command {
                headers: &[("x", Some(b""))],
                ..base
            },
            Command {
                headers: &[("x", value)],
                ..base
            },
            Command {
                body: b"null",
                ..base
            },
            Command {
                body: b"{}",
                ..base
            },
            Command {
                body: b"\"\"",
                ..base
            },
        ];
        for (i, a) in all.iter().enumerate() {
            for b in all.get(i + 1..).unwrap() {
                assert_ne!(digest(a), digest(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn json_that_is_not_json_is_refused_and_other_types_are_not_looked_at() {
        assert!(Fingerprint::new(&command(b""), &Selection::whole()).is_err());
        assert!(Fingerprint::new(&command(b"{"), &Selection::whole()).is_err());
        let raw = Command {
            content_type: Some("text/plain"),
            ..command(b"{")
        };
        assert!(Fingerprint::new(&raw, &Selection::whole()).is_ok());
    }

    #[test]
    fn an_unknown_version_neither_matches_nor_mismatches() {
        let ours = Fingerprint::new(&command(b"1"), &Selection::whole()).unwrap();
        let theirs = Fingerprint { version: 2, ..ours };
        assert_eq!(ours.compare(&theirs), Comparison::Unknown);
        assert_eq!(ours.compare(&ours), Comparison::Same);
        assert_eq!(Fingerprint::from_field(&theirs.to_field()), Some(theirs));
    }
}
