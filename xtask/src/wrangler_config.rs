//! wrangler.toml, and what is derived from it, so that the Worker's shape is written down once.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::project;

/// The project's wrangler.toml.
pub(crate) fn read() -> Result<String> {
    fs::read_to_string(project::root().join("wrangler.toml"))
        .map_err(Failure::because("could not read wrangler.toml"))
}

/// The value of a top-level `name = "value"`.
pub(crate) fn value<'a>(config: &'a str, name: &str) -> Result<&'a str> {
    config
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))
        .map(|value| value.trim().trim_matches('"'))
        .ok_or_else(|| Failure::new(format!("wrangler.toml has no {name}")))
}

/// The same Worker, but from `worker` as it was built, and with `bindings` as its variables.
pub(crate) fn derive(config: &str, worker: &Path, bindings: &[(String, String)]) -> String {
    let mut table = "";
    let mut derived = String::new();
    for line in config.lines() {
        if line.starts_with('[') {
            table = line;
        }
        if line.starts_with("main ") {
            let main = worker.join("index.js");
            let _ = writeln!(derived, "main = {}", quoted(&main.to_string_lossy()));
        } else if !matches!(table, "[build]" | "[vars]") {
            derived.push_str(line);
            derived.push('\n');
        }
    }
    derived.push_str("\n[vars]\n");
    for (name, value) in bindings {
        let _ = writeln!(derived, "{name} = {}", quoted(value));
    }
    derived
}

/// A basic string of TOML, whose escapes are JSON's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "main = \"build/index.js\"\ncompatibility_date = \"2026-01-01\"\n\n\
                          [build]\ncommand = \"x\"\n\n[vars]\nA = \"old\"\n\n[[migrations]]\ntag = \"v1\"\n";

    #[test]
    fn build_and_vars_are_replaced_and_the_rest_is_kept() {
        let bindings = [("B".to_owned(), "say \"hi\"\n".to_owned())];
        let derived = derive(CONFIG, Path::new("/w"), &bindings);
        assert_eq!(
            derived,
            "main = \"/w/index.js\"\ncompatibility_date = \"2026-01-01\"\n\n\
             [[migrations]]\ntag = \"v1\"\n\n[vars]\nB = \"say \\\"hi\\\"\\n\"\n"
        );
    }

    #[test]
    fn a_missing_value_is_named() {
        assert_eq!(value(CONFIG, "compatibility_date").ok(), Some("2026-01-01"));
        let failure = value(CONFIG, "name").expect_err("no name");
        assert_eq!(failure.to_string(), "wrangler.toml has no name");
    }
}
