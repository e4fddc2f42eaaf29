//! Whether the origin takes connections at all, asked before a request is sent.
//!
//! The runtime words a refused connection and one that was cut after the request was sent alike,
//! but only the first is 503 "nothing was executed". So a quiet isolate first opens a connection
//! of its own, and sends nothing when that fails. Cloudflare's network tells the two apart by
//! status; it never calls an address, so that addresses are what is probed here.

use crate::{clock, error::Error};
use protocol::flight::Millis;
use std::cell::Cell;
use worker::Socket;

/// An origin that answered this recently is not probed.
const FRESH_MS: Millis = 50;

thread_local! {
    static ANSWERED: Cell<Millis> = const { Cell::new(0) };
}

/// The origin has answered just now.
pub(crate) fn answered() {
    ANSWERED.set(clock::now());
}

/// Fails when nothing listens at the origin's address.
pub(crate) async fn check(origin: &str) -> Result<(), Error> {
    let Some((host, port)) = address(origin) else {
        return Ok(());
    };
    if clock::now().saturating_sub(ANSWERED.get()) < FRESH_MS {
        return Ok(());
    }
    let mut socket = Socket::builder().connect(host, port)?;
    let opened = socket.opened().await;
    // An opened one ends with its request at the latest.
    let _ = socket.close().await;
    opened
        .map(drop)
        .map_err(|error| Error::OriginUnavailable(error.to_string()))
}

/// Host and port of an origin that is named by its address.
fn address(origin: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = origin.split_once("://")?;
    let authority = rest.split('/').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_address = host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok();
    is_address.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_probed() {
        assert_eq!(address("http://127.0.0.1:8080"), Some(("127.0.0.1", 8080)));
        assert_eq!(address("http://localhost/base"), Some(("localhost", 80)));
        assert_eq!(address("https://[::1]:8443"), Some(("[::1]", 8443)));
        assert_eq!(address("https://[::1]"), Some(("[::1]", 443)));
        assert_eq!(address("https://origin.example"), None);
        assert_eq!(address("http://origin.example:8080"), None);
    }
}
