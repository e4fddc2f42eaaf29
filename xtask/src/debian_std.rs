//! The way to a Wasm standard library where rustup's server can't be reached: Debian's compiler and its sources.
//!
//! The library is built once for each version of that compiler, into a private sysroot in the user's cache.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt;
use crate::command;
use crate::failure::{Failure, Result};
use crate::project;
use crate::step::step;
use crate::toolchain::{WASM, rust_lld};

/// `-web`: the current compiler that Debian ships for building browsers.
const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const CLIPPY: &str = "/usr/bin/cargo-clippy";
const SOURCES: &str = "/usr/lib/rustlib/src/rust/library";

/// A private sysroot: Debian's own libraries for the host, ours for Wasm.
pub struct DebianStd {
    home: PathBuf,
}

impl DebianStd {
    /// The library for the installed compiler, if it has been built.
    pub fn find() -> Result<Option<Self>> {
        if !Path::new(RUSTC).exists() {
            return Ok(None);
        }
        let std = Self::of_installed_compiler()?;
        Ok(std.wasm_libdir().exists().then_some(std))
    }

    /// Installs compiler and sources, and builds the library from them.
    pub fn install() -> Result<Self> {
        if !Path::new(CARGO).exists() || !Path::new(SOURCES).exists() {
            apt::install(&PACKAGES, "building the Wasm standard library")?;
        }
        let std = Self::of_installed_compiler()?;
        if !std.wasm_libdir().exists() {
            step("building the Wasm standard library (about 1 min)", || {
                std.build()
            })?;
        }
        Ok(std)
    }

    /// Makes `command` and what it starts use this compiler.
    pub fn adopt(&self, command: &mut Command) -> Result<()> {
        command::prefer(command, &self.bin())?;
        command
            .env("CARGO", self.bin().join("cargo"))
            .env("RUSTC", self.bin().join("rustc"))
            .env("SYSROOT", self.sysroot())
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", rust_lld()?)
            // Set by the cargo that runs us; the libraries there belong to the other compiler.
            .env_remove("LD_LIBRARY_PATH");
        Ok(())
    }

    /// Debian's clippy, which is not the one that cargo would find.
    pub fn clippy() -> Result<PathBuf> {
        if !Path::new(CLIPPY).exists() {
            apt::install(&["rust-web-clippy"], "linting the Worker")?;
        }
        Ok(PathBuf::from(CLIPPY))
    }

    /// The compiler's version, as a file name.
    pub fn id(&self) -> String {
        let name = self.home.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn of_installed_compiler() -> Result<Self> {
        let version = command::quietly(Command::new(RUSTC).arg("--version"))?;
        let slug: String = version
            .trim()
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let home = project::cache()?.join("wasm-std").join(slug);
        Ok(Self { home })
    }

    fn bin(&self) -> PathBuf {
        self.home.join("bin")
    }

    fn sysroot(&self) -> PathBuf {
        self.home.join("sysroot")
    }

    /// Exists only when complete.
    fn wasm_libdir(&self) -> PathBuf {
        self.sysroot().join("lib/rustlib").join(WASM).join("lib")
    }

    fn build(&self) -> Result<()> {
        let crate_dir = self.home.join("build");
        // Two generations of `core` in one folder break every later build.
        let _ = fs::remove_dir_all(&crate_dir);
        write(
            &crate_dir.join("Cargo.toml"),
            "[package]\nname = \"empty\"\nedition = \"2024\"\n[workspace]\n",
        )?;
        write(&crate_dir.join("src/lib.rs"), "")?;
        compile(&crate_dir)?;
        self.write_wrappers()?;
        self.lay_out_sysroot(&crate_dir)?;
        // Only disk space is lost when it stays.
        let _ = fs::remove_dir_all(&crate_dir);
        Ok(())
    }

    fn write_wrappers(&self) -> Result<()> {
        let sysroot = self.sysroot();
        let rustc = self.bin().join("rustc");
        write_script(
            &rustc,
            &format!("exec {RUSTC} --sysroot '{}' \"$@\"", sysroot.display()),
        )?;
        let cargo = format!("RUSTC='{}' exec {CARGO} \"$@\"", rustc.display());
        write_script(&self.bin().join("cargo"), &cargo)
    }

    fn lay_out_sysroot(&self, crate_dir: &Path) -> Result<()> {
        let wrong = || Failure::because("could not lay out the sysroot for Wasm");
        let rustlib = self.sysroot().join("lib/rustlib");
        project::ensure_dir(&rustlib)?;
        for entry in fs::read_dir("/usr/lib/rustlib").map_err(wrong())?.flatten() {
            let link = rustlib.join(entry.file_name());
            if !link.exists() {
                symlink(entry.path(), link).map_err(wrong())?;
            }
        }
        let partial = rustlib.join(format!("{WASM}.partial"));
        project::ensure_dir(&partial.join("lib"))?;
        let built = crate_dir.join("target").join(WASM).join("release/deps");
        for entry in fs::read_dir(built).map_err(wrong())?.flatten() {
            let library = entry.path();
            let ours = entry.file_name().to_string_lossy().starts_with("libempty-");
            if library.extension() == Some("rlib".as_ref()) && !ours {
                fs::copy(&library, partial.join("lib").join(entry.file_name())).map_err(wrong())?;
            }
        }
        fs::rename(&partial, rustlib.join(WASM)).map_err(wrong())
    }
}

fn compile(crate_dir: &Path) -> Result<()> {
    let mut cargo = Command::new(CARGO);
    cargo
        .current_dir(crate_dir)
        .args(["build", "--release", "--target", WASM])
        .arg("-Zbuild-std=std,panic_abort,panic_unwind")
        .env("RUSTC", RUSTC)
        // `-Zbuild-std` on a stable compiler.
        .env("RUSTC_BOOTSTRAP", "1")
        // Without it, builds with `lto` find no bitcode to optimise.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", crate_dir.join("target"))
        .env_remove("LD_LIBRARY_PATH");
    command::visibly(&mut cargo)
}

fn write_script(path: &Path, line: &str) -> Result<()> {
    write(path, &format!("#!/bin/sh\n{line}\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(Failure::because(format!(
        "could not make {} executable",
        path.display()
    )))
}

fn write(path: &Path, text: &str) -> Result<()> {
    project::ensure_dir(path.parent().unwrap_or(path))?;
    fs::write(path, text).map_err(Failure::because(format!(
        "could not write {}",
        path.display()
    )))
}
