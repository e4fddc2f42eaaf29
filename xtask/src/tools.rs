//! The two programs that turn the edge crate into a Worker, built from source once for all clones of a user.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command;
use crate::failure::{Failure, Result};
use crate::project;
use crate::step::step;

/// Compiles, binds and bundles.
const WORKER_BUILD: &str = "0.8.7";

/// A program from crates.io in one version.
struct Tool {
    package: &'static str,
    version: String,
    program: &'static str,
    /// Further arguments of `cargo install`.
    flags: &'static [&'static str],
}

/// Both programs, ready to run.
pub struct Tools {
    /// `worker-build`.
    pub worker_build: PathBuf,
    /// `wasm-bindgen`, in the version of Cargo.lock to the letter, which its output demands.
    pub wasm_bindgen: PathBuf,
}

impl Tools {
    /// Finds the programs and builds what is missing.
    pub fn ensure() -> Result<Self> {
        let worker_build = Tool {
            package: "worker-build",
            version: WORKER_BUILD.to_owned(),
            program: "worker-build",
            flags: &["--locked"],
        };
        let wasm_bindgen = Tool {
            package: "wasm-bindgen-cli",
            version: locked_version("wasm-bindgen")?,
            program: "wasm-bindgen",
            flags: &["--no-default-features"],
        };
        Ok(Self {
            worker_build: worker_build.ensure()?,
            wasm_bindgen: wasm_bindgen.ensure()?,
        })
    }
}

impl Tool {
    fn ensure(&self) -> Result<PathBuf> {
        let folder = format!("{}-{}", self.package, self.version);
        let root = project::cache()?.join("tools").join(folder);
        let program = root.join("bin").join(self.program);
        if !program.exists() {
            let what = format!(
                "cargo install {} {} (once, 1 to 3 min)",
                self.package, self.version
            );
            step(&what, || {
                command::visibly(self.install().arg("--root").arg(&root))
            })?;
        }
        Ok(program)
    }

    fn install(&self) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(project::root())
            .args(["install", self.package, "--version", &self.version])
            .args(["--bin", self.program])
            // An optimised build takes three times as long and wins nothing here.
            .arg("--debug")
            .args(self.flags)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env_remove("CARGO_TARGET_DIR");
        cargo
    }
}

/// The version of `package` in Cargo.lock.
fn locked_version(package: &str) -> Result<String> {
    let lock = fs::read_to_string(project::root().join("Cargo.lock"))
        .map_err(Failure::because("could not read Cargo.lock"))?;
    version_in(&lock, package)
        .map(str::to_owned)
        .ok_or_else(|| {
            Failure::new(format!(
                "Cargo.lock names no {package}: does edge/ still depend on worker?"
            ))
        })
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines
        .nth(1)?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::version_in;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-shared\"\nversion = \"1.0.0\"\n\n\
                        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";

    #[test]
    fn the_version_is_that_of_the_package_named_exactly() {
        assert_eq!(version_in(LOCK, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(version_in(LOCK, "wasm"), None);
    }
}
