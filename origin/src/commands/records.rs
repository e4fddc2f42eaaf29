//! `origin records`: what an operator looks at, and what only an operator may settle.

mod print;
mod select;

use crate::Failure;
use clap::{Args, Subcommand};
use origin::{
    Config,
    config::Environment,
    store::{By, Desk, Hand, Summary, Terms},
};
use protocol::{
    policy::{Policy, Route},
    record::Outcome,
    response::{Header, Response},
};
use select::Select;
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// What is done with records.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    /// Show the records of a selection, one a line.
    List {
        #[command(flatten)]
        select: Select,
        #[command(flatten)]
        shown: Shown,
    },
    /// Show all of one record: its state, its archived response and what operators have changed.
    Show {
        /// The first digits of its scope.
        scope: String,
        #[command(flatten)]
        shown: Shown,
    },
    /// Say of a pending operation that it never happened: its key may be used again.
    Release {
        /// The first digits of its scope.
        scope: String,
        #[command(flatten)]
        by: Operator,
    },
    /// Settle an unknown outcome, as done or as not done.
    Resolve(Resolve),
    /// Remove records that have ended, with what is archived of them. Their keys may be used again.
    Purge {
        #[command(flatten)]
        select: Select,
        #[command(flatten)]
        by: Operator,
    },
}

/// How the answer is printed.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// JSON, for programs.
    #[arg(long)]
    json: bool,
}

/// Who is at it, and why.
#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// Your name, for the record of changes.
    #[arg(long, env = "USER")]
    operator: String,
    /// Why, for whoever reads the record of changes.
    #[arg(long, default_value = "")]
    note: String,
}

/// `origin records resolve`.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The first digits of its scope.
    scope: String,
    /// It never happened: as `release`.
    #[arg(long, conflicts_with = "done", required_unless_present = "done")]
    not_done: bool,
    /// It happened, and this status is the answer to it: 2xx and 3xx are successes.
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..600))]
    done: Option<u16>,
    /// A header line of the answer, such as "location: /orders/1".
    #[arg(long, value_name = "LINE", requires = "done")]
    header: Vec<String>,
    /// The answer's body: a file, or - for standard input. Without it there is none.
    #[arg(long, value_name = "FILE", requires = "done")]
    body: Option<PathBuf>,
    /// The policy that says how long the answer is kept.
    #[arg(long, default_value = "policy.toml", env = "POLICY_FILE")]
    policy: PathBuf,
    #[command(flatten)]
    by: Operator,
}

/// Carries a command out.
pub(crate) async fn run(command: RecordsCommand) -> Result<(), Failure> {
    let environment = Environment::read()?;
    let url = Config::database_url(|name| environment.get(name))?;
    let desk = Desk::open(&url)?;
    let done = match command {
        RecordsCommand::List { select, shown } => {
            let found = desk.list(&select.filter()?).await?;
            print::list(&found, shown.json)
        }
        RecordsCommand::Show { scope, shown } => show(&desk, &scope, shown.json).await,
        RecordsCommand::Release { scope, by } => not_done(&desk, &scope, &by, "release").await,
        RecordsCommand::Resolve(resolve) => match resolve.done {
            Some(status) => settle(&desk, &resolve, status).await,
            None => not_done(&desk, &resolve.scope, &resolve.by, "resolve").await,
        },
        RecordsCommand::Purge { select, by } => purge(&desk, &select, &by).await,
    };
    desk.close().await;
    done
}

async fn show(desk: &Desk, scope: &str, json: bool) -> Result<(), Failure> {
    let found = one(desk, scope).await?;
    let archived = desk.archived(&found.scope).await?;
    let changes = desk.changes(&found.scope).await?;
    print::show(&found, archived.as_ref(), &changes, json)
}

async fn not_done(desk: &Desk, scope: &str, by: &Operator, action: &str) -> Result<(), Failure> {
    let met = one(desk, scope).await?;
    let owner = fresh_owner();
    desk.settle_as_not_done(&met.scope, &met.hold, owner, by.signed(), action)
        .await
        .map_err(|error| taken(&error, &met))?;
    println!(
        "{} counts as absent; its key may be used again",
        met.scope.prefix()
    );
    Ok(())
}

async fn settle(desk: &Desk, resolve: &Resolve, status: u16) -> Result<(), Failure> {
    let policy = super::policy(&resolve.policy)?;
    let response = Response {
        status,
        headers: headers(&resolve.header)?,
        body: body(resolve.body.as_deref())?,
    };
    let met = one(desk, &resolve.scope).await?;
    let outcome = if status < 400 {
        Outcome::Succeeded
    } else {
        Outcome::Failed
    };
    let hand = hand(&policy, &met)?;
    desk.settle_as_done(
        &hand,
        fresh_owner(),
        outcome,
        &response,
        resolve.by.signed(),
    )
    .await
    .map_err(|error| taken(&error, &met))?;
    println!("{} has ended; retries get {status}", met.scope.prefix());
    Ok(())
}

async fn purge(desk: &Desk, select: &Select, by: &Operator) -> Result<(), Failure> {
    if select.is_everything() {
        return Err("name what to purge: everything is never meant".into());
    }
    let purged = desk.purge(&select.filter()?, by.signed()).await?;
    println!("{purged} purged; an edge or an origin may replay them for up to a minute");
    Ok(())
}

/// The one record whose scope begins so.
async fn one(desk: &Desk, scope: &str) -> Result<Summary, Failure> {
    let mut found = desk.list(&select::by_scope(scope)?).await?;
    match (found.pop(), found.is_empty()) {
        (Some(found), true) => Ok(found),
        (None, _) => Err(format!("no record's scope begins with {scope}").into()),
        (Some(_), false) => {
            Err(format!("several scopes begin with {scope}: name more digits").into())
        }
    }
}

fn hand(policy: &Policy, met: &Summary) -> Result<Hand, Failure> {
    let route: &Route = policy
        .route(&met.method, &met.path)
        .ok_or_else(|| format!("the policy has no route for {} {}", met.method, met.path))?;
    Ok(Hand {
        scope: met.scope,
        hold: met.hold,
        terms: Terms::of(route),
    })
}

/// What an operator is told where the record was not as it had been read.
fn taken(error: &origin::store::Error, met: &Summary) -> Failure {
    match error {
        origin::store::Error::HoldLost => format!(
            "{} is {}, or an attempt is at it right now: look again",
            met.scope.prefix(),
            met.state
        )
        .into(),
        error => error.to_string().into(),
    }
}

fn headers(lines: &[String]) -> Result<Vec<Header>, Failure> {
    let header = |line: &String| {
        let (name, value) = line.split_once(':')?;
        let name = http::HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        let value = http::HeaderValue::from_str(value.trim()).ok()?;
        Some((name.as_str().to_owned(), value.as_bytes().to_vec()))
    };
    lines
        .iter()
        .map(|line| header(line).ok_or_else(|| format!("{line:?} is no header line").into()))
        .collect()
}

fn body(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    match file {
        None => {}
        Some(file) if file == Path::new("-") => {
            std::io::stdin().read_to_end(&mut body)?;
        }
        Some(file) => {
            let name = file.display();
            body = std::fs::read(file).map_err(|error| format!("{name} can't be read: {error}"))?;
        }
    }
    Ok(body)
}

fn fresh_owner() -> [u8; 16] {
    *uuid::Uuid::new_v4().as_bytes()
}

impl Operator {
    fn signed(&self) -> By<'_> {
        By {
            operator: &self.operator,
            note: &self.note,
        }
    }
}
