//! Where things lie: the clone, its build folders, its data, and what all clones share.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The root of the clone.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_path_buf()
}

/// Cargo's target folder, `CARGO_TARGET_DIR` included.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The ignored folder that keeps the data and logs of `cargo xtask dev` between its runs.
pub fn state() -> PathBuf {
    root().join(".unavez")
}

/// What was built or fetched once for all clones of this user.
pub fn cache() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => env::home_dir()
            .ok_or_else(|| Failure::new("no home folder is known: set HOME or XDG_CACHE_HOME"))?
            .join(".cache"),
    };
    Ok(base.join("unavez"))
}

/// Makes the folder with all above it.
pub fn ensure_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(Failure::because(format!(
        "could not create the folder {}",
        dir.display()
    )))
}
