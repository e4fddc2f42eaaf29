//! What `cargo xtask dev` is told, by its options and the environment.

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::artifacts::{Profile, default_policy};
use crate::failure::{Failure, Result};

/// The whole system as it was asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) edges: u16,
    pub(super) origins: u16,
    pub(super) policy: PathBuf,
    /// Whether edges sign and origins demand it.
    pub(super) signed: bool,
    pub(super) profile: Profile,
    /// Somebody else's Postgres, instead of one of ours.
    pub(super) database_url: Option<String>,
    pub(super) ports: Ports,
}

/// The first port of each part; further edges and origins follow on the next ones.
#[derive(Debug)]
pub(super) struct Ports {
    pub(super) edge: u16,
    pub(super) origin: u16,
    pub(super) provider: u16,
    pub(super) postgres: u16,
}

impl Options {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self> {
        let options = Self {
            edges: arguments.value("--edges")?.unwrap_or(1),
            origins: arguments.value("--origins")?.unwrap_or(1),
            policy: arguments.value("--policy")?.unwrap_or_else(default_policy),
            signed: arguments.flag("--signed"),
            profile: if arguments.flag("--release") {
                Profile::Release
            } else {
                Profile::Dev
            },
            database_url: env::var("DATABASE_URL").ok().filter(|url| !url.is_empty()),
            ports: Ports {
                edge: port("EDGE_PORT", 8787)?,
                origin: port("ORIGIN_PORT", 8080)?,
                provider: port("PROVIDER_PORT", 8090)?,
                postgres: port("POSTGRES_PORT", 54329)?,
            },
        };
        arguments.finish()?;
        if options.edges == 0 || options.origins == 0 {
            return Err(Failure::new(
                "there must be at least one edge and one origin",
            ));
        }
        Ok(options)
    }

    /// Refuses ports on which somebody listens; those of a run that was killed may take `patience` to become free.
    pub(super) fn check_ports(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        let mut held = Vec::new();
        for (variable, port) in self.all_ports() {
            loop {
                match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
                    Ok(listener) => break held.push(listener),
                    Err(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
                    Err(error) => {
                        let taken = format!("port {port} is taken, choose another by {variable}");
                        return Err(Failure::because(taken)(error));
                    }
                }
            }
        }
        Ok(())
    }

    fn all_ports(&self) -> Vec<(&'static str, u16)> {
        let ports = &self.ports;
        let mut all: Vec<_> = (0..self.edges)
            .map(|n| ("EDGE_PORT", ports.edge + n))
            .collect();
        all.extend((0..self.origins).map(|n| ("ORIGIN_PORT", ports.origin + n)));
        all.push(("PROVIDER_PORT", ports.provider));
        if self.database_url.is_none() {
            all.push(("POSTGRES_PORT", ports.postgres));
        }
        all
    }
}

fn port(variable: &str, default: u16) -> Result<u16> {
    match env::var(variable) {
        Err(_) => Ok(default),
        Ok(text) => text
            .parse()
            .map_err(|_| Failure::new(format!("{variable} is not a port: {text:?}"))),
    }
}
