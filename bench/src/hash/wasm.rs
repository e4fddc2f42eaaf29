//! In Wasm on bare workerd: against JavaScript in the same isolate, and against `crypto.subtle` alone.
//!
//! Clocks stand still while a Worker computes, so it repeats the work and the time is taken here.

use super::Case;
use crate::{
    report::Report,
    rounds::{ROUNDS, Rounds},
};
use std::time::{Duration, Instant};
use tests::{answer::Answer, client::Client, worker::Worker};
use xtask::{
    artifacts::Profile,
    failure::{Failure, Result},
};

const BASELINE: &str = "JSON.parse + sorted JSON.stringify + crypto.subtle";

/// How long one contestant hashes in one round, about.
const TURN: Duration = Duration::from_millis(60);

/// By which ways the Worker of `tests/worker` hashes.
const WAYS: [&str; 3] = ["wasm", "js", "subtle"];

/// Measures and prints every case.
pub(super) async fn run(report: &Report) -> Result<()> {
    let cases = Case::wanted(report, "wasm");
    if cases.is_empty() {
        return Ok(());
    }
    let isolate = Worker::of_tests(Profile::Release).await;
    for case in cases {
        let rounds = measure(&isolate.client(), &case).await?;
        case.print(report, &rounds, BASELINE, "crypto.subtle");
    }
    Ok(())
}

async fn measure(isolate: &Client, case: &Case) -> Result<Rounds<3>> {
    let ours = hashed(isolate, case, WAYS[0], 1).await?;
    let theirs = hashed(isolate, case, WAYS[1], 1).await?;
    assert_eq!(ours, theirs, "{}", case.name);
    let mut times = [1; 3];
    for (times, way) in times.iter_mut().zip(WAYS) {
        *times = times_in_a_turn(isolate, case, way).await?;
    }
    let mut rounds = Rounds::default();
    for _ in 0..ROUNDS {
        let mut results = [0.0; 3];
        for ((result, way), times) in results.iter_mut().zip(WAYS).zip(times) {
            let seconds = elapsed(isolate, case, way, times).await?;
            *result = case.megabytes_per_second(seconds / f64::from(times));
        }
        rounds.push(results);
    }
    Ok(rounds)
}

/// How often a body is hashed in a turn; found by doubling, which also lets the engine compile.
/// The request itself takes less than a hundredth of a turn.
async fn times_in_a_turn(isolate: &Client, case: &Case, way: &str) -> Result<u32> {
    let mut times = 1;
    loop {
        // A machine that was busy for a moment does not pass for a slow Worker.
        let mut fastest = f64::INFINITY;
        for _ in 0..3 {
            fastest = fastest.min(elapsed(isolate, case, way, times).await?);
        }
        if fastest >= TURN.as_secs_f64() {
            return Ok(times);
        }
        times *= 2;
    }
}

async fn elapsed(isolate: &Client, case: &Case, way: &str, times: u32) -> Result<f64> {
    let begun = Instant::now();
    hashed(isolate, case, way, times).await?;
    Ok(begun.elapsed().as_secs_f64())
}

/// The digest, made this many times.
async fn hashed(isolate: &Client, case: &Case, way: &str, times: u32) -> Result<Vec<u8>> {
    let path = format!("/digest?by={way}&times={times}");
    let request = isolate.request(reqwest::Method::POST, &path);
    let answer = Answer::to(request.body(case.body.clone()))
        .await
        .map_err(Failure::because("the Worker gave no answer"))?;
    match answer.status {
        200 => Ok(answer.body),
        status => Err(Failure::new(format!("the Worker answered {status}"))),
    }
}
