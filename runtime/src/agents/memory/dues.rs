//! When time alone changes an agent next.

use chartc_core::machine::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times and the places of agents, the earliest first. What has changed meanwhile is found out when its time comes.
#[derive(Debug, Default)]
pub(super) struct Dues(BinaryHeap<Reverse<(Instant, u32)>>);

impl Dues {
    /// Adds a time. If there are far more than there are agents, those that `holds` does not know are dropped.
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

    /// The earliest.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        self.0.peek().map(|Reverse(first)| *first)
    }

    /// Drops the earliest.
    pub(super) fn drop_first(&mut self) {
        self.0.pop();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
