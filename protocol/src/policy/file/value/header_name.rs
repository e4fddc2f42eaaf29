//! Names of headers that policy may select.

use super::text;
use crate::policy::file::fault::Wrong;
use crate::wire::{self, IDEMPOTENCY_KEY};
use toml::de::DeValue;

/// A name, lower case (RFC 9110 section 5.1).
pub(in crate::policy::file) fn parse(name: &str) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("names {name:?}, which is no header"));
    }
    let name = name.to_ascii_lowercase();
    let reserved = match name.as_str() {
        "authorization" | "proxy-authorization" | "cookie" => "changes between retries",
        IDEMPOTENCY_KEY => "is the key itself",
        name if wire::is_internal(name) => "only Unavez's own parts may send",
        _ => return Ok(name),
    };
    Err(format!("names {name}, which {reserved}"))
}

/// One of `fingerprint.headers`.
pub(in crate::policy::file) fn fingerprinted(value: &DeValue<'_>) -> Result<String, Wrong> {
    const EXAMPLE: &str = r#"["accept-language"]"#;
    let name = parse(text(value, EXAMPLE)?).map_err(|wrong| Wrong::new(wrong, EXAMPLE))?;
    let reason = match name.as_str() {
        "content-type" => "is always part of the fingerprint",
        "content-length" | "transfer-encoding" | "connection" | "host" => "belongs to the hop",
        "date" | "prefer" | "traceparent" | "tracestate" => "changes between retries",
        _ => return Ok(name),
    };
    Err(Wrong::new(format!("names {name}, which {reason}"), EXAMPLE))
}
