//! The environment of the process, and the files that it names for its secrets.

use super::Error;
use std::collections::HashMap;

/// What may come from a file: `DATABASE_URL_FILE=/run/secrets/database_url`.
const SECRETS: [&str; 6] = [
    "DATABASE_URL",
    "EDGE_KEYS",
    "SEALING_KEYS",
    "PROVIDER_SECRET",
    "WEBHOOK_SECRET",
    "JWT_HS256_SECRET",
];

/// All variables, read once.
#[derive(Clone)]
pub struct Environment(HashMap<String, String>);

impl Environment {
    /// Of this process. A file that can't be read, or a secret that is there twice, is refused.
    pub fn read() -> Result<Self, Error> {
        // What is not UTF-8 is none of ours.
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self(variables.collect()).with_files()
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn with_files(mut self) -> Result<Self, Error> {
        for name in SECRETS {
            let given = |name: &str| self.0.get(name).filter(|value| !value.is_empty());
            let Some(file) = given(&format!("{name}_FILE")) else {
                continue;
            };
            if given(name).is_some() {
                return Err(Error::invalid(name, "is set beside its file"));
            }
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|_| Error::invalid(name, "is in a file that can't be read"))?;
            self.0.insert(name.to_owned(), text.trim_end().to_owned());
        }
        Ok(self)
    }
}

/// Secrets are among them.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Environment({} variables hidden)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Environment, Error> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment(variables.iter().map(owned).collect()).with_files()
    }

    #[test]
    fn a_secret_comes_from_its_variable_or_its_file_and_never_from_both() {
        let file = std::env::temp_dir().join(format!("unavez-{}", uuid::Uuid::new_v4()));
        std::fs::write(&file, "postgres://from-a-file\n").unwrap();
        let path = file.to_string_lossy();
        let read = of(&[("DATABASE_URL_FILE", &path), ("BIND", "x")]).unwrap();
        assert_eq!(
            read.get("DATABASE_URL").as_deref(),
            Some("postgres://from-a-file")
        );
        assert_eq!(read.get("BIND").as_deref(), Some("x"));
        let both = of(&[("DATABASE_URL_FILE", &path), ("DATABASE_URL", "y")]).unwrap_err();
        assert_eq!(both.to_string(), "DATABASE_URL is set beside its file");
        std::fs::remove_file(&file).unwrap();
        let gone = of(&[("EDGE_KEYS_FILE", &path)]).unwrap_err();
        assert_eq!(
            gone.to_string(),
            "EDGE_KEYS is in a file that can't be read"
        );
        assert!(
            of(&[("EDGE_KEYS_FILE", "")])
                .unwrap()
                .get("EDGE_KEYS")
                .is_none()
        );
    }
}
