//! The archived response: what is kept of an answer, and how it is written down.

use std::fmt;

/// A header as it was on the wire: lower-case name, raw bytes.
pub type Header = (String, Vec<u8>);

/// A response that can be answered again byte for byte.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header lines in their order, repeated ones included.
    pub headers: Vec<Header>,
    /// Identity bytes.
    pub body: Vec<u8>,
}

/// Headers that belong to one exchange, not to the answer (DESIGN section 4; CASES C26).
const NEVER_ARCHIVED: [&str; 25] = [
    "set-cookie",
    "date",
    "age",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "retry-after",
    crate::wire::PREFERENCE_APPLIED,
    "ratelimit",
    "ratelimit-limit",
    "ratelimit-policy",
    "ratelimit-remaining",
    "ratelimit-reset",
    "traceparent",
    "tracestate",
    "server-timing",
    "request-id",
    "x-request-id",
];

/// Whether a header (lower case) is kept in the archive.
pub fn is_archived(name: &str) -> bool {
    !NEVER_ARCHIVED.contains(&name)
        && !name.starts_with("x-ratelimit-")
        && !name.starts_with("x-rate-limit-")
        && !name.starts_with("unavez-")
        && !matches!(
            name,
            crate::wire::REPLAYED
                | crate::wire::EXPIRES
                | crate::wire::STATUS
                | crate::wire::IDEMPOTENCY_ARCHIVE
        )
}

/// Headers of one hop (RFC 9110 section 7.6.1): never passed on in either direction.
pub fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

impl Response {
    /// The headers as bytes: each name and value behind its length. Lossless for any value.
    pub fn encode_headers(headers: &[Header]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in headers {
            for part in [name.as_bytes(), value] {
                let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
                bytes.extend_from_slice(&length.to_be_bytes());
                bytes.extend_from_slice(part);
            }
        }
        bytes
    }

    /// Reads [`Self::encode_headers`] back; `None` when the bytes are not of that form.
    pub fn decode_headers(mut bytes: &[u8]) -> Option<Vec<Header>> {
        let mut headers = Vec::new();
        while !bytes.is_empty() {
            let name = take_part(&mut bytes)?;
            let value = take_part(&mut bytes)?;
            headers.push((String::from_utf8(name.to_vec()).ok()?, value.to_vec()));
        }
        Some(headers)
    }

    /// The whole response as bytes, for the way to the shard and back.
    pub fn encode(&self) -> Vec<u8> {
        let headers = Self::encode_headers(&self.headers);
        let length = u32::try_from(headers.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(6 + headers.len() + self.body.len());
        bytes.extend_from_slice(&self.status.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&headers);
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Reads [`Self::encode`] back.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (status, mut rest) = bytes.split_first_chunk::<2>()?;
        let headers = Self::decode_headers(take_part(&mut rest)?)?;
        Some(Self {
            status: u16::from_be_bytes(*status),
            headers,
            body: rest.to_vec(),
        })
    }

    /// First value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_slice())
    }
}

fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Response({}, {} body bytes)",
            self.status,
            self.body.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_with_order_repeats_and_raw_bytes() {
        let headers: Vec<Header> = vec![
            ("link".into(), b"</a>; rel=x".to_vec()),
            (
                "content-disposition".into(),
                b"attachment; filename=\"a,b.txt\"".to_vec(),
            ),
            ("link".into(), b"</b>; rel=y".to_vec()),
            ("x-latin-1".into(), vec![0xe4]),
            ("x-empty".into(), vec![]),
        ];
        let bytes = Response::encode_headers(&headers);
        assert_eq!(Response::decode_headers(&bytes), Some(headers.clone()));
        let response = Response {
            status: 201,
            headers,
            body: (0..=255).collect(),
        };
        assert_eq!(Response::decode(&response.encode()), Some(response));
        assert_eq!(
            Response::decode_headers(bytes.get(..bytes.len() - 1).unwrap()),
            None
        );
    }

    #[test]
    fn exchange_headers_are_not_archived() {
        for name in [
            "set-cookie",
            "date",
            "x-ratelimit-remaining",
            "unavez-archive",
            "traceparent",
        ] {
            assert!(!is_archived(name), "{name}");
        }
        for name in [
            "location",
            "etag",
            "content-type",
            "content-disposition",
            "link",
            "x-mine",
        ] {
            assert!(is_archived(name), "{name}");
        }
    }
}
