//! Debian's packages, for what rustup and npm cannot give.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::command;
use crate::failure::{Failure, Result};
use crate::step::step;

/// Installs `packages`; without root, or away from Debian, the failure says what to type.
pub fn install(packages: &[&str], what_for: &str) -> Result<()> {
    let list = packages.join(" ");
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::new(format!(
            "{what_for} needs what Debian calls {list}: install it, then run this again"
        )));
    }
    if !is_root() {
        return Err(Failure::new(format!(
            "{what_for} needs packages that only root can install. Run `sudo apt-get update && \
             sudo apt-get install -y --no-install-recommends {list}`, then this again"
        )));
    }
    step(
        &format!("apt-get install {list} ({what_for}; about 1 min)"),
        || {
            // The lists of a fresh image are empty or old; a mirror that fails here may still serve the packages.
            let _ = command::quietly(apt_get().arg("update"));
            let install = ["install", "-y", "-q", "--no-install-recommends"];
            command::quietly(apt_get().args(install).args(packages)).map(drop)
        },
    )
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

fn apt_get() -> Command {
    let mut apt_get = Command::new("apt-get");
    apt_get.env("DEBIAN_FRONTEND", "noninteractive");
    apt_get
}
