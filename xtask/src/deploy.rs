//! `wrangler deploy --dry-run`: all of a deployment but the upload, and how large that would be.

use std::process::Command;

use crate::command;
use crate::edge::quiet;
use crate::failure::{Failure, Result};
use crate::node_packages;
use crate::project;

/// The Worker with its glue, gzipped, in KiB as wrangler counts: 250 kB.
const LIMIT: f64 = 244.0;

/// Builds the Worker as a deployment does, and fails when it is too large.
pub(crate) fn dry_run() -> Result<()> {
    let folder = project::target().join("deploy");
    project::ensure_dir(&folder)?;
    let mut wrangler = Command::new(node_packages::node());
    wrangler
        .current_dir(project::root())
        .arg("--no-warnings")
        .arg(node_packages::wrangler())
        .args(["deploy", "--dry-run", "--outdir"])
        .arg(folder.join("out"))
        .envs(quiet(&folder));
    let printed = command::quietly(&mut wrangler)?;
    let size = gzipped(&printed)
        .ok_or_else(|| Failure::new(format!("wrangler names no size:\n{printed}")))?;
    eprintln!("  the Worker is {size:.1} KiB gzipped, of {LIMIT} KiB");
    if size > LIMIT {
        return Err(Failure::new("the Worker is too large"));
    }
    Ok(())
}

/// From `Total Upload: 700.00 KiB / gzip: 230.00 KiB`.
fn gzipped(printed: &str) -> Option<f64> {
    let size = printed.split("gzip: ").nth(1)?;
    size.split(" KiB").next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::gzipped;

    #[test]
    fn the_size_is_the_one_that_is_uploaded() {
        let printed = "Total Upload: 705.11 KiB / gzip: 231.40 KiB\n--dry-run: exiting now.";
        assert_eq!(gzipped(printed), Some(231.4));
        assert_eq!(gzipped("nothing"), None);
    }
}
