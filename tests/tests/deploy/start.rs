//! How an origin starts and ends where it is deployed.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    time::Duration,
};
use tests::{
    client::{ORDER, fresh_key},
    database::Database,
    eventually::eventually,
    folder::Folder,
    port,
    sandbox::Sandbox,
    world::World,
};
use tokio::task::spawn_blocking;
use xtask::{
    artifacts::{Profile, Programs, default_policy},
    process::{Log, Process},
    signal::{self, Signal},
};

const LIMIT: Duration = Duration::from_secs(30);

fn origin(port: u16) -> Command {
    let mut origin = Command::new(Programs::of(Profile::Dev).origin);
    origin
        .env_clear()
        .env("BIND", format!("127.0.0.1:{port}"))
        .env("POLICY_FILE", default_policy())
        .env("SEED_STOCK", "dev");
    origin
}

async fn health(port: u16) -> Output {
    let mut health = origin(port);
    health.arg("health");
    let output = spawn_blocking(move || health.output()).await;
    output.expect("no panic").expect("an origin that is built")
}

fn file(folder: &Folder, name: &str, text: &str) -> String {
    let file = folder.file(name);
    fs::write(&file, text).expect("a writable folder");
    file.to_string_lossy().into_owned()
}

fn start(command: &mut Command, log: &Path) -> Process {
    Process::spawn(command, &Log::File(log.to_owned()), Signal::Terminate).expect("a process")
}

async fn ready(port: u16) {
    let ready = async || health(port).await.status.success();
    eventually("an origin that is ready", LIMIT, ready).await;
}

#[tokio::test]
async fn secrets_come_from_files_and_health_is_asked_without_a_shell() {
    let (database, sandbox, folder) = (
        Database::create().await,
        Sandbox::start().await,
        Folder::create(),
    );
    let port = port::free();
    assert!(!health(port).await.status.success(), "nothing listens yet");
    let mut command = origin(port);
    command
        .current_dir("/")
        .env(
            "DATABASE_URL_FILE",
            file(&folder, "url", &format!("{}\n", database.url())),
        )
        .env("PROVIDER_URL", sandbox.url())
        .env(
            "PROVIDER_SECRET_FILE",
            file(&folder, "secret", "sk_test_sandbox\n"),
        );
    let mut process = start(&mut command, &folder.file("origin.log"));
    ready(port).await;
    let client = tests::client::Client::new(format!("http://127.0.0.1:{port}"));
    client.place(&fresh_key(), ORDER).await.assert_executed();
    signal::send(process.pid(), Signal::Terminate);
    let ended = async || process.ended().is_some();
    eventually("an orderly end", LIMIT, ended).await;
    assert!(process.ended().is_some_and(|status| status.success()));
}

#[tokio::test]
async fn a_secret_that_is_given_twice_is_refused_by_its_name() {
    let folder = Folder::create();
    let mut command = origin(port::free());
    command.env("DATABASE_URL", "postgres://localhost/x").env(
        "DATABASE_URL_FILE",
        file(&folder, "url", "postgres://localhost/y"),
    );
    let output = spawn_blocking(move || command.output()).await;
    let output = output.expect("no panic").expect("an origin that is built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("DATABASE_URL is set beside its file"),
        "{said}"
    );
}

#[tokio::test]
async fn several_origins_that_start_at_once_migrate_once() {
    let (database, folder) = (Database::create().await, Folder::create());
    let ports: Vec<_> = (0..4).map(|_| port::free()).collect();
    let origins: Vec<_> = ports
        .iter()
        .map(|port| {
            let mut command = origin(*port);
            command.env("DATABASE_URL", database.url());
            start(&mut command, &folder.file(&format!("{port}.log")))
        })
        .collect();
    for port in ports {
        ready(port).await;
        let log = fs::read_to_string(folder.file(&format!("{port}.log"))).unwrap_or_default();
        assert!(!log.contains("not up to date"), "{log}");
    }
    let applied = "SELECT count(*) FROM _sqlx_migrations WHERE success";
    let files = fs::read_dir(xtask::project::root().join("migrations")).expect("migrations");
    assert_eq!(
        usize::try_from(database.number(applied).await),
        Ok(files.count())
    );
    drop(origins);
}

#[tokio::test]
async fn an_origin_that_is_told_to_end_lets_what_runs_end_first() {
    let (mut world, key) = (World::builder().unsigned().start().await, fresh_key());
    let placed = world.begin_order(&key, 1_500).await;
    world.origins[0].terminate().await;
    let answer = placed.await.expect("no panic").expect("an answer");
    answer.assert_executed();
    world.assert_orders(1).await;
}

#[tokio::test]
async fn an_origin_starts_on_a_schema_that_a_newer_one_has_expanded() {
    let (mut world, key) = (World::builder().unsigned().start().await, fresh_key());
    let first = world.client().place(&key, ORDER).await;
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (9999, 'of the next version', true, ''::bytea, 1)";
    world.database.execute(newer).await;
    let expanded = "ALTER TABLE idempotency_records ADD COLUMN of_the_next_version text";
    world.database.execute(expanded).await;
    world.origins[0].terminate().await;
    world.origins[0].restart().await;
    let client = world.origins[0].client();
    let retry = client.place(&key, ORDER).await;
    assert_eq!((retry.status, retry.replayed()), (201, Some(true)));
    assert_eq!(retry.body, first.body);
    client.place(&fresh_key(), ORDER).await.assert_executed();
    world.assert_orders(2).await;
}
