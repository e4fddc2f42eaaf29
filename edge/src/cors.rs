//! Browser clients: who may call, and what they may read.

use crate::incoming::Incoming;
use protocol::policy::Policy;
use worker::web_sys;

/// Answers depend on who asks.
pub(crate) const VARY: &str = "Origin";
/// What scripts may read beside the body (DESIGN section 4).
const EXPOSED: &str = "Idempotent-Replayed, Idempotency-Expires, Idempotency-Status, Location, \
    Link, Preference-Applied, Retry-After, ETag";

/// What to answer in `Access-Control-Allow-Origin`, where policy allows the request's origin.
pub(crate) fn allowed(policy: &Policy, request: &Incoming) -> Option<String> {
    let origin = request.fields.get("origin")?;
    let listed = |listed: &&String| *listed == "*" || *listed == origin;
    policy.cors_allow_origins.iter().find(listed).cloned()
}

/// The headers that a preflight of a protected route asks for; `None` for any other request.
pub(crate) fn preflight<'a>(policy: &Policy, request: &'a Incoming) -> Option<&'a str> {
    let method = request.fields.get("access-control-request-method")?;
    let is_preflight =
        request.method == "OPTIONS" && policy.route(method, request.path()).is_some();
    is_preflight.then(|| {
        request
            .fields
            .get("access-control-request-headers")
            .unwrap_or("content-type, idempotency-key")
    })
}

/// Lets a browser's script read the answer.
pub(crate) fn expose(
    response: &web_sys::Response,
    allowed: &str,
) -> Result<(), crate::error::Error> {
    let headers = response.headers();
    headers.set("access-control-allow-origin", allowed)?;
    headers.set("access-control-expose-headers", EXPOSED)?;
    headers.append("vary", VARY)?;
    Ok(())
}
