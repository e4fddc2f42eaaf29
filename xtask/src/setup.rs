//! `cargo xtask setup`: what a bare machine lacks; well under a second when nothing is missing.

use crate::failure::Result;
use crate::node_packages;
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
    pub fn ensure() -> Result<Self> {
        let toolchain = match Toolchain::find()? {
            Some(toolchain) => toolchain,
            None => Toolchain::install()?,
        };
        node_packages::ensure()?;
        let tools = Tools::ensure()?;
        Ok(Self { toolchain, tools })
    }
}
