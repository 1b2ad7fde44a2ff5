//! Numbers that look random and are always the same.

/// A linear congruential generator of 64 bits, of which the upper half is used. Source: Knuth's MMIX.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// One of `0..bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}
