//! Whether everything that the programs and the Worker are made of may be shipped under the project's licences.

use std::process::Command;

use serde_json::Value;

use crate::command;
use crate::failure::{Failure, Result};
use crate::project;

/// Licences that ask for no more than their text.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Reads the licence of every package of the lock file and names those that are not allowed.
pub fn check() -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(project::root())
        .args(["metadata", "--format-version", "1", "--locked"]);
    let metadata: Value = serde_json::from_str(&command::quietly(&mut cargo)?)
        .map_err(Failure::because("cargo metadata gave no JSON"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let refused: Vec<String> = packages
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default()))
        .map(|package| {
            format!(
                "{} {}: {}",
                package["name"], package["version"], package["license"]
            )
        })
        .collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "licences that are not allowed:\n{}",
            refused.join("\n")
        )))
    }
}

/// Whether an SPDX expression can be met: every part that `AND` joins offers an allowed licence.
/// `A OR B AND C` without brackets is judged more strictly than it would need to be.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
    let offers = |part: &str| {
        part.split(" OR ")
            .any(|licence| ALLOWED.contains(&licence.trim()))
    };
    expression.split(" AND ").all(offers)
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn one_offer_is_enough_and_every_demand_must_be_met() {
        assert!(is_allowed("MIT OR GPL-3.0"));
        assert!(is_allowed("Unlicense/MIT"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_allowed("MIT AND GPL-3.0"));
        assert!(!is_allowed(""));
    }
}
