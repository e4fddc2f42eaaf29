//! The head of a request as it goes upstream.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{FORWARDED, HOST},
    request::Parts,
};
use protocol::{
    key::Key,
    policy::{Route, UpstreamKey},
    response::{Header, Response, is_hop_by_hop},
    wire,
};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

/// The name under which a sealed head stands among a record's header lines.
const SEALED: &str = "unavez-sealed";
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Header lines, the client's credentials and key among them: so `Debug` shows none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Head(Vec<Header>);

impl Head {
    /// What of a request's head is passed on. `key` is the client's, where it sent one.
    pub fn of(route: &Route, parts: &Parts, key: Option<&Key>) -> Self {
        let mut headers = parts.headers.clone();
        remove_hop_by_hop(&mut headers);
        forwarded(&mut headers, parts);
        let lines = headers
            .iter()
            .filter(|(name, _)| is_passed_on(name.as_str()));
        let mut lines: Vec<Header> = lines
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        if let (UpstreamKey::Client, Some(key)) = (route.upstream_key, key) {
            // Bare, however it was spelled: all attempts send one spelling.
            lines.push((wire::IDEMPOTENCY_KEY.to_owned(), key.bytes().to_vec()));
        }
        Self(lines)
    }

    /// Whether there is no line at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// First value of a header, by its lower-case name.
    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(line, _)| line == name);
        found.map(|(_, value)| value.as_slice())
    }

    /// All lines.
    pub(super) fn lines(&self) -> &[Header] {
        &self.0
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        Response::encode_headers(&self.0)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Response::decode_headers(bytes).map(Self)
    }
}

impl From<Vec<Header>> for Head {
    fn from(lines: Vec<Header>) -> Self {
        Self(lines)
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} lines hidden)", self.0.len())
    }
}

/// A sealed head as a line of a record.
pub fn sealed_line(sealed: Vec<u8>) -> Header {
    (SEALED.to_owned(), sealed)
}

/// The sealed head among a record's lines.
pub(super) fn sealed(lines: &[Header]) -> Option<&[u8]> {
    let found = lines.iter().find(|(name, _)| name == SEALED);
    found.map(|(_, sealed)| sealed.as_slice())
}

/// The key and the length are written anew, and the answer is wanted in identity bytes.
fn is_passed_on(name: &str) -> bool {
    !wire::is_internal(name)
        && !matches!(
            name,
            "host"
                | "content-length"
                | "expect"
                | "accept-encoding"
                | wire::IDEMPOTENCY_KEY
                | wire::ATTEMPT
        )
}

/// Removes what belongs to one hop, also what `Connection` says does (RFC 9110 section 7.6.1).
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named = headers.get_all("connection").iter();
    let named: Vec<HeaderName> = named
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    let hop: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_hop_by_hop(name.as_str()))
        .cloned()
        .collect();
    for name in hop {
        headers.remove(name);
    }
}

/// Says who has asked whom: one more hop behind those that are named already (RFC 7239).
fn forwarded(headers: &mut HeaderMap, parts: &Parts) {
    let peer = parts
        .extensions
        .get::<axum::extract::ConnectInfo<SocketAddr>>()
        .map(|peer| peer.0.ip());
    let host = headers.get(HOST).cloned();
    let host = host.or_else(|| parts.uri.authority()?.as_str().parse().ok());
    if let Some(host) = &host {
        headers.entry(X_FORWARDED_HOST).or_insert(host.clone());
    }
    headers
        .entry(X_FORWARDED_PROTO)
        .or_insert(HeaderValue::from_static("http"));
    let Some(peer) = peer else { return };
    append(headers, &X_FORWARDED_FOR, &peer.to_string());
    let node = match peer {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("\"[{address}]\""),
    };
    let mut element = format!("for={node};proto=http");
    if let Some(host) = host.as_ref().and_then(|host| host.to_str().ok())
        && !host.contains(['"', '\\'])
    {
        element = format!("{element};host=\"{host}\"");
    }
    append(headers, &FORWARDED, &element);
}

/// One more element of a list, on the one line that all its elements have.
fn append(headers: &mut HeaderMap, name: &HeaderName, element: &str) {
    let lines = headers.get_all(name).iter();
    let lines = lines.filter_map(|value| value.to_str().ok());
    let list: Vec<&str> = lines.chain([element]).collect();
    if let Ok(list) = HeaderValue::from_str(&list.join(", ")) {
        headers.insert(name, list);
    }
}
