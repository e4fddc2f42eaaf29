//! Faults of whom the origins call: the provider, and the receiver of events.

use super::{deck::Deck, history::History, inbox::Inbox};
use crate::sandbox::Sandbox;
use serde_json::json;
use std::{
    fmt,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// What the provider or the receiver does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The provider cuts the connection and does nothing.
    DroppedBeforeCommit,
    /// The provider commits and cuts the connection.
    DroppedAfterCommit,
    /// The provider answers 500 and does nothing.
    Error500,
    /// The provider has too much to do, and does nothing.
    Error429,
    /// The provider takes its time.
    Slow,
    /// The receiver refuses events.
    EventRefused,
}

/// Every kind.
pub const ALL: [Fault; 6] = [
    Fault::DroppedBeforeCommit,
    Fault::DroppedAfterCommit,
    Fault::Error500,
    Fault::Error429,
    Fault::Slow,
    Fault::EventRefused,
];

impl Fault {
    /// The sandbox's name of it, where calls are counted.
    fn switch(self) -> Option<&'static str> {
        match self {
            Self::DroppedBeforeCommit => Some("drop_before_commit"),
            Self::DroppedAfterCommit => Some("drop_after_commit"),
            Self::Error500 => Some("error_500"),
            Self::Error429 => Some("error_429"),
            Self::Slow | Self::EventRefused => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DroppedBeforeCommit => "provider dropped before commit",
            Self::DroppedAfterCommit => "provider dropped after commit",
            Self::Error500 => "provider answered 500",
            Self::Error429 => "provider answered 429",
            Self::Slow => "provider slow",
            Self::EventRefused => "event refused",
        })
    }
}

/// One fault after the other until then; all is well when this returns. What hit nobody is not
/// counted.
pub async fn run(
    (sandbox, inbox): (&Sandbox, &Inbox),
    deck: &mut Deck<Fault>,
    history: &History,
    until: Instant,
) {
    while Instant::now() < until {
        sleep(deck.time(100, 800)).await;
        let (fault, at) = (deck.draw(), history.now());
        let count = deck.rng.u32(1..=12);
        let time = deck.time(500, 2_500);
        let has_hit = match (fault, fault.switch()) {
            // For a while and not for a number of calls: who is refused asks again meanwhile, and
            // many claim at once when it ends.
            (Fault::Error429, Some(switch)) => fail_calls(sandbox, switch, u32::MAX, time).await,
            (_, Some(switch)) => fail_calls(sandbox, switch, count, time).await,
            (Fault::EventRefused, None) => {
                inbox.refuse_next(count);
                true
            }
            (_, None) => {
                let delay = deck.time(200, 1_500).as_millis();
                sandbox.set_faults(json!({ "delay_ms": delay })).await;
                sleep(time).await;
                true
            }
        };
        sandbox.set_faults(json!({})).await;
        if has_hit {
            history.strike(fault, at);
        }
    }
}

/// Lets the next calls fail, for so long at most, and says whether any came.
async fn fail_calls(sandbox: &Sandbox, switch: &str, count: u32, time: Duration) -> bool {
    sandbox.set_faults(json!({ switch: count })).await;
    let ends = Instant::now() + time;
    loop {
        sleep(Duration::from_millis(50)).await;
        let left = sandbox.faults().await[switch].as_u64().unwrap_or_default();
        if left == 0 || Instant::now() >= ends {
            return left < u64::from(count);
        }
    }
}
