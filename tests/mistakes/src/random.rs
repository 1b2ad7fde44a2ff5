//! Numbers that are the same for the same seed.

/// A small generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut made = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03);
        made.below(2);
        made
    }

    /// One of `0..n`; 0 where `n` is.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }

    /// Yes, `n` times of 100.
    pub(crate) fn chance(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    /// One of several.
    pub(crate) fn pick<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len())]
    }

    /// Puts them in any order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
