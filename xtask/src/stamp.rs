//! Stamp files: a step that has been done for these very inputs is not done again.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// Collects what a step depends on.
#[derive(Default)]
pub struct Inputs(DefaultHasher);

impl Inputs {
    /// A version, a profile, a name.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        text.hash(&mut self.0);
        self
    }

    /// A file by its content, or a folder by all files below it. What is absent counts as absent.
    pub fn path(mut self, path: &Path) -> Result<Self> {
        for file in files(path)? {
            file.hash(&mut self.0);
            fs::read(&file)
                .map_err(Failure::because(format!(
                    "could not read {}",
                    file.display()
                )))?
                .hash(&mut self.0);
        }
        Ok(self)
    }

    /// 16 hex digits that change with any input.
    pub fn digest(self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

/// Whether `stamp` says that the step was last done for `digest`.
pub fn is_fresh(stamp: &Path, digest: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|text| text == digest)
}

/// Records that the step was done for `digest`.
pub fn write(stamp: &Path, digest: &str) -> Result<()> {
    fs::write(stamp, digest).map_err(Failure::because(format!(
        "could not write {}",
        stamp.display()
    )))
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable = || Failure::because(format!("could not list {}", path.display()));
    let mut entries = fs::read_dir(path)
        .map_err(unreadable())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(unreadable())?;
    entries.sort();
    let nested: Result<Vec<_>> = entries.iter().map(|entry| files(entry)).collect();
    Ok(nested?.concat())
}
