//! `hash`: a JSON document to the SHA-256 of its canonical text.
//!
//! Names are `hash/<spelling>[-<kind>]-<size>[-of-sha256]/<native|wasm>`. Without a kind a document
//! holds all kinds in equal parts.

mod document;
mod native;
mod random;
mod wasm;

use crate::report::{Line, Report};
use crate::rounds::Rounds;
use document::{Document, Kind, Spelling};
use xtask::failure::Result;

const SIZES: [(&str, usize); 3] = [("1KiB", 1 << 10), ("64KiB", 64 << 10), ("1MiB", 1 << 20)];

/// One document in one spelling.
struct Case {
    body: Vec<u8>,
    /// What the result is called.
    name: String,
    /// What its share of SHA-256 alone is called, for the common case.
    share: Option<String>,
}

impl Case {
    /// Every document in every spelling, as far as the report wants it.
    fn wanted(report: &Report, target: &str) -> Vec<Self> {
        let mut cases = Vec::new();
        for (size, bytes) in SIZES {
            for kind in Kind::ALL {
                let document = Document::new(kind, bytes);
                for spelling in Spelling::ALL {
                    let case = format!("{}{}-{size}", spelling.name(), kind.suffix());
                    let share = format!("hash/{case}-of-sha256/{target}");
                    cases.push(Self {
                        body: document.spelled(spelling),
                        name: format!("hash/{case}/{target}"),
                        share: (spelling == Spelling::Canonical).then_some(share),
                    });
                }
            }
        }
        cases.retain(|case| case.is_wanted(report));
        cases
    }

    fn is_wanted(&self, report: &Report) -> bool {
        report.wants(&self.name) || self.share.iter().any(|share| report.wants(share))
    }

    /// Megabytes a second, when the body took this long.
    fn megabytes_per_second(&self, seconds: f64) -> f64 {
        // Bodies are far smaller than what a double can count.
        let bytes = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        f64::from(bytes) / seconds / 1e6
    }

    /// Prints the speed: of the project, of what it is measured against, and of SHA-256 alone.
    fn print(&self, report: &Report, rounds: &Rounds<3>, against: &str, sha256: &str) {
        let line = |name, against, ratio| {
            report.line(&Line {
                name,
                value: rounds.median(0),
                unit: "MB/s",
                against: Some(against),
                ratio: Some(ratio),
            });
        };
        line(&self.name, against, rounds.ratio(0, 1));
        if let Some(share) = &self.share {
            line(share, sha256, rounds.ratio(0, 2));
        }
    }
}

/// Natively first, then on workerd.
pub(crate) async fn run(report: &Report) -> Result<()> {
    native::run(report);
    wasm::run(report).await
}
