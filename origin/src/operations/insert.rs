//! For benchmarks: nothing outside, one row written. What it costs is what the engine costs.

use super::Performed;
use crate::{idempotency::Attempt, store::Finishing};
use protocol::{record::Outcome, response::Response};
use std::sync::Arc;

/// Its name in policy.toml.
pub(super) const NAME: &str = "insert";

/// Says at once what to write.
pub(super) fn perform(attempt: &Attempt) -> Performed {
    let id = attempt.child_key("insert");
    let response = Response {
        status: 201,
        headers: vec![
            ("content-type".into(), b"application/json".to_vec()),
            ("location".into(), format!("/inserted/{id}").into_bytes()),
        ],
        body: format!("{{\"id\":\"{id}\"}}").into_bytes(),
    };
    Performed::Finish(Finishing::Response {
        outcome: Outcome::Succeeded,
        response: Arc::new(response),
    })
}
