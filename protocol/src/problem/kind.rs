//! The catalogue of problems: one row each.

/// A kind of problem; its path is `/problems/<slug>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The route requires a key and none was sent.
    KeyMissing,
    /// The key is repeated, empty, too long or holds other bytes than visible ASCII.
    KeyMalformed,
    /// The body is over the route's `body_max`.
    BodyTooLarge,
    /// The body ended before its announced length.
    BodyIncomplete,
    /// Credentials are missing, bad or expired.
    CredentialsInvalid,
    /// Credentials on a route that takes none.
    CredentialsUnexpected,
    /// JSON that can't be canonicalised.
    BodyNotCanonical,
    /// The key was used for another command.
    KeyReused,
    /// The first request is still running.
    RequestInProgress,
    /// Sent, but unanswered.
    OutcomeUnknown,
    /// The answer is no longer kept; the operation was done.
    KeyExpired,
    /// The operation was done; its answer was too large to keep.
    ResponseNotKept,
    /// Postgres can't be reached; nothing was executed.
    StoreUnavailable,
    /// The origin can't be reached; nothing was executed.
    OriginUnavailable,
    /// The request does not come from a configured edge.
    EdgeSignatureInvalid,
    /// The provider declined the charge.
    CardDeclined,
    /// A piece is sold out; the charge is refunded.
    OutOfStock,
    /// The order is not of the documented form.
    OrderInvalid,
    /// No record under this key.
    RecordUnknown,
    /// Nothing at this path.
    NotFound,
    /// The record was written by a newer version.
    VersionUnknown,
    /// A defect of ours.
    Internal,
}

