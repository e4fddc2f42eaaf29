//! The compiler for the Worker: a `rustc` that has the standard library for Wasm.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command;
use crate::debian_std::DebianStd;
use crate::failure::{Failure, Result};
use crate::project;
use crate::step::step;

/// The target of the Worker.
pub const WASM: &str = "wasm32-unknown-unknown";

/// How long `rustup target add` may take (20 MB) before the fallback is tried.
const RUSTUP_LIMIT: Duration = Duration::from_secs(40);

/// A compiler that can build for [`WASM`].
pub enum Toolchain {
    /// The compiler of the host's crates, which has the target as well.
    Own {
        /// Its standard library for Wasm.
        libdir: PathBuf,
    },
    /// Debian's compiler with a standard library built from Debian's sources.
    Debian(DebianStd),
}

impl Toolchain {
    /// What is already on this machine.
    pub fn find() -> Result<Option<Self>> {
        let libdir = libdir()?;
        if has_std(&libdir) {
            return Ok(Some(Self::Own { libdir }));
        }
        Ok(DebianStd::find()?.map(Self::Debian))
    }

    /// Asks rustup for the target; where its server can't be reached, builds the library from Debian's sources.
    pub fn install() -> Result<Self> {
        let asked = step(&format!("rustup target add {WASM} (20 MB)"), || {
            let mut rustup = Command::new("rustup");
            rustup
                .args(["target", "add", WASM])
                .current_dir(project::root());
            Ok(command::succeeds_within(&mut rustup, RUSTUP_LIMIT))
        })?;
        let libdir = libdir()?;
        if asked && has_std(&libdir) {
            return Ok(Self::Own { libdir });
        }
        eprintln!("  rustup could not fetch it; building it from Debian's sources instead");
        DebianStd::install().map(Self::Debian)
    }

    /// `program` (cargo, worker-build) with this compiler as its `rustc`.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        command.current_dir(project::root());
        if let Self::Debian(std) = self {
            std.adopt(&mut command)?;
        }
        Ok(command)
    }

    /// `cargo clippy` with this compiler.
    pub fn clippy(&self) -> Result<Command> {
        let program = match self {
            Self::Own { .. } => PathBuf::from("cargo"),
            Self::Debian(_) => DebianStd::clippy()?,
        };
        let mut clippy = self.command(program)?;
        clippy.arg("clippy");
        Ok(clippy)
    }

    /// Changes with the compiler's version: libraries of two compilers never mix.
    pub fn id(&self) -> String {
        match self {
            Self::Own { libdir } => core_library(libdir).unwrap_or_default(),
            Self::Debian(std) => std.id(),
        }
    }
}

fn libdir() -> Result<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--print", "target-libdir", "--target", WASM])
        .current_dir(project::root());
    Ok(PathBuf::from(command::quietly(&mut rustc)?.trim()))
}

fn has_std(libdir: &Path) -> bool {
    core_library(libdir).is_some()
}

/// The name of `core`'s files, which carries a hash of the compiler's version.
fn core_library(libdir: &Path) -> Option<String> {
    let names = std::fs::read_dir(libdir).ok()?.flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name.starts_with("libcore-"))
        .map(|name| name.split('.').next().unwrap_or_default().to_owned())
}

/// The linker for Wasm that comes with rustup's compiler.
pub fn rust_lld() -> Result<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--print", "target-libdir"])
        .current_dir(project::root());
    let libdir = PathBuf::from(command::quietly(&mut rustc)?.trim());
    let linker = libdir.with_file_name("bin").join("rust-lld");
    if linker.exists() {
        Ok(linker)
    } else {
        Err(Failure::new(format!(
            "{} is missing: the Worker needs a Rust toolchain installed by rustup",
            linker.display()
        )))
    }
}
