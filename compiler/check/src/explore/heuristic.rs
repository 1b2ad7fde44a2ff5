//! The order in which points are tried in a search for a state.

use chartc_core::arena::StateId;

/// The weight of each node between a point and the goal in the graph of moves.
const NODE: u32 = 4;

/// The weight of each earlier point with the same leaf. The graph has ways that the chart does not always have, such as those
/// back into a history. After a vain attempt, such a way is postponed.
const AGAIN: u32 = 2;

/// Priorities of points, by the distances of their leaves from the goal.
#[derive(Debug)]
pub(super) struct Heuristic<'s> {
    distances: &'s [u32],
    /// By state: how many points with this leaf were found.
    found: Vec<u32>,
}

impl<'s> Heuristic<'s> {
    /// `None` without distances.
    pub(super) fn new(distances: &'s [u32]) -> Option<Self> {
        (!distances.is_empty()).then(|| Self { distances, found: vec![0; distances.len()] })
    }

    /// The priority of a new point with these leaves, this many inputs after the start; the lowest is tried first. Counts the point.
    pub(super) fn assign_priority(&mut self, leaves: &[StateId], depth: u32) -> u32 {
        let distance = leaves.iter().map(|leaf| self.distances[leaf.index()]).min();
        let again = leaves.iter().map(|leaf| self.found[leaf.index()]).min();
        for leaf in leaves {
            self.found[leaf.index()] += 1;
        }
        let [distance, again] = [distance, again].map(Option::unwrap_or_default);
        let far = distance.saturating_mul(NODE).saturating_add(again.saturating_mul(AGAIN));
        far.saturating_add(depth)
    }
}
