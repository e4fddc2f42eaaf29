//! Problems: every refusal a client can meet (RFC 9457; DESIGN sections 4 and 11).

mod kind;

pub use kind::Kind;

use serde::Serialize;

/// The media type of every error.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The Worker.
    Edge,
    /// The service that decides.
    Origin,
}

/// One refusal: a kind, a sentence about this occurrence, and the headers that go with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem.
    pub kind: Kind,
    /// What is wrong this time and what to do; never a key or a credential.
    pub detail: String,
    /// Whole seconds, 1 to 3600.
    pub retry_after: Option<u32>,
    /// The resource, where one is known.
    pub location: Option<String>,
}

/// The longest `Retry-After`, in seconds.
pub const RETRY_AFTER_MAX: u32 = 3600;

#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    source: Source,
    retryable: bool,
    retry_with_same_key: bool,
}

impl Problem {
    /// A problem with its sentence.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            retry_after: None,
            location: None,
        }
    }

    /// With `Retry-After`, brought into 1 to 3600.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self {
            retry_after: Some(seconds.clamp(1, RETRY_AFTER_MAX)),
            ..self
        }
    }

    /// With `Location`, when there is one.
    #[must_use]
    pub fn location(self, location: Option<String>) -> Self {
        Self { location, ..self }
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        self.kind.status()
    }

    /// The body.
    pub fn to_json(&self, source: Source) -> Vec<u8> {
        let body = Body {
            r#type: self.kind.path(),
            title: self.kind.title(),
            status: self.status(),
            detail: &self.detail,
            source,
            retryable: self.kind.is_retryable(),
            retry_with_same_key: self.kind.keeps_key(),
        };
        // A struct of strings, numbers and booleans always serialises.
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// The headers beside the body, names in lower case.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", MEDIA_TYPE.to_owned()),
            ("cache-control", "no-store".to_owned()),
            (
                "link",
                format!("<{}>; rel=\"describedby\"", self.kind.path()),
            ),
        ];
        headers.extend(
            self.retry_after
                .map(|seconds| ("retry-after", seconds.to_string())),
        );
        headers.extend(self.location.clone().map(|location| ("location", location)));
        if self.kind == Kind::CredentialsInvalid {
            headers.push((
                "www-authenticate",
                "Bearer error=\"invalid_token\"".to_owned(),
            ));
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_every_member_of_the_contract() {
        let problem = Problem::new(Kind::RequestInProgress, "wait").retry_after(0);
        let body: serde_json::Value =
            serde_json::from_slice(&problem.to_json(Source::Edge)).unwrap();
        let expected = serde_json::json!({
            "type": "/problems/request-in-progress", "title": "Request in progress",
            "status": 409, "detail": "wait", "source": "edge",
            "retryable": true, "retry_with_same_key": true,
        });
        assert_eq!(body, expected);
        assert!(problem.headers().contains(&("retry-after", "1".to_owned())));
    }
}
