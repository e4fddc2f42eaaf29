//! What travels between the parts: the signed hop, the shard's messages, internal headers.

pub mod hex;
pub mod in_flight;
pub mod signature;

/// `Idempotency-Key`, in the lower case that both sides use.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// `true` on a replay, `false` on a first answer.
pub const REPLAYED: &str = "idempotent-replayed";
/// The stored instant (RFC 3339) from which the key is expired.
pub const EXPIRES: &str = "idempotency-expires";
/// `unprotected` where an optional key was not sent.
pub const STATUS: &str = "idempotency-status";
/// Of an upstream's answer: `yes`, `no` or `release`, and `max-age=N` for its retention.
pub const IDEMPOTENCY_ARCHIVE: &str = "idempotency-archive";
/// To an upstream: which attempt this is, 1 for the first.
pub const ATTEMPT: &str = "idempotency-attempt";
/// `wait=N`: how long the answering side was ready to wait (RFC 7240 section 3).
pub const PREFERENCE_APPLIED: &str = "preference-applied";
/// Edge to origin: the edge's fingerprint, a hint that the origin compares and counts.
pub const FINGERPRINT: &str = "unavez-fingerprint";
/// Origin to edge: `max-age=N`, the response is archived and may be replayed for N seconds.
pub const ARCHIVE: &str = "unavez-archive";

/// Headers that only Unavez's own parts may set: the edge strips a client's.
pub fn is_internal(name: &str) -> bool {
    name.get(..7)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("unavez-"))
        || [
            signature::SIGNATURE,
            signature::SIGNATURE_INPUT,
            signature::CONTENT_DIGEST,
        ]
        .iter()
        .any(|internal| name.eq_ignore_ascii_case(internal))
}

/// Seconds that `Unavez-Archive: max-age=N` grants.
pub fn archive_seconds(field: &str) -> Option<u32> {
    field.trim().strip_prefix("max-age=")?.parse().ok()
}

/// Seconds that a client is ready to wait: `Prefer: wait=N` (RFC 7240 section 4.3).
pub fn prefer_wait_seconds(field: &str) -> Option<u32> {
    field.split(',').find_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        is_wait.then(|| value.trim().trim_matches('"').parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefer_is_read_as_a_list() {
        assert_eq!(prefer_wait_seconds("wait=10"), Some(10));
        assert_eq!(
            prefer_wait_seconds("respond-async, Wait = \"7\";x=y"),
            Some(7)
        );
        assert_eq!(prefer_wait_seconds("wait=-1"), None);
        assert_eq!(prefer_wait_seconds("wait"), None);
        assert_eq!(prefer_wait_seconds("return=minimal"), None);
    }

    #[test]
    fn internal_headers_are_known_in_any_case() {
        for name in [
            "Unavez-Archive",
            "unavez-x",
            "Signature",
            "SIGNATURE-INPUT",
            "Content-Digest",
        ] {
            assert!(is_internal(name), "{name}");
        }
        assert!(!is_internal("idempotency-key"));
        assert!(!is_internal("unavé"));
    }
}
