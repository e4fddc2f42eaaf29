//! A folder for the logs and the data of one test.

use std::{
    env, fs,
    path::{Path, PathBuf},
    thread,
};

/// The folder is removed at the end, unless the test has failed: then its path is printed.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one, where every user may reach it: Postgres runs as another than root.
    pub fn create() -> Self {
        let folder = env::temp_dir().join(format!("unavez-test-{}", uuid::Uuid::new_v4()));
        fs::create_dir(&folder).expect("a writable folder");
        Self(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the logs of this test are in {}", self.0.display());
        } else {
            // What can't be removed is in nobody's way.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
