//! No process outlives the one that started it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use xtask::process::{Log, Process, wait_until};
use xtask::processes::{group_of, in_group};
use xtask::signal::Signal;

const ROLE: &str = "UNAVEZ_TEST_ROLE";
const LIMIT: Duration = Duration::from_secs(10);

/// A process that ignores the polite signal, with a child of its own.
fn stubborn() -> Process {
    let mut shell = Command::new("/bin/sh");
    shell.args([
        "-c",
        "trap '' TERM; sleep 300 & echo started; wait; sleep 300",
    ]);
    let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stubborn.log");
    Process::spawn(&mut shell, &Log::File(log), Signal::Terminate).expect("shell")
}

#[test]
fn a_stop_ends_what_the_process_has_started() {
    let process = stubborn();
    let group = group_of(process.pid()).expect("a group");
    assert!(
        wait_until(LIMIT, || in_group(group).len() >= 3),
        "shell, guard and sleep"
    );
    process.stop(Duration::from_millis(200));
    assert!(in_group(group).is_empty());
}

#[test]
fn a_killed_starter_leaves_no_process() {
    if std::env::var_os(ROLE).is_some() {
        let process = stubborn();
        println!("\npid {}", process.pid());
        std::thread::sleep(Duration::from_mins(5));
        return;
    }
    let mut starter = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "a_killed_starter_leaves_no_process",
            "--nocapture",
        ])
        .env(ROLE, "starter")
        .stdout(Stdio::piped())
        .spawn()
        .expect("starter");
    let lines = BufReader::new(starter.stdout.take().expect("output")).lines();
    let pid = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("pid ")?.parse().ok())
        .expect("the starter's line");
    let group = group_of(pid).expect("a group");
    starter.kill().expect("kill");
    starter.wait().expect("wait");
    assert!(
        wait_until(LIMIT, || in_group(group).is_empty()),
        "something is left"
    );
}
