//! Programs that run to their end.

use std::env;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::signal::{self, Signal};

/// Runs with the terminal's own output, for steps whose progress should be seen.
/// Standard output is joined to stderr, as ours belongs to results.
pub fn visibly(command: &mut Command) -> Result<()> {
    let name = name_of(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .spawn()
        .map_err(|error| not_started(&name, error))?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                let sentence = format!("{name} failed ({status}); its reason stands above");
                return Err(Failure::new(sentence));
            }
            Ok(None) if signal::asked_to_end() => {
                signal::send(child.id(), Signal::Terminate);
                // It ends by the signal or by itself.
                let _ = child.wait();
                return Err(Failure::new(format!("{name} was stopped")));
            }
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Runs unseen and returns what it wrote to standard output; a failure shows all that it wrote.
pub fn quietly(command: &mut Command) -> Result<String> {
    let name = name_of(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started(&name, error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(&name, &output))
    }
}

/// Runs unseen and says whether it succeeded within `limit`; after that it is killed.
pub fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let unseen = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = unseen.spawn() else {
        return false;
    };
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
            _ => {
                // Killing can only fail when it has ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Makes the programs in `dir` the first that `command` and its children find.
pub fn prefer(command: &mut Command, dir: &Path) -> Result<()> {
    let set = command
        .get_envs()
        .find_map(|(name, value)| (name == "PATH").then_some(value?.to_owned()));
    let path = set.or_else(|| env::var_os("PATH")).unwrap_or_default();
    let dirs = std::iter::once(dir.to_path_buf()).chain(env::split_paths(&path));
    let path = env::join_paths(dirs).map_err(Failure::because("PATH could not be extended"))?;
    command.env("PATH", path);
    Ok(())
}

fn name_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(2));
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

fn not_started(name: &str, error: std::io::Error) -> Failure {
    if error.kind() == ErrorKind::NotFound {
        Failure::new(format!("`{name}` is not installed or not in PATH"))
    } else {
        Failure::because(format!("`{name}` could not be started"))(error)
    }
}

fn failed(name: &str, output: &Output) -> Failure {
    Failure::new(format!(
        "`{name}` failed ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}
