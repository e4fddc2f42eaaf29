//! wrangler.toml, and what is derived from it, so that the Worker's shape is written down once.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::project;

/// The project's wrangler.toml.
pub fn read() -> Result<String> {
    fs::read_to_string(project::root().join("wrangler.toml"))
        .map_err(Failure::because("could not read wrangler.toml"))
}

/// The value of a top-level `name = "value"`.
pub fn value<'a>(config: &'a str, name: &str) -> Result<&'a str> {
    config
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))
        .map(|value| value.trim().trim_matches('"'))
        .ok_or_else(|| Failure::new(format!("wrangler.toml has no {name}")))
}

/// The same Worker, but from `worker` as it was built, and with `bindings` as its variables. With
/// `owner` its shards are those of the Worker of this name, and it goes by another name itself.
pub(crate) fn derive(
    config: &str,
    worker: &Path,
    bindings: &[(String, String)],
    owner: Option<&str>,
) -> String {
    let main = worker.join("index.js");
    let mut table = "";
    let mut derived = String::new();
    for line in config.lines() {
        if line.starts_with('[') {
            table = line;
        }
        let _ = match (table, owner) {
            ("[build]" | "[vars]", _) | ("[[migrations]]", Some(_)) => Ok(()),
            _ if line.starts_with("main ") => {
                writeln!(derived, "main = {}", quoted(&main.to_string_lossy()))
            }
            ("", Some(owner)) if line.starts_with("name ") => {
                writeln!(derived, "name = {}", quoted(&format!("{owner}-2")))
            }
            (_, Some(owner)) if line.starts_with("class_name ") => {
                writeln!(derived, "{line}\nscript_name = {}", quoted(owner))
            }
            _ => writeln!(derived, "{line}"),
        };
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
        let derived = derive(CONFIG, Path::new("/w"), &bindings, None);
        assert_eq!(
            derived,
            "main = \"/w/index.js\"\ncompatibility_date = \"2026-01-01\"\n\n\
             [[migrations]]\ntag = \"v1\"\n\n[vars]\nB = \"say \\\"hi\\\"\\n\"\n"
        );
    }

    #[test]
    fn a_guest_uses_the_shards_of_their_owner() {
        let config = "name = \"a\"\n\n[[durable_objects.bindings]]\nclass_name = \"C\"\n\n\
                      [[migrations]]\ntag = \"v1\"\n";
        let derived = derive(config, Path::new("/w"), &[], Some("a"));
        assert_eq!(
            derived,
            "name = \"a-2\"\n\n[[durable_objects.bindings]]\nclass_name = \"C\"\n\
             script_name = \"a\"\n\n\n[vars]\n"
        );
    }

    #[test]
    fn a_missing_value_is_named() {
        assert_eq!(value(CONFIG, "compatibility_date").ok(), Some("2026-01-01"));
        let failure = value(CONFIG, "name").expect_err("no name");
        assert_eq!(failure.to_string(), "wrangler.toml has no name");
    }
}
