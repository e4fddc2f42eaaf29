//! `cargo xtask chaos`: random load while everything fails, and a check of all promises.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::arguments::Arguments;
use crate::artifacts::{Profile, Worker, default_policy};
use crate::failure::{Failure, Result};
use crate::project;
use crate::setup::Setup;
use crate::test;

/// Sets up, builds what the tests build, and becomes the program `chaos` of the kit: its last line
/// and its exit status are ours.
pub fn run(arguments: Arguments) -> Result<()> {
    let setup = Setup::ensure()?;
    test::build()?;
    Worker::new(Profile::Dev, &default_policy())?.build(&setup)?;
    let mut chaos = Command::new(project::target().join("debug/chaos"));
    chaos.current_dir(project::root()).args(arguments.rest());
    Err(Failure::because("chaos could not be started")(chaos.exec()))
}
