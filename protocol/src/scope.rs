//! The scope: the name of a record, and of a flight (DESIGN section 3).

use crate::{framing::Framing, key::Key, principal::Principal};
use std::fmt;

/// SHA-256 over version tag, principal, kind of key and key: primary key of the record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(pub [u8; 32]);

/// Where a key came from; a derived key never meets a sent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// `Idempotency-Key`.
    Sent,
    /// Named fields of the body.
    Derived,
}

impl Scope {
    /// `route` is given where policy says `scope = "route"`. It never depends on the fingerprint
    /// scheme, so that old and new versions meet at one record (CASES C14).
    pub fn new(principal: &Principal, kind: KeyKind, key: &Key, route: Option<&str>) -> Self {
        let kind = match kind {
            KeyKind::Sent => "sent",
            KeyKind::Derived => "derived",
        };
        let parts = Framing::new("unavez-scope-1")
            .part(&principal.to_bytes())
            .part(kind.as_bytes())
            .part(key.bytes());
        let parts = match route {
            Some(route) => parts.part(route.as_bytes()),
            None => parts,
        };
        Self(parts.finish())
    }

    /// The key that an operation sends on with one of its steps: the same on every takeover, so
    /// that the outside sees one command (CASES C36).
    pub fn child_key(&self, generation: i32, step: &str) -> String {
        let framing = Framing::new("unavez-child-key-1")
            .part(&self.0)
            .part(&generation.to_be_bytes())
            .part(step.as_bytes());
        crate::wire::hex::encode(&framing.finish())
    }

    /// The first 8 hex digits: enough to find a record by, useless to guess a key from.
    pub fn prefix(&self) -> String {
        crate::wire::hex::encode(self.0.get(..4).unwrap_or_default())
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.prefix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(text.into()).unwrap()
    }

    #[test]
    fn a_child_key_is_the_same_on_every_attempt_and_differs_by_generation_and_step() {
        let scope = Scope([1; 32]);
        assert_eq!(scope.child_key(1, "charge"), scope.child_key(1, "charge"));
        assert_ne!(scope.child_key(1, "charge"), scope.child_key(2, "charge"));
        assert_ne!(scope.child_key(1, "charge"), scope.child_key(1, "refund"));
        assert_ne!(
            scope.child_key(1, "charge"),
            Scope([2; 32]).child_key(1, "charge")
        );
    }

    #[test]
    fn each_part_separates() {
        let anonymous = Principal::Anonymous;
        let subject = Principal::Subject {
            issuer: None,
            claim: "sub".into(),
            subject: "anonymous".into(),
        };
        let scopes = [
            Scope::new(&anonymous, KeyKind::Sent, &key("k"), None),
            Scope::new(&subject, KeyKind::Sent, &key("k"), None),
            Scope::new(&anonymous, KeyKind::Derived, &key("k"), None),
            Scope::new(&anonymous, KeyKind::Sent, &key("K"), None),
            Scope::new(&anonymous, KeyKind::Sent, &key("k"), Some("")),
            Scope::new(&anonymous, KeyKind::Sent, &key("k"), Some("POST /orders")),
        ];
        for (i, a) in scopes.iter().enumerate() {
            for b in scopes.get(i + 1..).unwrap() {
                assert_ne!(a.0, b.0);
            }
        }
    }
}
