//! What an operator types: the origin's commands on records.

use crate::database::Database;
use serde_json::Value;
use std::process::{Command, Output};
use tokio::task::spawn_blocking;
use xtask::{
    artifacts::{Profile, Programs},
    project,
};

/// Runs `origin records` with these words on this database, in the name of `mara`.
pub async fn records(database: &Database, words: &[&str]) -> Output {
    let mut origin = Command::new(Programs::of(Profile::Dev).origin);
    origin
        .current_dir(project::root())
        .arg("records")
        .args(words)
        .env_clear()
        .env("USER", "mara")
        .env("DATABASE_URL", database.url());
    let output = spawn_blocking(move || origin.output()).await;
    output.expect("no panic").expect("an origin that is built")
}

/// As [`records`], where it succeeds; what it prints.
pub async fn printed(database: &Database, words: &[&str]) -> String {
    let output = records(database, words).await;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// As [`printed`], with `--json`.
pub async fn json(database: &Database, words: &[&str]) -> Value {
    let words: Vec<_> = words.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&printed(database, &words).await).expect("JSON")
}

/// As [`records`], where it is refused; what it says.
pub async fn refused(database: &Database, words: &[&str]) -> String {
    let output = records(database, words).await;
    assert!(!output.status.success(), "{words:?} was not refused");
    String::from_utf8(output.stderr).expect("UTF-8")
}
