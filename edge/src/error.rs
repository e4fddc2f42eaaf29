//! What can go wrong at the edge, and what the client is told of it.

use protocol::problem::{Kind, Problem};
use worker::wasm_bindgen::JsValue;

/// Everything that ends a request without the origin's answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// One of protocol's refusals.
    #[error("refused: {}", .0.kind.slug())]
    Refused(Problem),
    /// The shard has too much to do; asking again would make it worse.
    #[error("the lock is overloaded")]
    LockOverloaded,
    /// The shard can't be had and policy says not to go on without it.
    #[error("the lock is unavailable")]
    LockUnavailable,
    /// The request provably never reached the origin, or was refused before it counted.
    #[error("the origin is unavailable: {0}")]
    OriginUnavailable(String),
    /// The request may have reached the origin, and no answer came back.
    #[error("the origin did not answer: {0}")]
    OutcomeUnknown(String),
    /// A binding is missing or malformed.
    #[error("{0}")]
    Setting(&'static str),
    /// The runtime refused what we asked of it.
    #[error("the runtime refused: {0}")]
    Platform(String),
}

impl Error {
    /// What the client is told; causes stay in the log.
    pub(crate) fn problem(self) -> Problem {
        let (kind, detail) = match self {
            Self::Refused(problem) => return problem,
            Self::LockOverloaded => (
                Kind::OriginUnavailable,
                "The edge is overloaded. Nothing was sent on.",
            ),
            Self::LockUnavailable => (
                Kind::OriginUnavailable,
                "The edge has no lock for this key. Nothing was sent on.",
            ),
            Self::OriginUnavailable(_) => (
                Kind::OriginUnavailable,
                "The origin can't be reached. Nothing was executed.",
            ),
            Self::OutcomeUnknown(_) => (
                Kind::OutcomeUnknown,
                "The request was sent and no answer came back. Retry with the same key.",
            ),
            Self::Setting(what) => (Kind::Internal, what),
            Self::Platform(_) => (Kind::Internal, "The edge could not handle this request."),
        };
        let problem = Problem::new(kind, detail);
        if kind == Kind::Internal {
            problem
        } else {
            problem.retry_after(1)
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<JsValue> for Error {
    fn from(thrown: JsValue) -> Self {
        Self::Platform(text(thrown))
    }
}

impl From<worker::Error> for Error {
    fn from(error: worker::Error) -> Self {
        Self::Platform(error.to_string())
    }
}

/// The words of a thrown value.
pub(crate) fn text(thrown: JsValue) -> String {
    worker::Error::from(thrown).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_never_left_is_unavailable() {
        let unavailable = [
            Error::LockOverloaded,
            Error::LockUnavailable,
            Error::OriginUnavailable("x".into()),
        ];
        for error in unavailable {
            let problem = error.problem();
            assert_eq!((problem.status(), problem.retry_after), (503, Some(1)));
        }
        let unknown = Error::OutcomeUnknown("x".into()).problem();
        assert_eq!((unknown.status(), unknown.retry_after), (502, Some(1)));
        assert_eq!(Error::Setting("x").problem().status(), 500);
    }
}
