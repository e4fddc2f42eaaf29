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
    let origin = request.header("origin")?;
    let listed = |listed: &&String| *listed == "*" || **listed == origin;
    policy.cors_allow_origins.iter().find(listed).cloned()
}

/// The headers that a preflight of a protected route asks for; `None` for any other request.
pub(crate) fn preflight(policy: &Policy, request: &Incoming) -> Option<String> {
    if request.method != "OPTIONS" {
        return None;
    }
    let method = request.header("access-control-request-method")?;
    policy.route(&method, request.path())?;
    let asked = request.header("access-control-request-headers");
    Some(asked.unwrap_or_else(|| "content-type, idempotency-key".to_owned()))
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
