//! What a run of chaos came to.

use super::checker::Violation;
use std::{collections::BTreeMap, fmt, path::PathBuf};

/// How many violations are told in full.
const TOLD: usize = 10;

/// The numbers of a run, and what was found.
#[derive(Debug)]
pub struct Report {
    /// What chose everything.
    pub seed: u64,
    /// How many keys were used.
    pub keys: usize,
    /// How many requests were sent.
    pub requests: usize,
    /// How many charges moved money.
    pub effects: usize,
    /// How often each kind of fault was in force.
    pub faults: BTreeMap<String, usize>,
    /// How often a request ended so.
    pub outcomes: BTreeMap<String, usize>,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
    /// Where history and logs are, if something was found.
    pub kept: Option<PathBuf>,
}

impl Report {
    /// Kinds of faults that never happened.
    pub fn absent(&self) -> Vec<&str> {
        let absent = self.faults.iter().filter(|(_, count)| **count == 0);
        absent.map(|(kind, _)| kind.as_str()).collect()
    }

    /// Whether every promise was kept under every kind of fault.
    pub fn is_good(&self) -> bool {
        self.violations.is_empty() && self.absent().is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, count) in &self.faults {
            writeln!(f, "{count:6}  {kind}")?;
        }
        writeln!(f)?;
        for (outcome, count) in &self.outcomes {
            writeln!(f, "{count:6}  {outcome}")?;
        }
        writeln!(f)?;
        for kind in self.absent() {
            writeln!(f, "never happened: {kind}")?;
        }
        for Violation { promise, detail } in self.violations.iter().take(TOLD) {
            writeln!(f, "broken: {promise}: {detail}")?;
        }
        if let Some(kept) = &self.kept {
            writeln!(f, "history and logs: {}", kept.display())?;
        }
        write!(
            f,
            "chaos: seed={} keys={} requests={} effects={} faults={} violations={}",
            self.seed,
            self.keys,
            self.requests,
            self.effects,
            self.faults.values().sum::<usize>(),
            self.violations.len(),
        )
    }
}
