//! What a client was answered, to the byte.

use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use std::fmt;

/// Headers that differ between a first answer and its replay, or belong to one hop.
const OF_ONE_ANSWER: [&str; 7] = [
    "unavez-archive",
    "idempotent-replayed",
    "preference-applied",
    "date",
    "connection",
    "keep-alive",
    "transfer-encoding",
];

/// An answer that was read to its end.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// All header lines; lines of one name are in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Sends a request and reads the whole answer.
    pub async fn to(request: RequestBuilder) -> reqwest::Result<Self> {
        Self::read(request.send().await?).await
    }

    async fn read(response: Response) -> reqwest::Result<Self> {
        let lines = response.headers().iter();
        Ok(Self {
            status: response.status().as_u16(),
            headers: lines
                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                .collect(),
            body: response.bytes().await?.to_vec(),
        })
    }

    /// All values of a header, by its lower-case name.
    pub fn values(&self, name: &str) -> Vec<&[u8]> {
        let lines = self.headers.iter().filter(|(line, _)| line == name);
        lines.map(|(_, value)| value.as_slice()).collect()
    }

    /// The one value of a header as text; `None` when it is absent or repeated.
    pub fn header(&self, name: &str) -> Option<&str> {
        match self.values(name).as_slice() {
            [value] => std::str::from_utf8(value).ok(),
            _ => None,
        }
    }

    /// What `Idempotent-Replayed` says.
    pub fn replayed(&self) -> Option<bool> {
        self.header("idempotent-replayed")?.parse().ok()
    }

    /// Seconds of `Retry-After`.
    pub fn retry_after(&self) -> Option<u32> {
        self.header("retry-after")?.parse().ok()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The last segment of a problem's `type`; empty when the answer is no problem.
    pub fn problem(&self) -> String {
        let is_problem = self.header("content-type") == Some("application/problem+json");
        let body = if is_problem { self.json() } else { Value::Null };
        let r#type = body["type"].as_str().unwrap_or_default();
        r#type.trim_start_matches("/problems/").to_owned()
    }

    /// What a replay must repeat: status, body, and the headers that last, by name.
    #[must_use]
    pub fn lasting(&self) -> Self {
        let mut lasting = self.clone();
        lasting
            .headers
            .retain(|(name, _)| !OF_ONE_ANSWER.contains(&name.as_str()));
        // Stable: lines of one name keep their order.
        lasting.headers.sort_by(|(a, _), (b, _)| a.cmp(b));
        lasting
    }

    /// Fails unless this is an order that this very request has placed.
    #[track_caller]
    pub fn assert_executed(&self) {
        assert_eq!(
            (self.status, self.replayed()),
            (201, Some(false)),
            "{self:?}"
        );
    }

    /// Fails unless this is the answer of an order that an earlier request has placed.
    #[track_caller]
    pub fn assert_replayed(&self) {
        assert_eq!(
            (self.status, self.replayed()),
            (201, Some(true)),
            "{self:?}"
        );
    }

    /// Fails unless this is a problem with this status and type, of the form that DESIGN section 4
    /// gives to all of them.
    #[track_caller]
    pub fn assert_problem(&self, status: u16, slug: &str) {
        assert_eq!(
            (self.status, self.problem().as_str()),
            (status, slug),
            "{self:?}"
        );
        let body = self.json();
        assert_eq!(body["status"], status, "{self:?}");
        assert!(
            body["title"].is_string() && body["detail"].is_string(),
            "{self:?}"
        );
        assert!(body["retryable"].is_boolean() && body["retry_with_same_key"].is_boolean());
        assert!(
            body["source"] == "edge" || body["source"] == "origin",
            "{self:?}"
        );
        let link = format!("</problems/{slug}>; rel=\"describedby\"");
        assert_eq!(self.header("link"), Some(link.as_str()), "{self:?}");
        let is_busy = matches!(status, 502 | 503) || slug == "request-in-progress";
        let seconds = self.retry_after();
        assert_eq!(seconds.is_some(), is_busy, "Retry-After: {self:?}");
        assert!(
            seconds.is_none_or(|seconds| (1..=3600).contains(&seconds)),
            "{self:?}"
        );
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", String::from_utf8_lossy(value))?;
        }
        write!(f, "\n{}", String::from_utf8_lossy(&self.body))
    }
}
