//! The origin's answer to a protected request.

use crate::{answer::is_bodiless, error::Error, error::text, fields::Fields};
use protocol::{
    flight::Millis,
    policy::Route,
    response::{Response, is_archived, is_hop_by_hop},
    wire,
};
use std::rc::Rc;
use worker::{
    js_sys::{Object, Uint8Array, futures::JsFuture},
    wasm_bindgen::JsCast,
    web_sys,
};

/// The largest answer that is read whole, in bytes, so that it can be landed; a larger one streams.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// An answer whose headers, and unless it is large its body, are here.
pub(crate) struct Arrived {
    response: web_sys::Response,
    fields: Fields,
    body: Body,
}

enum Body {
    Whole(Object),
    Streamed(Option<web_sys::ReadableStream>),
}

/// An archived answer as others are given it.
pub(crate) struct Landing {
    /// Plain bytes, shared by all who are given it.
    pub(crate) response: Rc<Response>,
    /// For how long.
    pub(crate) keep_for: Millis,
}

impl Arrived {
    /// Reads the answer. One that breaks off is no answer.
    pub(crate) async fn read(response: web_sys::Response) -> Result<Self, Error> {
        let status = response.status();
        if !(200..600).contains(&status) {
            return Err(Error::OutcomeUnknown(format!("status {status}")));
        }
        let fields = Fields::of(&response.headers());
        let body = if is_bodiless(status) {
            Body::Whole(Uint8Array::new_with_length(0).into())
        } else if is_whole(&fields) {
            let read = JsFuture::from(response.array_buffer()?).await;
            let buffer = read.map_err(|thrown| Error::OutcomeUnknown(text(thrown)))?;
            Body::Whole(buffer.unchecked_into())
        } else {
            Body::Streamed(response.body())
        };
        Ok(Self {
            response,
            fields,
            body,
        })
    }

    /// The answer for its own client, `Set-Cookie` lines included.
    pub(crate) fn to_client(&self) -> Result<web_sys::Response, Error> {
        // Status and headers are copied from the one to the other by the runtime.
        let init: &web_sys::ResponseInit = self.response.unchecked_ref();
        let response = match &self.body {
            Body::Whole(_) if is_bodiless(self.response.status()) => {
                web_sys::Response::new_with_opt_buffer_source_and_init(None, init)
            }
            Body::Whole(buffer) => {
                web_sys::Response::new_with_opt_buffer_source_and_init(Some(buffer), init)
            }
            Body::Streamed(stream) => {
                web_sys::Response::new_with_opt_readable_stream_and_init(stream.as_ref(), init)
            }
        }?;
        let headers = response.headers();
        for (name, _) in self.fields.iter().filter(|(name, _)| is_kept_back(name)) {
            headers.delete(name)?;
        }
        Ok(response)
    }

    /// The answer for all others, when the origin has archived it and it is here whole.
    pub(crate) fn landing(&self, route: &Route) -> Option<Landing> {
        let Body::Whole(buffer) = &self.body else {
            return None;
        };
        let seconds = wire::archive_seconds(self.fields.get(wire::ARCHIVE)?)?;
        let longest = Millis::try_from(route.edge_replay.as_millis()).unwrap_or(Millis::MAX);
        let keep_for = longest.min(1_000 * Millis::from(seconds));
        let response = Response {
            status: self.response.status(),
            headers: self.replayed_headers(),
            body: Uint8Array::new(buffer).to_vec(),
        };
        (keep_for > 0).then(|| Landing {
            response: Rc::new(response),
            keep_for,
        })
    }

    fn replayed_headers(&self) -> Vec<(String, Vec<u8>)> {
        let kept = self
            .fields
            .iter()
            .filter(|(name, _)| is_archived(name) && *name != "cache-control");
        let expires = self
            .fields
            .get(wire::EXPIRES)
            .map(|expires| (wire::EXPIRES, expires));
        let marks = [(wire::REPLAYED, "true"), ("cache-control", "no-store")];
        kept.chain(expires)
            .chain(marks)
            .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()))
            .collect()
    }
}

/// Whether the body is of a known, bounded length, in bytes that the runtime does not decode and
/// encode again (CASES C29).
fn is_whole(fields: &Fields) -> bool {
    let length = fields
        .get("content-length")
        .and_then(|field| field.parse::<u64>().ok());
    let coding = fields.get("content-encoding").unwrap_or("identity");
    length.is_some_and(|length| length <= WHOLE_BYTES_MAX)
        && coding.eq_ignore_ascii_case("identity")
}

/// Headers that are not the client's: of this hop, and between edge and origin.
pub(crate) fn is_kept_back(name: &str) -> bool {
    is_hop_by_hop(name) || name == wire::ARCHIVE
}
