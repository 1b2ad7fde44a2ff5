//! Configurations: sets of states closed under parents.

use super::Stepper;
use crate::arena::StateId;
use crate::program::Program;
use crate::store::{Store, bits};
use crate::structure;
use crate::tables::{Reacts, StateRow, StateRowKind, Tables};

/// Whether `configuration` is one that a chart can be in: the root is active, an active state's parent is active, an active
/// compound has exactly one active child, an active parallel all its regions, and no pseudo-state is active.
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

/// Atomic or final: a basic state of configurations. (A chart without states has an atomic root.)
fn is_leaf(row: &StateRow<'_>) -> bool {
    matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_))
}

/// So many are looked through one by one.
const FEW: usize = 8;

impl<P: Program> Stepper<'_, P> {
    /// Whether lines or steps of the state itself react so.
    #[inline]
    pub(super) fn reacts(&self, state: StateId, so: Reacts) -> bool {
        self.tables.states[state.index()].here.meets(so)
    }

    /// Whether lines or steps of the state or of one above it react so.
    #[inline]
    pub(super) fn reacts_on_path(&self, state: StateId, so: Reacts) -> bool {
        self.tables.states[state.index()].on_path.meets(so)
    }

    /// Whether any active state reacts so.
    #[inline(always)]
    pub(super) fn some_leaf_reacts(&self, so: Reacts) -> bool {
        self.reacts.meets(so)
            && self.active_leaves().iter().any(|leaf| self.reacts_on_path(*leaf, so))
    }

    /// The active leaves in document order.
    #[inline]
    pub(super) fn active_leaves(&self) -> &[StateId] {
        &self.store.cells().leaves[..self.leaves]
    }

    /// How many active leaves there are before `state`.
    #[inline]
    pub(super) fn leaves_before(&self, state: StateId) -> usize {
        let leaves = self.active_leaves();
        if leaves.len() <= FEW {
            leaves.iter().take_while(|leaf| **leaf < state).count()
        } else {
            leaves.partition_point(|leaf| *leaf < state)
        }
    }

    /// The first active leaf at or after `from` in document order and below `end`.
    #[inline]
    pub(super) fn next_leaf(&self, from: usize, end: usize) -> Option<StateId> {
        let found = self.active_leaves().get(self.leaves_before(StateId::at(from)));
        found.copied().filter(|leaf| leaf.index() < end)
    }

    /// Makes a state active.
    #[inline(always)]
    pub(super) fn activate(&mut self, state: StateId, row: &StateRow<'_>) {
        let cells = self.store.cells_mut();
        bits::insert(cells.configuration, state.index());
        bits::insert(cells.touched, state.index());
        if !is_leaf(row) {
            return;
        }
        if self.leaves == 0 {
            cells.leaves[0] = state;
            self.leaves = 1;
        } else {
            self.add_leaf(state);
        }
    }

    fn add_leaf(&mut self, state: StateId) {
        let place = self.leaves_before(state);
        let count = self.leaves;
        let cells = self.store.cells_mut();
        if place == count || cells.leaves[place] != state {
            if place < count {
                cells.leaves.copy_within(place..count, place + 1);
            }
            cells.leaves[place] = state;
            self.leaves += 1;
        }
    }

    /// Makes a state inactive.
    pub(super) fn deactivate(&mut self, state: StateId) {
        self.take_out(state);
        let place = self.leaves_before(state);
        let count = self.leaves;
        let cells = self.store.cells_mut();
        if place < count && cells.leaves[place] == state {
            if place + 1 < count {
                cells.leaves.copy_within(place + 1..count, place);
            }
            self.leaves -= 1;
        }
    }

    /// Takes a state out of the configuration, not out of the leaves.
    #[inline(always)]
    pub(super) fn take_out(&mut self, state: StateId) {
        let cells = self.store.cells_mut();
        bits::remove(cells.configuration, state.index());
        bits::remove(cells.unbroken, state.index());
        bits::remove(cells.found, state.index());
    }

    /// Finds the active leaves of a configuration that was put in place as a whole.
    #[cfg(feature = "alloc")]
    pub(super) fn find_leaves(&mut self) {
        let tables = self.tables;
        let cells = self.store.cells_mut();
        let active = bits::iter(cells.configuration).map(StateId::at);
        self.leaves = 0;
        for leaf in active.filter(|state| is_leaf(&tables.states[state.index()])) {
            cells.leaves[self.leaves] = leaf;
            self.leaves += 1;
        }
    }

    /// The first active leaf below `state`, or `state` itself.
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

    /// Whether `inner` is `outer` or lies below it.
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

    /// Whether a compound has an active final child, or every region of a parallel is so.
    pub(super) fn is_in_final(&self, state: StateId) -> bool {
        match self.tables.states[state.index()].kind {
            // A final is a leaf.
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
