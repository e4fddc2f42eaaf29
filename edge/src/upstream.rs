//! The signed hop to the origin (DESIGN section 7).

use crate::{
    arrived::Arrived, body::Body, clock, error::Error, error::text, fields::Fields,
    incoming::Incoming, incoming::target, probe, settings::Settings, wait::Wait,
};
use protocol::{
    fingerprint::Fingerprint,
    problem::Kind,
    response::is_hop_by_hop,
    wire::{
        self,
        signature::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT, Signed, content_digest},
    },
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    js_sys::{Promise, futures::JsFuture},
    web_sys::{self, Headers, RequestInit, RequestRedirect},
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = fetch)]
    fn fetch(url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// Sends a protected request, whose bytes were read, with the edge's hint.
pub(crate) async fn forward(
    settings: &Settings,
    request: &Incoming,
    body: &Body,
    fingerprint: &Fingerprint,
    wait: &Wait,
) -> Result<Arrived, Error> {
    let digest = match &settings.keys {
        Some(_) => Some(content_digest(&body.sha256().await)),
        None => None,
    };
    let headers = headers(settings, request, digest.as_deref())?;
    headers.set(wire::FINGERPRINT, &fingerprint.to_field())?;
    // What is landed are identity bytes, whatever this client could decode.
    headers.set("accept-encoding", "identity")?;
    if let Some(prefer) = request.header("prefer") {
        headers.set("prefer", &wait.pass_on(&prefer, clock::now()))?;
    }
    let init = init(request, &headers);
    init.set_body(&body.buffer);
    Arrived::read(send(settings, request, &init).await?).await
}

/// Sends any other request. Its body streams by, and is not covered by the signature.
pub(crate) async fn stream(
    settings: &Settings,
    request: &Incoming,
) -> Result<web_sys::Response, Error> {
    let headers = headers(settings, request, None)?;
    let init = init(request, &headers);
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        init.set_body_opt_readable_stream(request.inner.body().as_ref());
    }
    send(settings, request, &init).await
}

fn init(request: &Incoming, headers: &Headers) -> RequestInit {
    let init = RequestInit::new();
    init.set_method(&request.method);
    init.set_headers_headers(headers);
    init.set_redirect(RequestRedirect::Manual);
    init
}

/// The client's headers without those that only Unavez may set, signed.
fn headers(
    settings: &Settings,
    request: &Incoming,
    digest: Option<&str>,
) -> Result<Headers, Error> {
    let headers = Headers::new_with_headers(&request.headers)?;
    let fields = Fields::of(&request.headers);
    for (name, _) in fields.iter().filter(|(name, _)| is_stripped(name)) {
        headers.delete(name)?;
    }
    let Some(keys) = &settings.keys else {
        return Ok(headers);
    };
    let url = url(settings, request);
    let signed = Signed {
        method: &request.method,
        target: target(&url),
        content_digest: digest,
        idempotency_key: fields.get(wire::IDEMPOTENCY_KEY),
    };
    if let Some((input, signature)) = keys.sign(&signed, created()) {
        headers.set(SIGNATURE_INPUT, &input)?;
        headers.set(SIGNATURE, &signature)?;
    }
    if let Some(digest) = digest {
        headers.set(CONTENT_DIGEST, digest)?;
    }
    Ok(headers)
}

fn url(settings: &Settings, request: &Incoming) -> String {
    format!("{}{}", settings.origin, request.target())
}

fn created() -> i64 {
    i64::try_from(clock::now() / 1_000).unwrap_or_default()
}

/// The runtime writes the length and the host of this hop itself.
fn is_stripped(name: &str) -> bool {
    wire::is_internal(name)
        || is_hop_by_hop(name)
        || matches!(name, "host" | "content-length" | "expect")
}

/// Fetches another address than the origin's. Redirects are not followed.
pub(crate) fn get(url: &str) -> Result<Promise, JsValue> {
    let init = RequestInit::new();
    init.set_redirect(RequestRedirect::Manual);
    fetch(url, &init)
}

async fn send(
    settings: &Settings,
    request: &Incoming,
    init: &RequestInit,
) -> Result<web_sys::Response, Error> {
    probe::check(&settings.origin).await?;
    let lost = |thrown| lost(&request.method, text(thrown));
    let answer = fetch(&url(settings, request), init).map_err(lost)?;
    let answer = JsFuture::from(answer).await.map_err(lost)?;
    probe::answered();
    let response: web_sys::Response = answer.unchecked_into();
    refused(&response)?;
    Ok(response)
}

/// What a lost connection means. The runtime words a refused and a cut connection alike, so only a
/// method that asks for nothing to be done surely had no effect.
fn lost(method: &str, cause: String) -> Error {
    match method {
        "GET" | "HEAD" | "OPTIONS" => Error::OriginUnavailable(cause),
        _ => Error::OutcomeUnknown(cause),
    }
}

/// Answers that are not the origin's own: it does not take our signature, or the network between
/// says that it can't be reached (Cloudflare's 52x).
fn refused(response: &web_sys::Response) -> Result<(), Error> {
    match response.status() {
        401 if is_signature_problem(response) => Err(Error::OriginUnavailable(
            "it does not accept this edge's signature".into(),
        )),
        status @ (521 | 523 | 525 | 526 | 530) => {
            Err(Error::OriginUnavailable(format!("status {status}")))
        }
        status @ (520 | 522 | 524) => Err(Error::OutcomeUnknown(format!("status {status}"))),
        _ => Ok(()),
    }
}

fn is_signature_problem(response: &web_sys::Response) -> bool {
    let link = response.headers().get("link").ok().flatten();
    link.is_some_and(|link| link.contains(&Kind::EdgeSignatureInvalid.path()))
}
