//! What is wrong with the file, and where.

/// One line for the person who wrote the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {wrong}; write {instead}")]
pub struct PolicyError {
    /// As it was named to the reader.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub wrong: String,
    /// What to write instead.
    pub instead: String,
}

/// What is wrong with a value, by whoever does not know its name.
pub(super) struct Wrong {
    what: String,
    instead: String,
    /// Byte offset, where it is more exact than that of the whole value.
    at: Option<usize>,
}

/// What is wrong at a byte offset.
pub(super) struct Fault {
    wrong: String,
    instead: String,
    at: usize,
}

impl Wrong {
    pub(super) fn new(wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        Self {
            what: wrong.into(),
            instead: instead.into(),
            at: None,
        }
    }

    /// Inside a list, at the element's offset.
    pub(super) fn in_list(self, at: usize) -> Self {
        Self {
            at: Some(at),
            ..self
        }
    }

    pub(super) fn at(self, at: usize) -> Fault {
        Fault {
            wrong: self.what,
            instead: self.instead,
            at: self.at.unwrap_or(at),
        }
    }

    /// The fault of the setting of this name.
    pub(super) fn of(self, name: &str, at: usize) -> Fault {
        let what = format!("{name} {}", self.what);
        let instead = format!("{name} = {}", self.instead);
        Self {
            what,
            instead,
            ..self
        }
        .at(at)
    }
}

impl Fault {
    pub(super) fn in_file(self, text: &str, file: &str) -> PolicyError {
        let before = text.get(..self.at).unwrap_or(text);
        PolicyError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            wrong: on_one_line(&self.wrong),
            instead: on_one_line(&self.instead),
        }
    }
}

/// With what the file says in names and texts, but for its control characters.
fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for char in text.chars() {
        if char.is_control() {
            line.extend(char.escape_default());
        } else {
            line.push(char);
        }
    }
    line
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        Wrong::new(error.message(), "valid TOML (toml.io)").at(at)
    }
}