/// Slug, status, title, `retryable`, `retry_with_same_key`, explanation for the problem's page.
type Row = (&'static str, u16, &'static str, bool, bool, &'static str);

impl Kind {
    /// Every kind, for the problem pages.
    pub const ALL: [Self; 22] = [
        Self::KeyMissing,
        Self::KeyMalformed,
        Self::BodyTooLarge,
        Self::BodyIncomplete,
        Self::CredentialsInvalid,
        Self::CredentialsUnexpected,
        Self::BodyNotCanonical,
        Self::KeyReused,
        Self::RequestInProgress,
        Self::OutcomeUnknown,
        Self::KeyExpired,
        Self::ResponseNotKept,
        Self::StoreUnavailable,
        Self::OriginUnavailable,
        Self::EdgeSignatureInvalid,
        Self::CardDeclined,
        Self::OutOfStock,
        Self::OrderInvalid,
        Self::RecordUnknown,
        Self::NotFound,
        Self::VersionUnknown,
        Self::Internal,
    ];

    #[rustfmt::skip]
    fn row(self) -> Row {
        match self {
            Self::KeyMissing => ("key-missing", 400, "Idempotency key missing", false, false,
                "This route needs an Idempotency-Key header. Make a new random key (a UUID) for each operation and send the same key with each retry of it. Nothing was executed."),
            Self::KeyMalformed => ("key-malformed", 400, "Idempotency key malformed", false, false,
                "Send exactly one Idempotency-Key line of 1 to 255 visible ASCII characters, bare or as a quoted RFC 8941 string. Nothing was executed."),
            Self::BodyTooLarge => ("body-too-large", 413, "Body too large", false, false,
                "The body is larger than this route accepts. Nothing was executed."),
            Self::BodyIncomplete => ("body-incomplete", 400, "Body incomplete", true, true,
                "The body ended before its announced length. Nothing was executed; send it again."),
            Self::CredentialsInvalid => ("credentials-invalid", 401, "Credentials invalid", false, true,
                "The credentials are missing, malformed, expired or not valid here. Nothing was executed; get new ones and retry with the same key."),
            Self::CredentialsUnexpected => ("credentials-unexpected", 403, "Credentials unexpected", false, false,
                "This route tells callers apart by nothing, so it refuses credentials: otherwise one caller could be given another's answer. Nothing was executed."),
            Self::BodyNotCanonical => ("body-not-canonical", 400, "Body has no canonical form", false, false,
                "The body is not JSON, or is JSON that two readers can read in two ways (duplicate member names, lone surrogates, a byte order mark, nesting over 128). The detail names the byte offset. Nothing was executed."),
            Self::KeyReused => ("key-reused", 422, "Idempotency key reused", false, false,
                "This key was already used for another command. Use a new key for a new operation. Nothing was executed by this request."),
            Self::RequestInProgress => ("request-in-progress", 409, "Request in progress", true, true,
                "The first request with this key is still running. Retry with the same key after the time in Retry-After; Prefer: wait=N waits for the answer."),
            Self::OutcomeUnknown => ("outcome-unknown", 502, "Outcome unknown", true, true,
                "The operation was started and its outcome is not known yet. It is brought to its end without you. Retry with the same key to learn the outcome; never with a new one."),
            Self::KeyExpired => ("key-expired", 410, "Idempotency key expired", false, false,
                "The operation under this key was done, and its answer is no longer kept. Look at the resource in Location. Nothing was executed by this request."),
            Self::ResponseNotKept => ("response-not-kept", 410, "Response not kept", false, false,
                "The operation under this key was done, and its answer was too large to keep. Nothing was executed by this request."),
            Self::StoreUnavailable => ("store-unavailable", 503, "Store unavailable", true, true,
                "The store of records can't be reached. Nothing was executed; retry with the same key."),
            Self::OriginUnavailable => ("origin-unavailable", 503, "Origin unavailable", true, true,
                "The origin can't be reached. Nothing was executed; retry with the same key."),
            Self::EdgeSignatureInvalid => ("edge-signature-invalid", 401, "Edge signature invalid", false, true,
                "The origin takes requests from its edges only, signed as RFC 9421 says, not older than 60 seconds. Nothing was executed."),
            Self::CardDeclined => ("card-declined", 402, "Card declined", false, false,
                "The provider declined the charge. This answer is final for its key."),
            Self::OutOfStock => ("out-of-stock", 409, "Out of stock", false, false,
                "A piece of this order is sold out. The charge is refunded. This answer is final for its key."),
            Self::OrderInvalid => ("order-invalid", 400, "Order invalid", false, true,
                "The order is not of the documented form. Nothing was executed; a corrected body may use the same key."),
            Self::RecordUnknown => ("record-unknown", 404, "Record unknown", false, true,
                "No operation is recorded under this key for these credentials."),
            Self::NotFound => ("not-found", 404, "Not found", false, false,
                "There is nothing at this address."),
            Self::VersionUnknown => ("version-unknown", 503, "Record of a newer version", true, true,
                "The record under this key was written by a newer version of this service. Nothing was executed by this request; retry with the same key."),
            Self::Internal => ("internal", 500, "Internal error", true, true,
                "Something is wrong on our side. Retry with the same key; it never executes twice."),
        }
    }

    /// Last segment of the type's path.
    pub fn slug(self) -> &'static str {
        self.row().0
    }

    /// The `type`: a path that serves a page about this problem.
    pub fn path(self) -> String {
        format!("/problems/{}", self.slug())
    }

    /// HTTP status.
    pub fn status(self) -> u16 {
        self.row().1
    }

    /// `title`.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        self.row().3
    }

    /// Whether the next try keeps the key.
    pub fn keeps_key(self) -> bool {
        self.row().4
    }

    /// What happened and what to do, for the problem's page.
    pub fn explanation(self) -> &'static str {
        self.row().5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn slugs_are_distinct() {
        let slugs: HashSet<_> = Kind::ALL.iter().map(|kind| kind.slug()).collect();
        assert_eq!(slugs.len(), Kind::ALL.len());
    }

    #[test]
    fn retry_flags_follow_the_contract() {
        use Kind::*;
        for kind in [
            RequestInProgress,
            OutcomeUnknown,
            StoreUnavailable,
            OriginUnavailable,
        ] {
            assert!(kind.is_retryable() && kind.keeps_key(), "{kind:?}");
        }
        for kind in [
            KeyMissing,
            KeyMalformed,
            BodyNotCanonical,
            BodyTooLarge,
            KeyReused,
        ] {
            assert!(!kind.is_retryable() && !kind.keeps_key(), "{kind:?}");
        }
        assert!(!OrderInvalid.is_retryable() && OrderInvalid.keeps_key());
    }
}
