//! A list that only grows, and whose entries keep their addresses.

use std::cell::{Cell, OnceCell};

/// Owns values as long as it lives. Agents can borrow charts from it that are compiled while other agents run.
pub(super) struct Arena<T> {
    /// The chunk at index `n` has 2ⁿ entries, so that no entry moves when the list grows.
    chunks: [OnceCell<Box<[OnceCell<T>]>>; 40],
    count: Cell<usize>,
}

impl<T> Arena<T> {
    pub(super) fn new() -> Self {
        Self { chunks: [const { OnceCell::new() }; 40], count: Cell::new(0) }
    }

    /// Stores a value, and returns a reference as long-lived as the arena.
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
