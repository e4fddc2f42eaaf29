//! Natively: against `serde_json`, `serde_json_canonicalizer` and `sha2`, and against `sha2` alone.

use super::Case;
use crate::{
    report::Report,
    rounds::{ROUNDS, Rounds},
};
use cpu_time::ThreadTime;
use protocol::canonical::{self, Selection};
use sha2::{Digest as _, Sha256};
use std::{hint::black_box, time::Duration};

const BASELINE: &str = "serde_json + serde_json_canonicalizer + sha2";

/// How long one contestant hashes in one round.
const TURN: Duration = Duration::from_millis(30);

/// Measures and prints every case.
pub(super) fn run(report: &Report) {
    for case in Case::wanted(report, "native") {
        assert_eq!(ours(&case.body), theirs(&case.body), "{}", case.name);
        let mut rounds = Rounds::default();
        for _ in 0..ROUNDS {
            rounds.push([ours, theirs, sha2].map(|hash| speed(&case, hash)));
        }
        case.print(report, &rounds, BASELINE, "sha2");
    }
}

fn ours(body: &[u8]) -> [u8; 32] {
    canonical::digest(body, &Selection::whole()).expect("JSON")
}

fn theirs(body: &[u8]) -> [u8; 32] {
    let value: serde_json::Value = serde_json::from_slice(body).expect("JSON");
    Sha256::digest(serde_json_canonicalizer::to_vec(&value).expect("JSON")).into()
}

fn sha2(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// Megabytes a second of the processor's time, which others on the machine can't take away.
fn speed(case: &Case, hash: fn(&[u8]) -> [u8; 32]) -> f64 {
    let begun = ThreadTime::now();
    // Asking for the time takes as long as hashing some hundred bytes.
    let between = 1 + 65_536 / case.body.len();
    let mut times = 0_u32;
    while begun.elapsed() < TURN {
        for _ in 0..between {
            black_box(hash(black_box(&case.body)));
            times += 1;
        }
    }
    case.megabytes_per_second(begun.elapsed().as_secs_f64() / f64::from(times))
}
