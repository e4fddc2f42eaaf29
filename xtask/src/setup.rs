//! `cargo xtask setup`: what a bare machine lacks; well under a second when nothing is missing.

use std::fs::File;

use crate::failure::{Failure, Result};
use crate::node_packages;
use crate::project;
use crate::toolchain::Toolchain;
use crate::tools::Tools;

/// Everything that building the Worker needs.
pub struct Setup {
    /// The compiler for Wasm.
    pub toolchain: Toolchain,
    /// The programs that make the Worker of it.
    pub tools: Tools,
}

impl Setup {
    /// Finds what is there and installs what is not, saying so.
    ///
    /// One process at a time: two that install the same packages undo each other's work.
    pub fn ensure() -> Result<Self> {
        let _turn = turn()?;
        let toolchain = match Toolchain::find()? {
            Some(toolchain) => toolchain,
            None => Toolchain::install()?,
        };
        node_packages::ensure()?;
        let tools = Tools::ensure()?;
        Ok(Self { toolchain, tools })
    }
}

/// Held as long as the file is open; the system takes it back from a process that was killed.
fn turn() -> Result<File> {
    let folder = project::state();
    project::ensure_dir(&folder)?;
    let file = File::create(folder.join("setup.lock"));
    let locked = file.and_then(|file| file.lock().map(|()| file));
    locked.map_err(Failure::because("the set-up could not wait for its turn"))
}
