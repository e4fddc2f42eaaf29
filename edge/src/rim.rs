//! The rim: errors become problems, browsers get their headers, and one line is logged.

use crate::{answer::Answer, clock, cors, error::Error, incoming::Incoming};
use protocol::{flight::Millis, scope::Scope};
use serde::Serialize;
use worker::{console_error, console_log, web_sys};

/// What is known of a request when it is answered. Never its key, query or credentials.
pub(crate) struct Rim {
    /// The protected route.
    pub(crate) route: Option<String>,
    /// Names the flight.
    pub(crate) scope: Option<Scope>,
    /// Time spent at the shard.
    pub(crate) wait_ms: Option<Millis>,
    /// Time spent at the origin.
    pub(crate) origin_ms: Option<Millis>,
    /// `Preference-Applied`, for answers of the edge's own.
    pub(crate) applied: Option<String>,
    method: String,
    allowed: Option<String>,
    traceparent: Option<String>,
    started: Millis,
}

/// The log's line.
#[derive(Serialize)]
struct Line<'a> {
    message: &'a str,
    outcome: &'a str,
    method: &'a str,
    route: Option<&'a str>,
    status: u16,
    scope: Option<String>,
    wait_ms: Option<Millis>,
    origin_ms: Option<Millis>,
    total_ms: Millis,
    traceparent: Option<&'a str>,
}

impl Rim {
    /// Opens the line of a request. `allowed` is what a browser is told.
    pub(crate) fn new(request: &Incoming, allowed: Option<String>) -> Self {
        Self {
            route: None,
            scope: None,
            wait_ms: None,
            origin_ms: None,
            applied: None,
            method: request.method.clone(),
            allowed,
            traceparent: request.header("traceparent"),
            started: clock::now(),
        }
    }

    /// Answers.
    pub(crate) fn leave(&self, answer: Result<Answer, Error>) -> worker::Result<web_sys::Response> {
        let answer = answer.or_else(|error| {
            if !matches!(error, Error::Refused(_)) {
                console_error!("{error}");
            }
            Answer::problem(&error.problem(), self.applied.as_deref())
        });
        let answer = answer.map_err(|error| worker::Error::RustError(error.to_string()))?;
        if let Some(allowed) = &self.allowed {
            cors::expose(&answer.response, allowed)
                .map_err(|error| worker::Error::RustError(error.to_string()))?;
        }
        self.log(&answer);
        Ok(answer.response)
    }

    fn log(&self, answer: &Answer) {
        let line = Line {
            message: "request",
            outcome: answer.outcome,
            method: &self.method,
            route: self.route.as_deref(),
            status: answer.response.status(),
            scope: self.scope.map(|scope| scope.prefix()),
            wait_ms: self.wait_ms,
            origin_ms: self.origin_ms,
            total_ms: clock::now().saturating_sub(self.started),
            traceparent: self.traceparent.as_deref(),
        };
        console_log!("{}", serde_json::to_string(&line).unwrap_or_default());
    }
}
