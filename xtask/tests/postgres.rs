//! The server on real binaries: its data outlives every way to end it.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::postgres::{Options, Postgres, Stop};
use xtask::process::{Log, wait_until};
use xtask::signal::{self, Signal};

fn options(name: &str) -> Options {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    Options {
        log: Log::File(folder.join("postgres.log")),
        data: folder.join("data"),
        port: free.expect("a free port").port(),
        settings: vec!["fsync=off".to_owned()],
    }
}

#[test]
fn a_server_starts_again_after_every_way_to_end() {
    let options = options("restart");
    let first = Postgres::start(&options).expect("first start");
    first.stop(Stop::Immediate);
    let second = Postgres::start(&options).expect("start after a crash");
    second.stop(Stop::Fast);
    let mut third = Postgres::start(&options).expect("start after a stop");
    signal::send(third.pid(), Signal::Kill);
    assert!(wait_until(Duration::from_secs(5), || third
        .ended()
        .is_some()));
    let begun = Instant::now();
    let fourth = Postgres::start(&options).expect("start after a kill");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "recovery took {:?}",
        begun.elapsed()
    );
    drop(fourth);
}

#[test]
fn a_lock_file_with_the_id_of_another_process_does_not_block_the_start() {
    let options = options("stale");
    Postgres::start(&options)
        .expect("first start")
        .stop(Stop::Fast);
    let mut bystander = Command::new("sleep").arg("60").spawn().expect("sleep");
    let data = std::fs::read_dir(options.data.parent().expect("a parent"))
        .expect("folder")
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.join("PG_VERSION").exists())
        .expect("data");
    std::fs::write(data.join("postmaster.pid"), format!("{}\n", bystander.id())).expect("write");
    let started = Postgres::start(&options);
    let unharmed = matches!(bystander.try_wait(), Ok(None));
    bystander.kill().expect("kill");
    bystander.wait().expect("wait");
    started.expect("start beside a stale lock file");
    assert!(unharmed);
}
