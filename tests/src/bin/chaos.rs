//! Chaos as a program: `chaos --seed S --seconds N [--unfenced]`. Its last line sums it up; it
//! ends with 1 where a promise was broken, or a kind of fault never happened.

use std::{env, process::ExitCode, time::Duration};
use tests::chaos::{self, Options};
use xtask::{
    arguments::Arguments,
    failure::{Failure, Result},
};

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let options = match options(Arguments::new(&words)) {
        Ok(options) => options,
        Err(failure) => {
            eprintln!("error: {failure}");
            return ExitCode::FAILURE;
        }
    };
    let report = chaos::run(options).await;
    println!("{report}");
    if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn options(mut arguments: Arguments) -> Result<Options> {
    let needed = |name| Failure::new(format!("{name} is needed"));
    let seed = arguments.value("--seed")?;
    let seconds = arguments.value("--seconds")?;
    let unfenced = arguments.flag("--unfenced");
    arguments.finish()?;
    Ok(Options {
        seed: seed.ok_or_else(|| needed("--seed"))?,
        time: Duration::from_secs(seconds.ok_or_else(|| needed("--seconds"))?),
        unfenced,
    })
}
