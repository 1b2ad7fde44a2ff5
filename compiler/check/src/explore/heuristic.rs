//! The order in which points are tried in a search for a state: best first, by an estimate of the distance.

use chartc_core::arena::StateId;

/// The weight of each node on the path from a point to the goal in the graph of moves.
const NODE: u32 = 4;

/// The weight of each earlier point with the same leaf. The graph has paths that the chart does not have in every run, such as those back
/// into a history. After an attempt in vain, such a path is postponed.
const AGAIN: u32 = 2;

/// The priorities of points, from the distances of their leaves to the goal.
#[derive(Debug)]
pub(super) struct Heuristic<'s> {
    /// By state: its distance to the goal.
    distances: &'s [u32],
    /// By state: the number of points with this leaf that were found.
    found: Vec<u32>,
}

impl<'s> Heuristic<'s> {
    /// `None` if there are no distances, that is, no goal.
    pub(super) fn new(distances: &'s [u32]) -> Option<Self> {
        (!distances.is_empty()).then(|| Self { distances, found: vec![0; distances.len()] })
    }

    /// The priority of a new point with these leaves, found this many inputs after the start. The lowest is tried first. Counts the point.
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
