//! A request as the Worker received it.

use worker::{web_sys, worker_sys::ext::RequestExt};

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
            url: inner.url(),
            headers: inner.headers(),
            inner,
        }
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).ok().flatten()
    }

    /// Path and query as sent.
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
    fn the_target_is_path_and_query_as_sent() {
        assert_eq!(target("https://edge.test/orders?a=//b"), "/orders?a=//b");
        assert_eq!(target("http://127.0.0.1:8787/a%2Fb?"), "/a%2Fb?");
        assert_eq!(target("http://edge.test"), "/");
        assert_eq!(target("http://edge.test/x#y"), "/x");
    }
}
