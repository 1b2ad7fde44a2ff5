//! Deterministic random numbers, derived from a seed.

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Creates a generator from several numbers, such as a seed and the tick. Each combination has its own sequence.
    pub(crate) fn of(parts: &[u64]) -> Self {
        let mut all = Self(0x9e37_79b9_7f4a_7c15);
        for part in parts {
            all.0 ^= *part;
            all.0 = all.next();
        }
        all
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Shuffles a list (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            // The bias of the modulo is below 2^-32 for lists of fewer than 2^32 items.
            let other = (self.next() % (last as u64 + 1)) as usize;
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_order_and_another_seed_another() {
        let order = |seed| {
            let mut list: Vec<u32> = (0..50).collect();
            Chance::of(&[seed, 7]).shuffle(&mut list);
            list
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_place_is_as_likely_as_another() {
        let mut first = [0_u32; 5];
        for seed in 0..5000 {
            let mut list = [0_usize, 1, 2, 3, 4];
            Chance::of(&[seed]).shuffle(&mut list);
            first[list[0]] += 1;
        }
        assert!(first.iter().all(|n| (900..1100).contains(n)), "{first:?}");
    }
}
