//! A request as the Worker received it.

use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{web_sys, worker_sys::ext::RequestExt};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = URL)]
    type Url;
    #[wasm_bindgen(constructor, catch, js_class = "URL")]
    fn new(url: &str) -> Result<Url, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn href(this: &Url) -> String;
}

/// The request and what is read from it more than once.
pub(crate) struct Incoming {
    /// As the runtime gave it; its body is read at most once.
    pub(crate) inner: web_sys::Request,
    /// As sent.
    pub(crate) method: String,
    /// Its headers. Repeated lines come joined by a comma.
    pub(crate) headers: web_sys::Headers,
    url: String,
}

impl Incoming {
    /// Takes over a request.
    pub(crate) fn new(inner: web_sys::Request) -> Self {
        Self {
            method: inner.method(),
            url: parsed(inner.url()),
            headers: inner.headers(),
            inner,
        }
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).ok().flatten()
    }

    /// Path and query, as they are sent on.
    pub(crate) fn target(&self) -> &str {
        target(&self.url)
    }

    /// The path, without the query.
    pub(crate) fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// The query, without `?`; empty when absent.
    pub(crate) fn query(&self) -> &str {
        self.target().split_once('?').map_or("", |(_, query)| query)
    }

    /// The continent that the request comes from, where the network knows it.
    pub(crate) fn continent(&self) -> String {
        let continent = self.inner.cf().and_then(|cf| cf.continent().ok().flatten());
        continent.unwrap_or_default()
    }
}

/// The address as `fetch` reads it: what is routed and signed is what arrives at the origin.
fn parsed(url: String) -> String {
    if is_plain(&url) {
        return url;
    }
    Url::new(&url).map_or(url, |parsed| parsed.href())
}

/// Whether a parser leaves it as it is (WHATWG URL): no dot segment, and nothing to be encoded.
fn is_plain(url: &str) -> bool {
    let is_kept =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/?%[]".contains(&byte);
    let is_dot = |pair: &[u8]| pair.eq_ignore_ascii_case(b"%2e");
    url.bytes().all(is_kept) && !url.contains("/.") && !url.as_bytes().windows(3).any(is_dot)
}

/// Everything behind scheme and authority of an absolute URL, up to a fragment.
pub(crate) fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let target = rest
        .find('/')
        .and_then(|start| rest.get(start..))
        .unwrap_or("/");
    target.split('#').next().unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_a_parser_would_change_is_parsed() {
        for plain in [
            "http://[::1]:8787/a-b/c.d?e=%C3%A4&f=:@",
            "https://edge.test",
        ] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in [
            "/a/../b",
            "/a/./b",
            "/%2E%2e/b",
            "/a\\b",
            "/a?b='c'",
            "/\u{e4}",
            "/a b",
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }

    #[test]
    fn the_target_is_path_and_query_as_sent() {
        assert_eq!(target("https://edge.test/orders?a=//b"), "/orders?a=//b");
        assert_eq!(target("http://127.0.0.1:8787/a%2Fb?"), "/a%2Fb?");
        assert_eq!(target("http://edge.test"), "/");
        assert_eq!(target("http://edge.test/x#y"), "/x");
    }
}
