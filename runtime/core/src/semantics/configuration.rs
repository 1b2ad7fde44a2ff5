//! Configurations: the sets of active states. They contain the parent of each of their states.

use super::Stepper;
use crate::arena::StateId;
use crate::program::Program;
use crate::store::{Store, bits};
use crate::structure;
use crate::tables::{Reacts, StateRow, StateRowKind, Tables};

/// Whether `configuration` is legal: the root is active, the parent of an active state is active, an active compound has exactly one active
/// child, an active parallel has all its regions active, and no pseudostate is active.
pub fn is_legal(tables: &Tables<'_>, configuration: &[u64]) -> bool {
    bits::has(configuration, 0)
        && tables.states.iter().enumerate().all(|(index, row)| {
            let id = StateId::at(index);
            if !bits::has(configuration, index) {
                return true;
            }
            let tree = tables.tree();
            let active =
                structure::children(&tree, id).filter(|c| bits::has(configuration, c.index()));
            bits::has(configuration, row.parent.index())
                && match row.kind {
                    StateRowKind::Atomic | StateRowKind::Final(_) => true,
                    StateRowKind::Compound(_) => active.count() == 1,
                    StateRowKind::Parallel => {
                        active.count() == structure::regions(&tree, id).count()
                    }
                    StateRowKind::History { .. } => false,
                }
        })
}

/// Whether a state is atomic or final. The root of a chart without states counts as atomic.
fn is_leaf(row: &StateRow<'_>) -> bool {
    matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_))
}

/// The maximum number of leaves that are searched linearly.
const FEW: usize = 8;

impl<P: Program> Stepper<'_, P> {
    /// Whether transitions or steps of the state itself react to one of the kinds in `so`.
    #[inline]
    pub(super) fn reacts(&self, state: StateId, so: Reacts) -> bool {
        self.tables.states[state.index()].here.meets(so)
    }

    /// Whether transitions or steps of the state or of an ancestor react to one of the kinds in `so`.
    #[inline]
    pub(super) fn reacts_on_path(&self, state: StateId, so: Reacts) -> bool {
        self.tables.states[state.index()].on_path.meets(so)
    }

    /// Whether any active state reacts to one of the kinds in `so`.
    #[inline(always)]
    pub(super) fn some_leaf_reacts(&self, so: Reacts) -> bool {
        self.tables.summary.reacts.meets(so)
            && self.active_leaves().iter().any(|leaf| self.reacts_on_path(*leaf, so))
    }

    /// The active leaves in document order.
    #[inline]
    pub(super) fn active_leaves(&self) -> &[StateId] {
        &self.store.cells().leaves[..self.leaves as usize]
    }

    /// The number of active leaves before `state` in document order.
    #[inline]
    pub(super) fn leaves_before(&self, state: StateId) -> usize {
        let leaves = self.active_leaves();
        // Most configurations have few leaves, for which a scan is faster than a binary search.
        if leaves.len() <= FEW {
            leaves.iter().take_while(|leaf| **leaf < state).count()
        } else {
            leaves.partition_point(|leaf| *leaf < state)
        }
    }

    /// The first active leaf in `from..end`, in document order.
    #[inline]
    pub(super) fn next_leaf(&self, from: usize, end: usize) -> Option<StateId> {
        let found = self.active_leaves().get(self.leaves_before(StateId::at(from)));
        found.copied().filter(|leaf| leaf.index() < end)
    }

    /// Adds a state to the configuration and, if it is a leaf, to the active leaves.
    #[inline(always)]
    pub(super) fn activate(&mut self, state: StateId, row: &StateRow<'_>) {
        let cells = self.store.cells_mut();
        bits::insert(cells.configuration, state.index());
        bits::add(cells.touched, state.index());
        if !is_leaf(row) {
            return;
        }
        // Usually one leaf is active, and it was exited before the next one is entered.
        if self.leaves == 0 {
            cells.leaves[0] = state;
            self.leaves = 1;
        } else {
            self.add_leaf(state);
        }
    }

    fn add_leaf(&mut self, state: StateId) {
        let place = self.leaves_before(state);
        let count = self.leaves as usize;
        let cells = self.store.cells_mut();
        if place == count || cells.leaves[place] != state {
            if place < count {
                cells.leaves.copy_within(place..count, place + 1);
            }
            cells.leaves[place] = state;
            self.leaves += 1;
        }
    }

    /// Removes a state from the configuration and from the active leaves.
    pub(super) fn deactivate(&mut self, state: StateId) {
        self.take_out(state);
        let place = self.leaves_before(state);
        let count = self.leaves as usize;
        let cells = self.store.cells_mut();
        if place < count && cells.leaves[place] == state {
            if place + 1 < count {
                cells.leaves.copy_within(place + 1..count, place);
            }
            self.leaves -= 1;
        }
    }

    /// Removes a state from the configuration, but not from the active leaves.
    #[inline(always)]
    pub(super) fn take_out(&mut self, state: StateId) {
        let cells = self.store.cells_mut();
        bits::remove(cells.configuration, state.index());
        bits::drop(cells.unbroken, state.index());
        bits::drop(cells.found, state.index());
    }

    /// Computes the active leaves of a configuration that was set as a whole.
    #[cfg(feature = "alloc")]
    pub(super) fn find_leaves(&mut self) {
        let tables = self.tables;
        let cells = self.store.cells_mut();
        let active = bits::iter(cells.configuration).map(StateId::at);
        self.leaves = 0;
        for leaf in active.filter(|state| is_leaf(&tables.states[state.index()])) {
            cells.leaves[self.leaves as usize] = leaf;
            self.leaves += 1;
        }
    }

    /// The first active leaf in the subtree of `state`; `state` itself if there is none.
    #[inline]
    pub(super) fn leaf_of(&self, state: StateId) -> StateId {
        let end = self.tables.states[state.index()].end;
        self.next_leaf(state.index(), end.index()).unwrap_or(state)
    }

    /// The active leaves in document order.
    pub fn leaves(&self) -> impl Iterator<Item = StateId> + '_ {
        let end = self.tables.states.len();
        core::iter::successors(self.next_leaf(0, end), move |s| self.next_leaf(s.index() + 1, end))
    }

    /// Whether `inner` is `outer` or its descendant.
    #[inline]
    pub(super) fn contains(&self, outer: StateId, inner: StateId) -> bool {
        outer <= inner && inner < self.tables.states[outer.index()].end
    }

    /// The parent; `None` for the root.
    #[inline]
    pub(super) fn parent(&self, state: StateId) -> Option<StateId> {
        let parent = self.tables.states[state.index()].parent;
        (parent != state).then_some(parent)
    }

    /// Whether a state has completed: a compound with an active final child, or a parallel whose regions have all completed.
    pub(super) fn is_in_final(&self, state: StateId) -> bool {
        match self.tables.states[state.index()].kind {
            // A final state has no children, so the first leaf tells whether a final child is active.
            StateRowKind::Compound(_) => {
                let leaf = self.leaf_of(state);
                matches!(self.tables.states[leaf.index()].kind, StateRowKind::Final(_))
                    && self.parent(leaf) == Some(state)
            }
            StateRowKind::Parallel => {
                structure::regions(&self.tables.tree(), state).all(|c| self.is_in_final(c))
            }
            StateRowKind::Atomic | StateRowKind::Final(_) | StateRowKind::History { .. } => false,
        }
    }
}
