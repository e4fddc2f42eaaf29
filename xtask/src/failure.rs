//! The one error of these commands: a sentence for the person at the terminal.

use std::error::Error;
use std::fmt;

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Failure>;

/// A sentence that says what failed and, where there is something to do, what to do.
#[derive(Debug)]
pub struct Failure {
    sentence: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure with no error beneath it.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
            cause: None,
        }
    }

    /// For `map_err`: `sentence` says what was being done when the error came.
    pub fn because<E>(sentence: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        move |cause| Self {
            sentence: sentence.into(),
            cause: Some(Box::new(cause)),
        }
    }

    /// The sentence with all its causes on one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
