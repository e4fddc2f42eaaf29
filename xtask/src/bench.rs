//! `cargo xtask bench`: builds the benchmarks optimised, and runs the one that is named.

use std::process::Command;

use crate::arguments::Arguments;
use crate::artifacts::Profile;
use crate::command;
use crate::failure::{Failure, Result};
use crate::project;
use crate::step::step;

/// Results go to standard output; the program builds what else it needs.
pub fn run(arguments: Arguments) -> Result<()> {
    step("building the benchmarks (release)", || {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(project::root());
        command::visibly(cargo.args(["build", "--release", "-p", "bench"]))
    })?;
    let program = project::target()
        .join(Profile::Release.folder())
        .join("bench");
    let status = Command::new(program)
        .args(arguments.rest())
        .status()
        .map_err(Failure::because("the benchmarks could not be started"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(
            "the benchmark failed; its reason stands above",
        ))
    }
}
