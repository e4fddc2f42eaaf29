//! Numbers that look random and are the same in every run.

/// A linear congruential generator, with the constants of Knuth's MMIX.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // The upper bits are the good ones.
        (self.0 >> 33) % bound
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }

    /// Puts the list in another order.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in 1..list.len() {
            let other = self.below(place as u64 + 1);
            list.swap(place, usize::try_from(other).unwrap_or(0));
        }
    }
}
