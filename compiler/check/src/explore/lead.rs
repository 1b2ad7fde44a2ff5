//! Which points are tried first where a state is looked for.

use chartc_core::arena::StateId;

/// What a node of the graph of moves counts, between a point and the goal.
const NODE: u32 = 4;

/// What a point counts that was found before with the same leaf: the graph promises ways that the chart has not always, such as those
/// back into a history, and one that was taken in vain is put off.
const AGAIN: u32 = 2;

/// By state, what leads to the goal.
#[derive(Debug)]
pub(super) struct Lead<'s> {
    distances: &'s [u32],
    /// How many points were found with it.
    found: Vec<u32>,
}

impl<'s> Lead<'s> {
    /// `None` without distances.
    pub(super) fn of(distances: &'s [u32]) -> Option<Self> {
        (!distances.is_empty()).then(|| Self { distances, found: vec![0; distances.len()] })
    }

    /// What is less is tried first: for a point with these leaves, so many inputs after the start.
    pub(super) fn far(&mut self, leaves: &[StateId], depth: u32) -> u32 {
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
