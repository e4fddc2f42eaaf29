//! The parts of the system and what each is told.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use super::options::Options;
use super::part::{Part, Start};
use crate::artifacts::{Programs, Worker};
use crate::edge::{self, Runtime};
use crate::failure::{Failure, Result};
use crate::postgres;
use crate::process::{Log, Process};
use crate::project;
use crate::setup::Setup;
use crate::signal::Signal;

/// The key of `--signed`; it opens nothing but a development system on this machine.
const DEVELOPMENT_KEYS: &str = "development:dW5hdmV6IGRldmVsb3BtZW50IGVkZ2Uga2V5";
/// Of the webhook that the sandbox provider receives, unless `WEBHOOK_URL` names another.
const WEBHOOK_SECRET: &str = "whsec_dW5hdmV6IGRldmVsb3BtZW50IHdlYmhvb2s=";
/// Seals what a development system stores, so that it still opens after a restart.
const SEALING_KEYS: &str = "ZGV2ZWxvcG1lbnQ6IG5vIHNlY3JldCBhdCBhbGwhISE=";

/// What the Worker knows beside `ORIGIN_URL` and the keys of the signed hop.
const EDGE_VARIABLES: [&str; 6] = [
    "JWT_AUDIENCE",
    "JWT_HS256_SECRET",
    "JWT_ISSUER",
    "JWT_JWKS",
    "JWT_JWKS_URL",
    "LOCK_SHARDS",
];

/// What has been built.
pub(super) struct Built {
    programs: Programs,
    worker: PathBuf,
}

impl Built {
    pub(super) fn build(options: &Options) -> Result<Self> {
        let worker = Worker::new(options.profile, &options.policy)?;
        let setup = Setup::ensure()?;
        let programs = Programs::build(options.profile)?;
        let worker = worker.build(&setup)?;
        Ok(Self { programs, worker })
    }
}

/// Starts all parts, each as soon as what it needs is there.
pub(super) fn start(options: &Options, built: &Built) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let own_postgres = postgres::url(options.ports.postgres);
    let database_url = options.database_url.as_ref().unwrap_or(&own_postgres);
    if options.database_url.is_none() {
        parts.push(start_postgres(options.ports.postgres)?);
    }
    let probe = Some((options.ports.provider, "/_sandbox/charges"));
    parts.push(Part::start(
        "provider".to_owned(),
        probe,
        provider(options, built),
    )?);
    for n in 0..options.origins {
        let probe = Some((options.ports.origin + n, "/readyz"));
        let start = origin(options, built, n, database_url)?;
        parts.push(Part::start(numbered("origin", n), probe, start)?);
    }
    for n in 0..options.edges {
        let probe = Some((options.ports.edge + n, "/healthz"));
        let start = edge(options, built, n)?;
        parts.push(Part::start(numbered("edge", n), probe, start)?);
    }
    Ok(parts)
}

/// `edge`, `edge_2`, `edge_3`.
pub(super) fn numbered(name: &str, n: u16) -> String {
    if n == 0 {
        name.to_owned()
    } else {
        format!("{name}_{}", n + 1)
    }
}

fn start_postgres(port: u16) -> Result<Part> {
    let options = postgres::Options {
        data: project::state().join("postgres"),
        port,
        settings: Vec::new(),
        log: lines("postgres"),
    };
    let start = move || postgres::spawn(&options).map(|(process, _)| process);
    Part::start("postgres".to_owned(), None, Box::new(start))
}

fn provider(options: &Options, built: &Built) -> Start {
    let program = built.programs.provider.clone();
    let bind = local(options.ports.provider);
    spawning("provider".to_owned(), move || {
        let mut provider = Command::new(&program);
        provider.env("BIND", &bind);
        provider
    })
}

fn origin(options: &Options, built: &Built, n: u16, database_url: &str) -> Result<Start> {
    let program = built.programs.origin.clone();
    let provider = format!("http://{}", local(options.ports.provider));
    let policy = options
        .policy
        .canonicalize()
        .map_err(Failure::because("the policy can't be read"))?;
    let mut variables = vec![
        ("BIND", local(options.ports.origin + n)),
        ("DATABASE_URL", database_url.to_owned()),
        ("POLICY_FILE", policy.to_string_lossy().into_owned()),
        ("PROVIDER_URL", provider.clone()),
        ("SEED_STOCK", "dev".to_owned()),
    ];
    if env::var_os("SEALING_KEYS").is_none() {
        variables.push(("SEALING_KEYS", SEALING_KEYS.to_owned()));
    }
    if env::var_os("WEBHOOK_URL").is_none() {
        variables.push(("WEBHOOK_URL", format!("{provider}/_sandbox/webhook")));
        variables.push(("WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()));
    }
    let keys = edge_keys(options);
    Ok(spawning(numbered("origin", n), move || {
        let mut origin = Command::new(&program);
        origin
            .current_dir(project::root())
            .envs(variables.iter().cloned());
        match &keys {
            Some(keys) => origin.env("EDGE_KEYS", keys),
            // So that it answers without an edge as well.
            None => origin.env_remove("EDGE_KEYS"),
        };
        origin
    }))
}

fn edge(options: &Options, built: &Built, n: u16) -> Result<Start> {
    let origin = options.ports.origin + n % options.origins;
    let mut bindings = vec![("ORIGIN_URL".to_owned(), format!("http://{}", local(origin)))];
    bindings.extend(edge_keys(options).map(|keys| ("EDGE_KEYS".to_owned(), keys)));
    for name in EDGE_VARIABLES {
        bindings.extend(env::var(name).ok().map(|value| (name.to_owned(), value)));
    }
    if let Ok(file) = env::var("JWT_JWKS_FILE") {
        let keys = std::fs::read_to_string(&file).map_err(Failure::because(format!(
            "JWT_JWKS_FILE {file} can't be read"
        )))?;
        bindings.push(("JWT_JWKS".to_owned(), keys));
    }
    let name = numbered("edge", n);
    let options = edge::Options {
        worker: built.worker.clone(),
        runtime: Runtime::Wrangler(project::state().join(&name)),
        port: options.ports.edge + n,
        bindings,
        log: lines(&name),
    };
    Ok(Box::new(move || edge::spawn(&options)))
}

fn edge_keys(options: &Options) -> Option<String> {
    let given = env::var("EDGE_KEYS").ok();
    options
        .signed
        .then(|| given.unwrap_or_else(|| DEVELOPMENT_KEYS.to_owned()))
}

fn spawning(name: String, command: impl Fn() -> Command + 'static) -> Start {
    Box::new(move || Process::spawn(&mut command(), &lines(&name), Signal::Terminate))
}

fn lines(name: &str) -> Log {
    Log::Lines(name.to_owned())
}

fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
