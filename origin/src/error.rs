//! The rim: every failure becomes a response here, and is logged here once.

use crate::{idempotency::Refusal, operations::orders::problem_response, routes::respond, store};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use protocol::{
    problem::{Kind, Problem},
    wire,
};

/// What a request can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client is told this as it is.
    #[error("refused: {}", .0.kind.slug())]
    Problem(Problem),
    /// The engine has no answer.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A read failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Error {
    /// The outcome in one word, for counting.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Refused(Refusal::Passed(_)) => "released",
            Self::Problem(problem) | Self::Refused(Refusal::Problem(problem)) => {
                problem.kind.slug()
            }
            Self::Refused(
                Refusal::Store(store::Error::Unanswered(_))
                | Refusal::Unfinished(_)
                | Refusal::Panicked(_),
            ) => Kind::OutcomeUnknown.slug(),
            Self::Store(_) | Self::Refused(Refusal::Store(_)) => Kind::StoreUnavailable.slug(),
        }
    }

    /// What the client is told.
    fn response(self) -> Response {
        let problem = match self {
            Self::Refused(Refusal::Passed(response)) => return passed(*response),
            Self::Problem(problem) | Self::Refused(Refusal::Problem(problem)) => problem,
            Self::Store(error) | Self::Refused(Refusal::Store(error)) => store_problem(&error),
            Self::Refused(Refusal::Unfinished(error)) => {
                tracing::error!(error = chain(&error), "an operation could not be finished");
                unknown()
            }
            Self::Refused(Refusal::Panicked(error)) => {
                tracing::error!(error = chain(&error), "a panic");
                unknown()
            }
        };
        respond(problem_response(&problem))
    }
}

/// An upstream's own refusal: it is no replay, and nothing of it is kept.
fn passed(mut response: Response) -> Response {
    let first = HeaderValue::from_static("false");
    response.headers_mut().insert(wire::REPLAYED, first);
    response
}

fn store_problem(error: &store::Error) -> Problem {
    tracing::error!(error = chain(error), "the store failed");
    match error {
        store::Error::Unavailable(_) => {
            let detail = "The store of records can't be reached. Nothing was executed.";
            Problem::new(Kind::StoreUnavailable, detail).retry_after(2)
        }
        store::Error::Unanswered(_) => unknown(),
        _ => {
            let detail = "Something is wrong on our side; retry with the same key.";
            Problem::new(Kind::Internal, detail).retry_after(5)
        }
    }
}

fn unknown() -> Problem {
    let detail =
        "The operation may have started; how it ends is not known yet. Retry with the same key.";
    Problem::new(Kind::OutcomeUnknown, detail).retry_after(2)
}

/// The whole chain of an error, said once: no Display here repeats its source.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.response()
    }
}
