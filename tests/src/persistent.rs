//! A client that does what answers tell it: it waits as `Retry-After` says, retries where that
//! helps, keeps its key, and ends with the one answer.

use crate::answer::Answer;
use reqwest::RequestBuilder;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// It gives up after this.
const PATIENCE: Duration = Duration::from_secs(90);
/// Before it tries again where nobody has answered.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends a request until an answer is final. Panics when none comes.
pub async fn insist(request: RequestBuilder) -> Answer {
    let begun = Instant::now();
    let mut last = None;
    while begun.elapsed() < PATIENCE {
        let request = request.try_clone().expect("a body that can be sent again");
        match Answer::to(request).await {
            Ok(answer) if is_final(&answer) => return answer,
            Ok(answer) => {
                let seconds = answer.retry_after().expect("a retryable answer says when");
                sleep(Duration::from_secs(seconds.into())).await;
                last = Some(answer);
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
    panic!("no final answer within {PATIENCE:?}, but {last:?}");
}

/// Problems say whether to try again; an upstream's own answers say it by their status.
fn is_final(answer: &Answer) -> bool {
    if answer.problem().is_empty() {
        return !matches!(answer.status, 408 | 425 | 429 | 500 | 502 | 503 | 504);
    }
    let (retryable, keeps_key) = (
        &answer.json()["retryable"],
        &answer.json()["retry_with_same_key"],
    );
    if retryable == true {
        assert_eq!(*keeps_key, true, "a new key would be a new operation");
    }
    retryable == false
}
