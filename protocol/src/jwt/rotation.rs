//! When a key set is fetched: its issuer adds and removes keys at any time.

/// How old a set may get, in seconds: a key that was removed signs no longer than this.
pub const FRESH_SECONDS: u64 = 600;
/// The most fetches in [`WINDOW_SECONDS`], so that tokens of invented `kid`s are no way to make
/// many requests to the issuer.
pub const FETCHES_MAX: u32 = 6;
/// The window of [`FETCHES_MAX`], in seconds.
pub const WINDOW_SECONDS: u64 = 60;

/// What is remembered of the fetches of one set. Times are Unix seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotation {
    fetched: Option<u64>,
    has_failed: bool,
    window: u64,
    fetches: u32,
}

impl Rotation {
    /// Whether the set is too old to judge by. One that was never fetched is not: the first token
    /// that asks for a key of it has it fetched.
    pub fn is_due(&self, now: u64) -> bool {
        self.fetched
            .is_some_and(|fetched| now.saturating_sub(fetched) >= FRESH_SECONDS)
    }

    /// Counts a fetch; false when there were too many, and this one must not be made.
    pub fn begin(&mut self, now: u64) -> bool {
        if now.saturating_sub(self.window) >= WINDOW_SECONDS {
            (self.window, self.fetches) = (now, 0);
        }
        self.fetches += 1;
        self.fetches <= FETCHES_MAX
    }

    /// How the fetch ended.
    pub fn end(&mut self, now: u64, succeeded: bool) {
        self.has_failed = !succeeded;
        if succeeded {
            self.fetched = Some(now);
        }
    }

    /// Whether the last fetch failed: a key that is unknown may be known to its issuer.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_due_when_it_is_old() {
        let mut rotation = Rotation::default();
        assert!(!rotation.is_due(1000));
        rotation.end(1000, true);
        assert!(!rotation.is_due(1000 + FRESH_SECONDS - 1));
        assert!(rotation.is_due(1000 + FRESH_SECONDS));
        assert!(!rotation.is_due(0), "a clock that was set back");
    }

    #[test]
    fn a_failed_fetch_leaves_it_due() {
        let mut rotation = Rotation::default();
        rotation.end(1000, true);
        rotation.end(1000 + FRESH_SECONDS, false);
        assert!(rotation.is_due(1000 + FRESH_SECONDS) && rotation.has_failed());
        rotation.end(1000 + FRESH_SECONDS, true);
        assert!(!rotation.is_due(1000 + FRESH_SECONDS) && !rotation.has_failed());
    }

    #[test]
    fn fetches_are_limited_in_each_window() {
        let mut rotation = Rotation::default();
        for start in [1000, 1000 + WINDOW_SECONDS] {
            for fetch in 0..FETCHES_MAX {
                assert!(rotation.begin(start + u64::from(fetch)));
            }
            assert!(!rotation.begin(start + WINDOW_SECONDS - 1));
        }
    }
}
