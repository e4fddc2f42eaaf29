//! How long a client waits for another's answer: `Prefer: wait=N` (RFC 7240 section 4.3).

use protocol::{flight::Millis, wire};
use std::time::Duration;

/// A client's patience, within the route's `wait_max`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    seconds: Option<u32>,
    until: Millis,
}

impl Wait {
    /// Reads the `Prefer` field of a request that arrived at `now`.
    pub(crate) fn new(prefer: Option<&str>, wait_max: Duration, now: Millis) -> Self {
        let max = u32::try_from(wait_max.as_secs()).unwrap_or(u32::MAX);
        let seconds = prefer
            .and_then(wire::prefer_wait_seconds)
            .map(|asked| asked.min(max));
        Self {
            seconds,
            until: now + 1_000 * Millis::from(seconds.unwrap_or_default()),
        }
    }

    /// What is left of it.
    pub(crate) fn rest(&self, now: Millis) -> Millis {
        self.until.saturating_sub(now)
    }

    /// The value of `Preference-Applied`, when the client asked.
    pub(crate) fn applied(&self) -> Option<String> {
        self.seconds.map(|seconds| format!("wait={seconds}"))
    }

    /// The `Prefer` field for the origin: the client's, with what is left of its wait.
    pub(crate) fn pass_on(&self, prefer: &str, now: Millis) -> String {
        let is_wait = |preference: &&str| {
            let name = preference.split(['=', ';']).next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case("wait")
        };
        let others = prefer
            .split(',')
            .filter(|preference| !is_wait(preference))
            .map(str::trim);
        let wait = self
            .seconds
            .map(|_| format!("wait={}", self.rest(now) / 1_000));
        let wait = wait.as_deref();
        others
            .chain(wait)
            .filter(|preference| !preference.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(30);

    #[test]
    fn the_route_bounds_the_wait() {
        let wait = Wait::new(Some("wait=90"), MAX, 1_000);
        assert_eq!(wait.rest(1_000), 30_000);
        assert_eq!(wait.rest(40_000), 0);
        assert_eq!(wait.applied().as_deref(), Some("wait=30"));
        let none = Wait::new(None, MAX, 1_000);
        assert_eq!((none.rest(1_000), none.applied()), (0, None));
    }

    #[test]
    fn the_rest_of_the_wait_is_passed_on_with_the_other_preferences() {
        let field = "return=minimal, Wait=10";
        let wait = Wait::new(Some(field), MAX, 0);
        assert_eq!(wait.pass_on(field, 2_500), "return=minimal, wait=7");
        assert_eq!(wait.pass_on(field, 60_000), "return=minimal, wait=0");
        assert_eq!(Wait::new(Some("wait"), MAX, 0).pass_on("wait", 0), "");
    }
}
