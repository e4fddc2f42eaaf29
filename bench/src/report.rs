//! What a benchmark prints: a table for people, or one JSON object a line.

use serde::Serialize;
use std::sync::Once;

/// One result, printed as soon as it is known.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    /// `<bench>/<case>/<target>`.
    pub(crate) name: &'a str,
    /// The median of all rounds.
    pub(crate) value: f64,
    /// What `value` counts.
    pub(crate) unit: &'a str,
    /// What it was compared with in the same rounds, if anything.
    pub(crate) against: Option<&'a str>,
    /// How many times as much as `against`.
    pub(crate) ratio: Option<f64>,
}

/// Where results go, and which are wanted.
pub(crate) struct Report {
    json: bool,
    filters: Vec<String>,
    headed: Once,
}

impl Report {
    /// With no filters everything is wanted.
    pub(crate) fn new(json: bool, filters: Vec<String>) -> Self {
        Self {
            json,
            filters,
            headed: Once::new(),
        }
    }

    /// Whether the name holds one of the filters: what is not wanted need not be measured.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let mut filters = self.filters.iter();
        self.filters.is_empty() || filters.any(|filter| name.contains(filter.as_str()))
    }

    /// Prints a result, if it is wanted.
    pub(crate) fn line(&self, line: &Line<'_>) {
        if !self.wants(line.name) {
            return;
        }
        if self.json {
            println!("{}", serde_json::to_string(line).unwrap_or_default());
        } else {
            self.row(line);
        }
    }

    fn row(&self, line: &Line<'_>) {
        self.headed.call_once(|| {
            println!(
                "{:<44} {:>12} {:<8} {:>7}  against",
                "name", "value", "unit", "ratio"
            );
        });
        let ratio = line.ratio.map(|ratio| format!("{ratio:.2}"));
        println!(
            "{:<44} {:>12.2} {:<8} {:>7}  {}",
            line.name,
            line.value,
            line.unit,
            ratio.unwrap_or_default(),
            line.against.unwrap_or_default()
        );
    }
}
