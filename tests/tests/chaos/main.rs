//! Chaos, for as long as a test may last; `cargo xtask chaos` goes on for longer.

use std::time::Duration;
use tests::chaos::{self, Options};
use tokio::sync::Mutex;

/// One run at a time: each needs the whole machine.
static TURN: Mutex<()> = Mutex::const_new(());

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_of_chaos_breaks_no_promise() {
    let _turn = TURN.lock().await;
    let report = chaos::run(Options {
        seed: 1,
        time: Duration::from_mins(1),
        unfenced: false,
    })
    .await;
    println!("{report}");
    assert!(report.is_good(), "{report}");
    assert!(report.effects > 50, "nothing happened: {report}");
}

/// Who meets whom is not the seed's choice, so there are several runs; one that finds something is
/// enough.
#[tokio::test(flavor = "multi_thread")]
async fn without_fence_and_owner_chaos_finds_broken_promises() {
    let _turn = TURN.lock().await;
    for seed in 1..=6 {
        let report = chaos::run(Options {
            seed,
            time: Duration::from_secs(20),
            unfenced: true,
        })
        .await;
        println!("{report}");
        if !report.violations.is_empty() {
            return;
        }
    }
    panic!("nothing was found");
}
