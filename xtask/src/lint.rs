//! `cargo xtask lint`: format, lints for both targets, docs and licences, each without a single warning.

use std::process::Command;

use crate::arguments::Arguments;
use crate::artifacts;
use crate::command;
use crate::failure::Result;
use crate::licences;
use crate::project;
use crate::setup::Setup;
use crate::step::step;
use crate::toolchain::WASM;

/// Runs every check, and stops at the first that fails.
pub fn run(arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let setup = Setup::ensure()?;
    step("rustfmt", || {
        command::visibly(cargo().args(["fmt", "--all", "--check"]))
    })?;
    step("clippy for the host", || {
        let scope = ["clippy", "--workspace", "--all-targets"];
        command::visibly(cargo().args(scope).args(["--", "-D", "warnings"]))
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
    step("rustdoc", || {
        let scope = [
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ];
        command::visibly(cargo().args(scope).env("RUSTDOCFLAGS", "-D warnings"))
    })
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root());
    cargo
}
