//! Measurements that belong together: in each round, every contestant once.

/// The results of `N` contestants, round by round.
///
/// What disturbs the machine for a while disturbs all contestants of a round, so a ratio is the
/// median of the rounds' ratios, not the ratio of two medians.
#[derive(Default)]
pub(crate) struct Rounds<const N: usize>(Vec<[f64; N]>);

/// How many rounds a benchmark makes, unless each takes very long: odd, so that one is in the middle.
pub(crate) const ROUNDS: usize = 9;

impl<const N: usize> Rounds<N> {
    /// Adds a round.
    pub(crate) fn push(&mut self, results: [f64; N]) {
        self.0.push(results);
    }

    /// The median result of a contestant.
    pub(crate) fn median(&self, contestant: usize) -> f64 {
        middle(self.0.iter().map(|round| round[contestant]))
    }

    /// How many times as much a contestant has as another one.
    pub(crate) fn ratio(&self, contestant: usize, against: usize) -> f64 {
        middle(
            self.0
                .iter()
                .map(|round| round[contestant] / round[against]),
        )
    }
}

/// The one in the middle.
pub(crate) fn middle(results: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = results.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_the_middle_round() {
        let mut rounds = Rounds::default();
        for round in [[8.0, 4.0], [1.0, 1.0], [9.0, 3.0]] {
            rounds.push(round);
        }
        assert_eq!((rounds.median(0), rounds.ratio(0, 1)), (8.0, 2.0));
    }
}
