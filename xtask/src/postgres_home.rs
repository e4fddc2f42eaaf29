//! Which Postgres runs, as which user, and where its data lies.
//!
//! Postgres refuses to run as root. As root it runs as `nobody`, whose way to the data must be open;
//! below a folder that only root may enter, the data moves to a folder under /var/tmp.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt::is_root;
use crate::command;
use crate::failure::{Failure, Result};
use crate::node_packages;
use crate::project;
use crate::stamp::Inputs;

/// `nobody` and `nogroup`, on every Linux.
const NOBODY: u32 = 65534;

/// One installation of Postgres.
#[derive(Debug)]
pub(crate) struct Binaries {
    root: PathBuf,
    major: String,
}

impl Binaries {
    /// Debian's newest, or else the one that npm has installed.
    pub(crate) fn find() -> Result<Self> {
        let debian = fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .flatten();
        let newest = debian
            .map(|entry| entry.path())
            .filter(|root| root.join("bin/initdb").exists())
            .max_by_key(|root| {
                root.file_name()
                    .and_then(|name| name.to_str()?.parse::<u32>().ok())
            });
        let root = newest.unwrap_or_else(node_packages::postgres);
        let version = command::quietly(Command::new(root.join("bin/postgres")).arg("--version"))
            .map_err(Failure::because(
                "no Postgres was found: run `cargo xtask setup`, install Debian's package postgresql, or set DATABASE_URL",
            ))?;
        Ok(Self {
            major: major(&version),
            root,
        })
    }

    fn copy_to(&self, folder: &Path) -> Result<PathBuf> {
        let copy = folder.join(format!("postgres-{}", self.major));
        if !copy.exists() {
            let partial = copy.with_extension("partial");
            // What an interrupted attempt has left.
            let _ = fs::remove_dir_all(&partial);
            let mut cp = Command::new("cp");
            command::quietly(cp.args(["-R", "-P"]).arg(&self.root).arg(&partial))?;
            fs::rename(&partial, &copy).map_err(Failure::because(format!(
                "could not create {}",
                copy.display()
            )))?;
        }
        Ok(copy)
    }
}

/// `postgres (PostgreSQL) 15.18 (Debian …)` is 15.
fn major(version: &str) -> String {
    let number = version.split(' ').nth(2).unwrap_or_default();
    number.chars().take_while(char::is_ascii_digit).collect()
}

/// Where a server lives.
#[derive(Debug)]
pub(crate) struct Home {
    /// The data folder.
    pub(crate) data: PathBuf,
    bin: PathBuf,
    /// Whether the server runs as [`NOBODY`].
    drops_root: bool,
}

impl Home {
    /// Finds a place for `data` that the server's user can reach.
    pub(crate) fn prepare(data: &Path, binaries: &Binaries) -> Result<Self> {
        let folder = data.parent().unwrap_or(data);
        let name = data.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-{}", binaries.major);
        project::ensure_dir(folder)?;
        let folder = folder.canonicalize().map_err(Failure::because(format!(
            "{} can't be read",
            folder.display()
        )))?;
        let mut home = Self {
            data: folder.join(&name),
            bin: binaries.root.join("bin"),
            drops_root: is_root(),
        };
        if home.drops_root && !is_open(&folder) {
            let folder = open_folder(&folder)?;
            eprintln!(
                "  only root may enter this clone, so Postgres keeps its data in {}",
                folder.display()
            );
            home.data = folder.join(&name);
        }
        if home.drops_root && !is_open(&home.bin) {
            home.bin = binaries.copy_to(&open_folder(&binaries.root)?)?.join("bin");
        }
        Ok(home)
    }

    /// One of Postgres's programs, as the server's user.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        if self.drops_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        // The working folder may be closed to the server's user.
        command.current_dir("/");
        command
    }

    /// An empty folder of the server's user, closed to all others.
    pub(crate) fn make_dir(&self, dir: &Path) -> Result<()> {
        let wrong = || Failure::because(format!("could not create {}", dir.display()));
        project::ensure_dir(dir)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(wrong())?;
        if self.drops_root {
            chown(dir, Some(NOBODY), Some(NOBODY)).map_err(wrong())?;
        }
        Ok(())
    }
}

/// Whether every user may pass through `dir` and all above it.
fn is_open(dir: &Path) -> bool {
    dir.ancestors()
        .all(|dir| fs::metadata(dir).is_ok_and(|dir| dir.mode() & 0o001 != 0))
}

/// A folder under /var/tmp that stands for `dir`, open to be passed through and owned by root.
fn open_folder(dir: &Path) -> Result<PathBuf> {
    let digest = Inputs::default().text(&dir.to_string_lossy()).digest();
    let folder = Path::new("/var/tmp").join(format!("unavez-{digest}"));
    project::ensure_dir(&folder)?;
    let wrong = || Failure::because(format!("{} can't be used", folder.display()));
    // A link or a folder that somebody else has put there must not lead us elsewhere.
    let found = fs::symlink_metadata(&folder).map_err(wrong())?;
    if !found.is_dir() || found.uid() != 0 {
        return Err(Failure::new(format!(
            "{} belongs to somebody else: remove it",
            folder.display()
        )));
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).map_err(wrong())?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn data_folders_are_kept_apart_by_major_version() {
        assert_eq!(
            major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"),
            "15"
        );
        assert_eq!(major("postgres (PostgreSQL) 18beta1\n"), "18");
    }
}
