//! An archived response as HTTP sends it, made once and shared by all its replays.

use axum::body::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header::CACHE_CONTROL};
use protocol::{response::Response, wire};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Status, headers and body, byte for byte.
#[derive(Debug)]
pub struct Archived {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Archived {
    /// The response with the instant at which it expires.
    pub(super) fn new(response: Response, expires: OffsetDateTime) -> Self {
        let Response {
            status,
            headers,
            body,
        } = response;
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = header_map(headers);
        let expires = expires.format(&Rfc3339).unwrap_or_default();
        if let Ok(expires) = HeaderValue::from_str(&expires) {
            headers.insert(wire::EXPIRES, expires);
        }
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// How much memory it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        (headers + self.body.len()) as u64
    }

    /// A response to send. A replay is not to be stored by anyone else.
    pub(super) fn respond(&self, replayed: bool, archive_seconds: u64) -> axum::response::Response {
        let mut response = axum::response::Response::new(self.body.clone().into());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.clone_from(&self.headers);
        let marker = if replayed { "true" } else { "false" };
        headers.insert(wire::REPLAYED, HeaderValue::from_static(marker));
        if replayed {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        if archive_seconds > 0
            && let Ok(archive) = HeaderValue::from_str(&format!("max-age={archive_seconds}"))
        {
            headers.insert(wire::ARCHIVE, archive);
        }
        response
    }
}

/// Header lines of the protocol as HTTP's, raw bytes included.
pub(crate) fn header_map(headers: Vec<protocol::response::Header>) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(headers.len() + 4);
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value)) {
            map.append(name, value);
        }
    }
    map
}
