//! The benchmarks: `cargo xtask bench <hash|origin|edge> [--json] [FILTER…]` builds and runs them.

mod hash;
mod report;
mod rounds;

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
        .ok_or_else(|| Failure::new("name a benchmark: hash"))?;
    let mut options = Arguments::new(options);
    let json = options.flag("--json");
    match bench.as_str() {
        "hash" => hash::run(&Report::new(json, options.names()?)).await,
        other => Err(Failure::new(format!("there is no benchmark {other}"))),
    }
}
