//! A shuffled deck of faults: each comes up once before any comes up again.

use fastrand::Rng;
use std::time::Duration;

/// The deck of one lane, and all its other choices.
#[derive(Debug)]
pub struct Deck<T> {
    all: Vec<T>,
    left: Vec<T>,
    /// What the lane chooses by.
    pub rng: Rng,
}

impl<T: Copy> Deck<T> {
    /// A deck of these.
    pub fn new(all: &[T], rng: Rng) -> Self {
        Self {
            all: all.to_vec(),
            left: Vec::new(),
            rng,
        }
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The next one.
    pub fn draw(&mut self) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.all);
            self.rng.shuffle(&mut self.left);
        }
        self.left.pop().expect("a deck of something")
    }

    /// So many milliseconds, or any number between.
    pub fn time(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.rng.u64(least..=most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_up_once_in_a_round_and_a_seed_says_in_which_order() {
        let mut deck = Deck::new(&[1, 2, 3, 4], Rng::with_seed(7));
        let first: Vec<_> = (0..8).map(|_| deck.draw()).collect();
        for round in first.chunks(4) {
            assert_eq!(round.iter().sum::<i32>(), 10);
        }
        let mut again = Deck::new(&[1, 2, 3, 4], Rng::with_seed(7));
        let second: Vec<_> = (0..8).map(|_| again.draw()).collect();
        assert_eq!(first, second);
    }
}
