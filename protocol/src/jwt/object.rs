//! JSON objects in which no name stands twice.

use crate::canonical::{self, Selection};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

/// The object in one part of a token.
pub(super) fn decode(part: &str) -> Option<Map<String, Value>> {
    parse(&URL_SAFE_NO_PAD.decode(part).ok()?)
}

/// The object that this text is. Canonical JSON refuses what two readers could read in two ways.
pub(super) fn parse(text: &[u8]) -> Option<Map<String, Value>> {
    let canonical = canonical::text(text, &Selection::whole()).ok()?;
    serde_json::from_slice(&canonical).ok()
}
