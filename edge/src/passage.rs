//! The way through for requests that no route protects: nothing is read, nothing is kept.

use crate::{answer::Answer, error::Error, incoming::Incoming, settings::Settings, upstream};
use protocol::wire;
use worker::web_sys;

/// Streams a request to the origin and its answer back, without a copy of either into Wasm.
pub(crate) async fn pass(request: &Incoming, settings: &Settings) -> Result<Answer, Error> {
    let response = upstream::stream(settings, request).await?;
    Ok(Answer::passed(without_mark(response)?))
}

/// An answer that bears our mark is copied around its body to take it off; any other is handed on
/// as it is.
fn without_mark(response: web_sys::Response) -> Result<web_sys::Response, Error> {
    if !response.headers().has(wire::ARCHIVE)? {
        return Ok(response);
    }
    let headers = web_sys::Headers::new_with_headers(&response.headers())?;
    headers.delete(wire::ARCHIVE)?;
    let init = web_sys::ResponseInit::new();
    init.set_status(response.status());
    init.set_headers_headers(&headers);
    let body = response.body();
    Ok(web_sys::Response::new_with_opt_readable_stream_and_init(
        body.as_ref(),
        &init,
    )?)
}
