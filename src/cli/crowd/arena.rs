//! A list that only grows, and whose entries stay where they are.

use std::cell::{Cell, OnceCell};

/// Keeps values for as long as it lives, so that agents may borrow the charts that were compiled while others run.
pub(super) struct Arena<T> {
    /// The chunk of number `n` has 2ⁿ places.
    chunks: [OnceCell<Box<[OnceCell<T>]>>; 40],
    count: Cell<usize>,
}

impl<T> Arena<T> {
    pub(super) fn new() -> Self {
        Self { chunks: [const { OnceCell::new() }; 40], count: Cell::new(0) }
    }

    /// Keeps a value.
    pub(super) fn alloc(&self, value: T) -> &T {
        let nth = self.count.replace(self.count.get() + 1) + 1;
        let chunk = nth.ilog2() as usize;
        let places = self.chunks[chunk]
            .get_or_init(|| (0..1_usize << chunk).map(|_| OnceCell::new()).collect());
        places[nth - (1 << chunk)].get_or_init(|| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are() {
        let arena = Arena::new();
        let allocated: Vec<&String> = (0..1000).map(|n: u32| arena.alloc(n.to_string())).collect();
        assert!(allocated.iter().enumerate().all(|(n, text)| **text == n.to_string()));
    }
}
