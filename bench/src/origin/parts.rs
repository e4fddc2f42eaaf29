//! What runs during the benchmark: a durable Postgres, origins, and the plain service beside them.

use crate::service::Service;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::{fs, process::Command};
use tests::{folder::Folder, port};
use xtask::{
    artifacts::{Profile, Programs},
    command,
    failure::{Failure, Result},
    postgres,
    process::Log,
    project,
    step::step,
};

const POLICY: &str = "[[route]]\nmatch = \"POST /inserts\"\noperation = \"insert\"\n";

/// A Postgres that keeps what it has committed, as in production.
pub(super) fn start_postgres(folder: &Folder) -> Result<postgres::Postgres> {
    let settings = [
        "max_connections=300",
        "shared_buffers=1GB",
        "max_wal_size=8GB",
    ];
    postgres::Postgres::start(&postgres::Options {
        data: folder.file("postgres"),
        port: port::free(),
        settings: settings.map(str::to_owned).to_vec(),
        log: Log::File(folder.file("postgres.log")),
    })
}

/// Builds the origin with the operation that only inserts.
pub(super) fn build_origin() -> Result<()> {
    step(
        "building the origin with its benchmark's operation (release)",
        || {
            let mut cargo = Command::new("cargo");
            cargo.current_dir(project::root()).args([
                "build",
                "--release",
                "-p",
                "origin",
                "--features",
                "bench",
                "--bin",
                "origin",
            ]);
            command::visibly(&mut cargo)
        },
    )
}

/// An origin on this database, with so much memory for archived responses.
pub(super) async fn start_origin(
    folder: &Folder,
    name: &str,
    database_url: &str,
    cache: u64,
) -> Result<Service> {
    let mut origin = origin(folder, POLICY, database_url)?;
    origin.env("ARCHIVE_CACHE_BYTES", cache.to_string());
    Service::start(origin, &folder.file(name)).await
}

/// An origin with the reference operation and this upstream at `/`.
pub(super) async fn start_gateway(
    folder: &Folder,
    database_url: &str,
    upstream: &str,
    provider: &str,
) -> Result<Service> {
    let policy = format!(
        "[[route]]\nmatch = \"POST /orders\"\noperation = \"orders\"\n\
         [[route]]\nmatch = \"POST /\"\nupstream = \"{upstream}\"\n"
    );
    let mut origin = origin(folder, &policy, database_url)?;
    origin
        .env("PROVIDER_URL", provider)
        .env("SEED_STOCK", "dev");
    Service::start(origin, &folder.file("gateway.log")).await
}

fn origin(folder: &Folder, policy: &str, database_url: &str) -> Result<Command> {
    let file = folder.file("policy.toml");
    fs::write(&file, policy).map_err(Failure::because("the policy can't be written"))?;
    let mut origin = Command::new(Programs::of(Profile::Release).origin);
    origin
        .env_clear()
        .env("RUST_LOG", "warn")
        .env("DATABASE_URL", database_url)
        .env("POLICY_FILE", file);
    Ok(origin)
}

/// A new database on the server, by its URL.
pub(super) async fn create_database(server: &str, name: &str) -> Result<String> {
    execute(server, &format!("CREATE DATABASE {name}")).await?;
    Ok(server
        .replace("/postgres?", "/")
        .trim_end_matches("/postgres")
        .to_owned()
        + "/"
        + name)
}

/// Fills the store with finished records and their answers, numbered from 1.
pub(super) async fn fill(database_url: &str, rows: u64) -> Result<()> {
    let drop = "ALTER TABLE idempotency_records DROP CONSTRAINT idempotency_records_pkey;
                ALTER TABLE archived_responses DROP CONSTRAINT archived_responses_pkey";
    let records = format!(
        "INSERT INTO idempotency_records (
             scope, fingerprint, fingerprint_version, generation, state, fence, owner, lease_end,
             attempts, principal, key_hash, method, path, query, first_seen, finished_at,
             expires_at, archive_day, location)
         SELECT sha256(int8send(n)), sha256(int8send(n)), 1, 1, 'succeeded', 1,
                md5(n::text)::uuid, now(), 1, sha256('p'), sha256(int8send(n)), 'POST',
                '/inserts', '', now(), now(), now() + interval '1 day',
                ((now() + interval '1 day') AT TIME ZONE 'UTC')::date, '/inserted/' || n
         FROM generate_series(1, {rows}) AS n"
    );
    let archive = "
        INSERT INTO archived_responses (expires_day, scope, generation, status, headers, body)
        SELECT archive_day, scope, 1, 201, '\\x00', scope FROM idempotency_records";
    let keys = "ALTER TABLE idempotency_records ADD PRIMARY KEY (scope);
                ALTER TABLE archived_responses ADD PRIMARY KEY (expires_day, scope, generation)";
    for statement in [
        drop,
        &records,
        archive,
        keys,
        "VACUUM ANALYZE",
        "CHECKPOINT",
    ] {
        execute(database_url, statement).await?;
    }
    Ok(())
}

async fn execute(url: &str, statements: &str) -> Result<()> {
    let failed = Failure::because("a statement failed");
    let mut connection = PgConnection::connect(url)
        .await
        .map_err(Failure::because("no connection to Postgres"))?;
    let done = connection
        .execute(sqlx::raw_sql(AssertSqlSafe(statements)))
        .await;
    done.map(drop).map_err(failed)
}
