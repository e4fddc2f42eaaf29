//! Chaos, for as long as a test may last; `cargo xtask chaos` goes on for longer.

use std::time::Duration;
use tests::chaos::{self, Options};

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_of_chaos_breaks_no_promise() {
    let report = chaos::run(Options {
        seed: 1,
        time: Duration::from_mins(1),
        unfenced: false,
    })
    .await;
    println!("{report}");
    assert!(report.is_good(), "{report}");
    assert!(
        report.effects > 50,
        "chaos that lets nothing happen shows nothing: {report}"
    );
}
