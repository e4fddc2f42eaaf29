//! `cargo xtask lint`: format, lints for both targets, docs, licences and the deployment's size, each without a single warning.

use std::process::Command;

use crate::arguments::Arguments;
use crate::artifacts;
use crate::command;
use crate::deploy;
use crate::failure::Result;
use crate::licences;
use crate::project;
use crate::setup::Setup;
use crate::step::step;
use crate::toolchain::WASM;

/// `bench` apart: together with the rest it would change what the rest is built of.
const SCOPES: [&[&str]; 2] = [&["--workspace", "--exclude", "bench"], &["-p", "bench"]];

/// Runs every check, and stops at the first that fails.
pub fn run(arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let setup = Setup::ensure()?;
    step("rustfmt", || {
        command::visibly(cargo().args(["fmt", "--all", "--check"]))
    })?;
    step("clippy for the host", || {
        for scope in SCOPES {
            let mut clippy = cargo();
            clippy.arg("clippy").args(scope).arg("--all-targets");
            command::visibly(clippy.args(["--", "-D", "warnings"]))?;
        }
        Ok(())
    })?;
    step("clippy for Wasm", || {
        let mut clippy = setup.toolchain.clippy()?;
        clippy
            .args(["-p", "edge", "-p", "protocol", "-p", "tests-worker"])
            .args(["--target", WASM])
            .env("CARGO_TARGET_DIR", artifacts::worker_target());
        command::visibly(clippy.args(["--", "-D", "warnings"]))
    })?;
    step("licences", licences::check)?;
    step("wrangler deploy --dry-run", deploy::dry_run)?;
    step("rustdoc", || {
        for scope in SCOPES {
            let mut doc = cargo();
            doc.arg("doc").args(scope);
            doc.args(["--no-deps", "--document-private-items"]);
            command::visibly(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
        }
        Ok(())
    })
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root());
    cargo
}
