//! The deadlines of agents, in order of time.

use chartc_core::machine::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap of deadlines with the places of their agents, the earliest first. An outdated entry is recognized when it is removed.
#[derive(Debug, Default)]
pub(super) struct Dues(BinaryHeap<Reverse<(Instant, u32)>>);

impl Dues {
    /// Adds a deadline. If there are far more entries than agents, removes the outdated entries, for which `holds` is false.
    pub(super) fn add(
        &mut self,
        at: Instant,
        place: u32,
        agents: usize,
        holds: impl Fn(Instant, u32) -> bool,
    ) {
        if self.0.len() > 2 * agents + 64 {
            let mut kept = std::mem::take(&mut self.0).into_vec();
            kept.retain(|Reverse((at, place))| holds(*at, *place));
            kept.sort_unstable();
            kept.dedup();
            self.0 = kept.into();
        }
        self.0.push(Reverse((at, place)));
    }

    /// The earliest entry.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        self.0.peek().map(|Reverse(first)| *first)
    }

    /// Removes the earliest entry.
    pub(super) fn drop_first(&mut self) {
        self.0.pop();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
