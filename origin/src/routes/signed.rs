//! Only edges call: each request's signature is checked before anything else (DESIGN section 7).

use crate::{App, Error};
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::HeaderMap;
use protocol::{
    problem::{Kind, Problem},
    wire::{
        self,
        signature::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT, SignatureError, Signed},
    },
};

pub(super) async fn check(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    if let Some(keys) = &app.edge_keys {
        let protected = app
            .route(request.method().as_str(), request.uri().path())
            .is_some_and(|route| !super::protected::is_keyless(route, request.headers()));
        verify(keys, &request, protected).map_err(|error| {
            tracing::warn!(%error, "a request without a valid edge signature");
            app.metrics.signature_refused(error.reason());
            Problem::new(Kind::EdgeSignatureInvalid, format!("Refused: {error}."))
        })?;
    }
    Ok(next.run(request).await)
}

fn verify(
    keys: &wire::signature::EdgeKeys,
    request: &Request,
    protected: bool,
) -> Result<(), SignatureError> {
    let headers = request.headers();
    // A protected body is read whole, so its digest must be signed; another body streams.
    let content_digest = one(headers, CONTENT_DIGEST);
    if protected && content_digest.is_none() {
        return Err(SignatureError::Coverage);
    }
    let signed = Signed {
        method: request.method().as_str(),
        target: request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str()),
        content_digest: content_digest.filter(|_| protected),
        idempotency_key: one(headers, wire::IDEMPOTENCY_KEY),
    };
    keys.verify(
        &signed,
        one(headers, SIGNATURE_INPUT),
        one(headers, SIGNATURE),
        i64::try_from(crate::unix_seconds()).unwrap_or(i64::MAX),
    )
}

/// The one value of a header; a repeated one is no value.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
