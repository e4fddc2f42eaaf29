//! All that was asked and answered, and every fault, in the order of time.

use super::command::Command;
use crate::answer::Answer;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    io::{self, BufWriter, Write},
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

/// A request and its end.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When it was sent, since the start.
    pub at: Duration,
    /// When it ended, since the start.
    pub until: Duration,
    /// Which of the two.
    pub edge: usize,
    /// What was asked for.
    pub command: Command,
    /// Whether all was well again: nothing but the truth is a right answer then.
    pub is_final: bool,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a request ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// An answer came.
    Answered(Answer),
    /// None came, for this reason.
    Unanswered(String),
    /// The client left.
    Left,
}

impl Asked {
    /// The answer, if one came.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered(answer) => Some(answer),
            Outcome::Unanswered(_) | Outcome::Left => None,
        }
    }

    /// The answer, if it is the operation's own, first or replayed.
    pub fn archived(&self) -> Option<&Answer> {
        self.answer().filter(|answer| answer.replayed().is_some())
    }
}

/// A fault while it was in force.
#[derive(Debug)]
struct Struck {
    kind: String,
    at: Duration,
    until: Duration,
}

/// Everything, from all lanes at once.
#[derive(Debug)]
pub struct History {
    started: Instant,
    asked: Mutex<Vec<Asked>>,
    struck: Mutex<Vec<Struck>>,
}

impl History {
    /// An empty one, from now on.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            asked: Mutex::default(),
            struck: Mutex::default(),
        }
    }

    /// The time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Notes a request that has ended.
    pub fn note(&self, asked: Asked) {
        self.asked.lock().expect("no holder panics").push(asked);
    }

    /// Notes a fault that was in force since `at`.
    pub fn strike(&self, kind: impl Display, at: Duration) {
        let struck = Struck {
            kind: kind.to_string(),
            at,
            until: self.now(),
        };
        self.struck.lock().expect("no holder panics").push(struck);
    }

    /// All requests.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no holder panics").clone()
    }

    /// How often each fault was in force.
    pub fn faults(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for struck in self.struck.lock().expect("no holder panics").iter() {
            *counts.entry(struck.kind.clone()).or_default() += 1;
        }
        counts
    }

    /// One JSON object a line, by time.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let asked = self.asked();
        let struck = self.struck.lock().expect("no holder panics");
        let mut lines: Vec<_> = asked.iter().map(|a| (a.at, line_of(a))).collect();
        lines.extend(struck.iter().map(|fault| {
            let line =
                json!({ "fault": fault.kind, "at_ms": ms(fault.at), "until_ms": ms(fault.until) });
            (fault.at, line)
        }));
        lines.sort_by_key(|(at, _)| *at);
        let mut file = BufWriter::new(fs::File::create(file)?);
        for (_, line) in lines {
            writeln!(file, "{line}")?;
        }
        file.flush()
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn line_of(asked: &Asked) -> Value {
    let outcome = match &asked.outcome {
        Outcome::Answered(answer) => json!({
            "status": answer.status, "replayed": answer.replayed(), "problem": answer.problem(),
            "body": String::from_utf8_lossy(&answer.body),
        }),
        Outcome::Unanswered(why) => json!({ "unanswered": why }),
        Outcome::Left => json!("left"),
    };
    json!({
        "key": asked.command.key, "amount": asked.command.amount(), "edge": asked.edge,
        "at_ms": ms(asked.at), "until_ms": ms(asked.until), "final": asked.is_final,
        "outcome": outcome,
    })
}
