//! `pgbench`, prepared, with the product's own statements: the limit of what Postgres gives.

use std::{fs, path::PathBuf, process::Command, time::Duration};
use xtask::failure::{Failure, Result};

/// A script and where it runs.
pub(super) struct Pgbench {
    script: PathBuf,
    database_url: String,
}

/// As the origin's sessions are.
const SESSION: &str = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off";

/// One row, named by a random number, in the place of the arrays of a batch. What is left out of
/// the parentheses below is the same in both statements: scope and owner.
const SCOPE: &str = "ARRAY[sha256(int8send(:n))]";
const OWNER: &str = "ARRAY[md5((:n)::bigint::text)::uuid]";
const RANDOM: &str = "\\set n random(1, 9000000000000000000)\n";

/// What a first request is: a claim, then a finish.
pub(super) fn claim_and_finish(body: &str) -> String {
    let body = format!("ARRAY['{body}'::bytea]");
    let claim = filled(
        include_str!("../../../origin/src/store/claim.sql"),
        &[
            SCOPE,
            SCOPE,
            "ARRAY[1]",
            OWNER,
            "ARRAY[15000000]",
            "ARRAY['x'::bytea]",
            &body,
            SCOPE,
            SCOPE,
            "ARRAY['POST']",
            "ARRAY['/inserts']",
            "ARRAY['']",
        ],
    );
    let location = "ARRAY['/inserted/' || md5((:n)::bigint::text)]";
    let headers = "ARRAY['content-type: application/json, location: /inserted/'::bytea]";
    let finish = filled(
        include_str!("../../../origin/src/store/finish.sql"),
        &[
            SCOPE,
            "ARRAY[1]",
            "ARRAY[1]",
            OWNER,
            "ARRAY[86400000000]",
            "ARRAY['succeeded']",
            "ARRAY[true]",
            location,
            "ARRAY[201]",
            headers,
            &body,
            "ARRAY[NULL]",
        ],
    );
    format!("{RANDOM}{claim};\n{finish};\n")
}

/// Reading one of the records from the first to this one, by its primary key.
pub(super) fn select(records: u64) -> String {
    format!(
        "\\set n random(1, {records})\nSELECT * FROM idempotency_records WHERE scope = sha256(int8send(:n));\n"
    )
}

/// The statement with each parameter replaced, and no comments.
fn filled(statement: &str, parameters: &[&str]) -> String {
    let lines = statement
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    // The last one first, so that $1 does not begin $10.
    for (n, parameter) in (1..).zip(parameters).collect::<Vec<_>>().into_iter().rev() {
        text = text.replace(&format!("${n}::"), &format!("{parameter}::"));
    }
    text
}

impl Pgbench {
    /// Writes the script to this file.
    pub(super) fn new(script: PathBuf, text: &str, database_url: &str) -> Result<Self> {
        fs::write(&script, text).map_err(Failure::because("a script can't be written"))?;
        Ok(Self {
            script,
            database_url: database_url.to_owned(),
        })
    }

    /// Transactions a second: scripts that were run to their end.
    pub(super) async fn rate(&self, clients: usize, time: Duration) -> Result<f64> {
        let mut command = Command::new(program()?);
        command
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2"])
            .arg(format!("--client={clients}"))
            .arg(format!("--time={}", time.as_secs()))
            .arg(format!("--file={}", self.script.display()))
            .arg(&self.database_url)
            .env("PGOPTIONS", SESSION);
        let ran = tokio::task::spawn_blocking(move || command.output()).await;
        let output = ran
            .map_err(Failure::because("pgbench"))?
            .map_err(Failure::because("pgbench could not be started"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rate = text
            .lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.filter(|_| output.status.success()).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            Failure::new(format!("pgbench failed: {errors}"))
        })
    }
}

/// The newest of Debian's, or whatever is in the path.
fn program() -> Result<PathBuf> {
    let of_debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<_> = of_debian
        .filter_map(|version| Some(version.ok()?.path().join("bin/pgbench")))
        .chain(
            std::env::var_os("PATH")
                .iter()
                .flat_map(std::env::split_paths)
                .map(|folder| folder.join("pgbench")),
        )
        .filter(|program| program.exists())
        .collect();
    found.sort();
    found.pop().ok_or_else(|| {
        Failure::new("there is no pgbench: install Debian's package postgresql, whose programs the benchmark needs")
    })
}
