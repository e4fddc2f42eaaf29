//! The options after a command's name.

use std::str::FromStr;

use crate::failure::{Failure, Result};

/// Options not yet asked for.
#[derive(Debug)]
pub struct Arguments(Vec<String>);

impl Arguments {
    /// All that follows the command's name.
    pub fn new(words: &[String]) -> Self {
        Self(words.to_vec())
    }

    /// Takes `--name`, and says whether it was there.
    pub fn flag(&mut self, name: &str) -> bool {
        let position = self.0.iter().position(|word| word == name);
        position.map(|position| self.0.remove(position)).is_some()
    }

    /// Takes `--name value` or `--name=value`.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let begins = |word: &String| {
            word.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let Some(position) = self.0.iter().position(begins) else {
            return Ok(None);
        };
        let word = self.0.remove(position);
        let value = match word.split_once('=') {
            Some((_, value)) => value.to_owned(),
            None if position < self.0.len() => self.0.remove(position),
            None => return Err(Failure::new(format!("{name} needs a value"))),
        };
        let wrong = |_| Failure::new(format!("{name} can't be {value:?}"));
        value.parse().map(Some).map_err(wrong)
    }

    /// What is left, where anything may be.
    pub fn rest(self) -> Vec<String> {
        self.0
    }

    /// What is left, where only names may be.
    pub fn names(self) -> Result<Vec<String>> {
        match self.0.iter().find(|word| word.starts_with("--")) {
            None => Ok(self.0),
            Some(word) => Err(Failure::new(format!("there is no option {word}"))),
        }
    }

    /// Refuses what nobody asked for.
    pub fn finish(self) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some(word) => Err(Failure::new(format!("there is no option {word}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn a_value_follows_its_name_or_an_equals_sign() {
        for line in ["--edges 2 --signed", "--signed --edges=2"] {
            let mut arguments = arguments(line);
            assert_eq!(arguments.value("--edges").ok(), Some(Some(2)));
            assert!(arguments.flag("--signed"));
            assert!(arguments.finish().is_ok());
        }
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        assert!(arguments("--edgy").finish().is_err());
        assert!(arguments("--edges").value::<u16>("--edges").is_err());
        assert!(arguments("--edges two").value::<u16>("--edges").is_err());
        assert!(arguments("a --b").names().is_err());
        assert_eq!(
            arguments("a b").names().ok(),
            Some(["a", "b"].map(String::from).to_vec())
        );
    }
}
