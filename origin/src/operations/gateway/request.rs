//! Requests to an upstream. Its path goes as it came: no segment is resolved, no escape undone.

use super::head::Head;
use crate::{idempotency::Attempt, store::NewRecord};
use http::{Request, header::ACCEPT_ENCODING, request::Parts};
use http_body_util::Full;
use hyper::body::Bytes;
use protocol::{
    policy::{PrincipalRule, Route},
    response::Header,
    wire,
};

type Built = Result<Request<Full<Bytes>>, http::Error>;

/// The step by which the upstream's own key is derived.
const STEP: &str = "upstream";

/// The request itself, with its key and the number of the attempt.
pub(super) fn operation(
    upstream: &str,
    record: &NewRecord,
    attempt: &Attempt,
    head: &Head,
) -> Built {
    let url = url(upstream, &record.path, &record.query);
    let mut lines = head.lines().to_vec();
    if head.get(wire::IDEMPOTENCY_KEY).is_none() {
        let key = attempt.child_key(STEP).into_bytes();
        lines.push((wire::IDEMPOTENCY_KEY.to_owned(), key));
    }
    let number = attempt.attempts.to_string().into_bytes();
    lines.push((wire::ATTEMPT.to_owned(), number));
    build(&record.method, &url, &lines, record.body.clone().into())
}

/// The question what became of it, with the client's credentials.
pub(super) fn question(template: &str, route: &Route, attempt: &Attempt, head: &Head) -> Built {
    let key = head.get(wire::IDEMPOTENCY_KEY).map(<[u8]>::to_vec);
    let key = key.unwrap_or_else(|| attempt.child_key(STEP).into_bytes());
    let url = template.replace("{key}", &escaped(&key));
    let of_principal = |name: &str| match &route.principal {
        PrincipalRule::Header(header) => header == name,
        PrincipalRule::Anonymous | PrincipalRule::BearerJwt { .. } => false,
    };
    let lines = head.lines().iter().filter(|(name, _)| {
        matches!(name.as_str(), "authorization" | "cookie" | "accept") || of_principal(name)
    });
    let lines: Vec<_> = lines
        .cloned()
        .chain([(wire::IDEMPOTENCY_KEY.to_owned(), key)])
        .collect();
    build("GET", &url, &lines, Bytes::new())
}

/// A request that nothing protects.
pub(super) fn plain(upstream: &str, route: &Route, parts: &Parts, body: Bytes) -> Built {
    let query = parts.uri.query().unwrap_or_default();
    let url = url(upstream, parts.uri.path(), query);
    let head = Head::of(route, parts, None);
    build(parts.method.as_str(), &url, head.lines(), body)
}

fn url(upstream: &str, path: &str, query: &str) -> String {
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{upstream}{path}{mark}{query}")
}

fn build(method: &str, url: &str, lines: &[Header], body: Bytes) -> Built {
    let request = Request::builder().method(method).uri(url);
    let request = lines.iter().fold(request, |request, (name, value)| {
        request.header(name, value.as_slice())
    });
    request
        .header(ACCEPT_ENCODING, "identity")
        .body(Full::new(body))
}

/// A key as one segment of a path: all but unreserved characters are escaped (RFC 3986 2.3).
fn escaped(key: &[u8]) -> String {
    let is_unreserved =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let escape = |byte: &u8| match byte {
        byte if is_unreserved(byte) => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    key.iter().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_goes_as_it_came() {
        let built = |path, query| {
            let url = url("http://b:1/v1", path, query);
            build("POST", &url, &[], Bytes::new())
                .unwrap()
                .uri()
                .to_string()
        };
        for path in ["/a/%2e%2e/b", "/a/../b", "//x", "/%7Ea", "/a;b=c", "/"] {
            assert_eq!(built(path, ""), format!("http://b:1/v1{path}"));
        }
        assert_eq!(built("/a", "x=%20&y=?"), "http://b:1/v1/a?x=%20&y=?");
    }

    #[test]
    fn a_key_is_one_segment() {
        assert_eq!(escaped(b"a-1_.~"), "a-1_.~");
        assert_eq!(escaped(b"../x?y#%"), "..%2Fx%3Fy%23%25");
    }
}
