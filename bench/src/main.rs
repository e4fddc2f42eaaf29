//! The benchmarks: `cargo xtask bench <hash|origin|edge> [--json] [FILTER…]` builds and runs them.

mod echo;
mod edge;
mod hash;
mod load;
mod origin;
mod report;
mod rounds;
mod service;

use report::Report;
use std::{env, process::ExitCode};
use xtask::{
    arguments::Arguments,
    failure::{Failure, Result},
};

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", failure.chain());
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[String]) -> Result<()> {
    let (bench, options) = words
        .split_first()
        .ok_or_else(|| Failure::new("name a benchmark: hash, origin or edge"))?;
    let mut options = Arguments::new(options);
    let json = options.flag("--json");
    let (rows, keys) = (options.value("--rows")?, options.value("--keys")?);
    match bench.as_str() {
        "hash" => hash::run(&Report::new(json, options.names()?)).await,
        "origin" => origin::run(&Report::new(json, options.names()?), rows).await,
        "edge" => edge::run(&Report::new(json, options.names()?), keys).await,
        "echo" => echo::serve().await,
        other => Err(Failure::new(format!("there is no benchmark {other}"))),
    }
}
