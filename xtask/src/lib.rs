//! The project's commands, and the one place that knows how to build its parts and start them as processes.
//!
//! `cargo xtask` is the program; the package `tests` uses the library.

pub mod apt;
pub mod arguments;
pub mod artifacts;
pub mod bench;
pub mod chaos;
pub mod command;
pub mod debian_std;
mod deploy;
pub mod dev;
pub mod edge;
pub mod failure;
pub mod http;
pub mod licences;
pub mod lint;
pub mod node_packages;
pub mod postgres;
mod postgres_home;
pub mod process;
pub mod processes;
pub mod project;
pub mod setup;
pub mod signal;
pub mod stamp;
pub mod step;
pub mod test;
pub mod toolchain;
pub mod tools;
mod workerd_config;
pub mod wrangler_config;
