//! What a client is answered.

use crate::{arrived::Arrived, cors, error::Error, fields};
use protocol::{
    problem::{Problem, Source},
    response::Response,
    wire,
};
use serde::Serialize;
use worker::{js_sys::Uint8Array, web_sys};

/// A response, and what the log calls it.
pub(crate) struct Answer {
    /// Never shared between requests.
    pub(crate) response: web_sys::Response,
    /// One word.
    pub(crate) outcome: &'static str,
}

impl Answer {
    /// The origin's answer, passed on.
    pub(crate) fn arrived(arrived: &Arrived) -> Result<Self, Error> {
        Ok(Self {
            response: arrived.to_client()?,
            outcome: "forwarded",
        })
    }

    /// An answer to a request that no route protects.
    pub(crate) fn passed(response: web_sys::Response) -> Self {
        Self {
            response,
            outcome: "passed",
        }
    }

    /// The archived response of an earlier request.
    pub(crate) fn replay(
        replay: &Response,
        applied: Option<&str>,
        outcome: &'static str,
    ) -> Result<Self, Error> {
        let headers = replay
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value)));
        let applied = applied.map(|applied| (wire::PREFERENCE_APPLIED, applied.into()));
        let response = build(replay.status, headers.chain(applied), &replay.body)?;
        Ok(Self { response, outcome })
    }

    /// A refusal by the edge.
    pub(crate) fn problem(problem: &Problem, applied: Option<&str>) -> Result<Self, Error> {
        let mut headers = problem.headers();
        headers.extend(applied.map(|applied| (wire::PREFERENCE_APPLIED, applied.to_owned())));
        let response = build(problem.status(), headers, &problem.to_json(Source::Edge))?;
        Ok(Self {
            response,
            outcome: problem.kind.slug(),
        })
    }

    /// The edge itself lives.
    pub(crate) fn health() -> Result<Self, Error> {
        let headers = [
            ("content-type", "application/json"),
            ("cache-control", "no-store"),
        ];
        Ok(Self {
            response: build(200, headers, br#"{"status":"ok"}"#)?,
            outcome: "health",
        })
    }

    /// A browser's question before the request itself.
    pub(crate) fn preflight(headers: &str, allowed: Option<&str>) -> Result<Self, Error> {
        let mut answer = vec![("cache-control", "no-store"), ("vary", cors::VARY)];
        if let Some(origin) = allowed {
            answer.extend([
                ("access-control-allow-origin", origin),
                ("access-control-allow-methods", "POST, PATCH"),
                ("access-control-allow-headers", headers),
                ("access-control-max-age", "600"),
            ]);
        }
        Ok(Self {
            response: build(204, answer, &[])?,
            outcome: "preflight",
        })
    }
}

/// A response of plain bytes.
fn build<'a, V: Serialize>(
    status: u16,
    headers: impl IntoIterator<Item = (&'a str, V)>,
    body: &[u8],
) -> Result<web_sys::Response, Error> {
    let init = web_sys::ResponseInit::new();
    init.set_status(status);
    init.set_headers(&fields::object(headers)?);
    let body = (!is_bodiless(status)).then(|| Uint8Array::from(body));
    Ok(web_sys::Response::new_with_opt_js_u8_array_and_init(
        body.as_ref(),
        &init,
    )?)
}

/// Statuses that take no body, not even an empty one (Fetch standard, "null body status").
pub(crate) fn is_bodiless(status: u16) -> bool {
    matches!(status, 204 | 205 | 304)
}
