//! An upstream's answer: read into bounded bytes, and what of it only the first client gets.

use super::head::remove_hop_by_hop;
use crate::{idempotency::Aside, store::Terms};
use axum::body::Body;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use futures_util::stream;
use http::{
    HeaderMap, HeaderValue, Response,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, VARY},
};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use protocol::{
    response::{self, is_archived},
    wire,
};
use std::io::Read as _;
use tokio::time::{Instant, timeout_at};

/// An answer whose head, and unless it is large its body, are here.
pub(super) struct Read {
    pub(super) response: response::Response,
    pub(super) terms: Terms,
    pub(super) aside: Aside,
}

/// The answer broke off, or did not end in time.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
pub(super) struct Broken;

/// Reads an answer, up to a little more than is kept of it; the rest streams to its client.
pub(super) async fn read(
    answer: Response<Incoming>,
    terms: Terms,
    deadline: Instant,
) -> Result<Read, Broken> {
    let (parts, mut body) = answer.into_parts();
    let mut headers = to_client(parts.headers);
    let max = terms.body_max.unwrap_or_default();
    let mut bytes = Vec::new();
    while bytes.len() <= max {
        match frame(&mut body, deadline).await? {
            Some(data) => bytes.extend_from_slice(&data),
            None => return whole(parts.status, headers, bytes, terms),
        }
    }
    let rest = Some(streamed(body, deadline));
    let terms = Terms {
        body_max: None,
        ..terms
    };
    let archived = split(&mut headers);
    Ok(Read {
        response: response::Response {
            status: parts.status.as_u16(),
            headers: archived,
            body: bytes,
        },
        terms,
        aside: Aside { headers, rest },
    })
}

/// An answer that is here to its end, in identity bytes where we can decode it.
fn whole(
    status: http::StatusCode,
    mut headers: HeaderMap,
    bytes: Vec<u8>,
    terms: Terms,
) -> Result<Read, Broken> {
    let mut terms = terms;
    let max = terms.body_max.unwrap_or_default();
    let body = match decoded(&headers, &bytes, max)? {
        Decoded::Identity(body) => {
            headers.remove(CONTENT_ENCODING);
            headers.remove("content-digest");
            body
        }
        Decoded::Plain => bytes,
        Decoded::Foreign => {
            headers.append(VARY, HeaderValue::from_static("accept-encoding"));
            bytes
        }
        Decoded::TooLarge => {
            terms.body_max = None;
            bytes
        }
    };
    let archived = split(&mut headers);
    Ok(Read {
        response: response::Response {
            status: status.as_u16(),
            headers: archived,
            body,
        },
        terms,
        aside: Aside {
            headers,
            rest: None,
        },
    })
}

/// An answer for one client only, that nobody keeps.
pub(super) fn pass(answer: Response<Incoming>, deadline: Instant) -> axum::response::Response {
    let (parts, body) = answer.into_parts();
    let length = parts.headers.get(CONTENT_LENGTH).cloned();
    let mut passed = axum::response::Response::new(streamed(body, deadline));
    *passed.status_mut() = parts.status;
    let headers = passed.headers_mut();
    *headers = to_client(parts.headers);
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, length);
    }
    passed
}

/// Without what belongs to the hop, and what only Unavez may say to a client.
fn to_client(mut headers: HeaderMap) -> HeaderMap {
    remove_hop_by_hop(&mut headers);
    let ours: Vec<_> = headers
        .keys()
        .filter(|name| is_ours(name.as_str()))
        .cloned()
        .collect();
    for name in ours {
        headers.remove(name);
    }
    headers.remove(CONTENT_LENGTH);
    headers
}

fn is_ours(name: &str) -> bool {
    name.starts_with("unavez-")
        || matches!(
            name,
            wire::REPLAYED
                | wire::EXPIRES
                | wire::STATUS
                | wire::PREFERENCE_APPLIED
                | wire::IDEMPOTENCY_ARCHIVE
        )
}

/// Takes the lines that are archived out of `headers`, in their order.
fn split(headers: &mut HeaderMap) -> Vec<response::Header> {
    let mut once = HeaderMap::new();
    let mut archived = Vec::new();
    for (name, value) in headers.iter() {
        if is_archived(name.as_str()) {
            archived.push((name.as_str().to_owned(), value.as_bytes().to_vec()));
        } else {
            once.append(name, value.clone());
        }
    }
    *headers = once;
    archived
}

/// The next bytes; trailers belong to the hop.
async fn frame(body: &mut Incoming, deadline: Instant) -> Result<Option<Bytes>, Broken> {
    loop {
        let frame = timeout_at(deadline, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Broken)? else {
            return Ok(None);
        };
        if let Ok(data) = frame.map_err(|_| Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
}

/// The rest of a body, until its end or the deadline; a break is passed on as one.
fn streamed(body: Incoming, deadline: Instant) -> Body {
    Body::from_stream(stream::try_unfold(body, move |mut body| async move {
        let next = frame(&mut body, deadline).await?;
        Ok::<_, Broken>(next.map(|data| (data, body)))
    }))
}

enum Decoded {
    Identity(Vec<u8>),
    /// It was not coded.
    Plain,
    /// Coded in a way that we do not know: kept as it came.
    Foreign,
    /// More than `max` bytes when it is decoded.
    TooLarge,
}

/// We ask for identity; some send gzip all the same (CASES C29).
fn decoded(headers: &HeaderMap, bytes: &[u8], max: usize) -> Result<Decoded, Broken> {
    let coding = headers.get(CONTENT_ENCODING);
    let coding = coding.and_then(|coding| coding.to_str().ok());
    match coding.unwrap_or("identity").to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => inflate(MultiGzDecoder::new(bytes), max),
        "deflate" => inflate(ZlibDecoder::new(bytes), max),
        "identity" => Ok(Decoded::Plain),
        _ => Ok(Decoded::Foreign),
    }
}

fn inflate(coded: impl std::io::Read, max: usize) -> Result<Decoded, Broken> {
    let mut body = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    coded
        .take(limit)
        .read_to_end(&mut body)
        .map_err(|_| Broken)?;
    if body.len() > max {
        return Ok(Decoded::TooLarge);
    }
    Ok(Decoded::Identity(body))
}
