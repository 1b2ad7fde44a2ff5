//! Transition domain, exit set, entry set.

use super::Stepper;
use crate::arena::{StateId, TransitionId};
use crate::program::Program;
use crate::store::{Store, bits};
use crate::structure::{self, EntrySet};
use crate::tables::{Route, StateRowKind};

impl<P: Program> Stepper<'_, P> {
    /// The domain of a transition: the state whose active descendants are exited; `None` without a target. It is never a parallel state,
    /// whose regions would become inactive. Some domains depend on recorded histories and are computed when the transition is taken.
    #[inline]
    pub(super) fn domain(&self, id: TransitionId) -> Option<StateId> {
        match self.tables.transitions[id.index()].route {
            Route::Stay => None,
            Route::Known { domain, .. } => Some(domain),
            Route::Computed => self.computed_domain(id),
        }
    }

    fn computed_domain(&self, id: TransitionId) -> Option<StateId> {
        let row = &self.tables.transitions[id.index()];
        let (tree, targets) = (self.tables.tree(), row.targets.of(self.tables.state_pool));
        Some(structure::domain(&tree, row.source, row.internal, |state| {
            targets.iter().all(|target| structure::lies_below(&tree, self, *target, state))
        }))
    }

    /// The set of states that a history has recorded.
    fn recorded(&self, slot: u32) -> &[u64] {
        let words = bits::words(self.tables.states.len());
        let start = slot as usize * words;
        &self.store.cells().history[start..start + words]
    }

    /// The first state at or after `from` that a history has recorded. `slot` is the history's number.
    fn next_recorded(&self, history: StateId, slot: u32, from: usize) -> Option<StateId> {
        let parent = self.tables.states[history.index()].parent;
        // A history records only descendants of its parent, so the search is limited to that subtree.
        let end = self.tables.states[parent.index()].end.index();
        bits::first_in(self.recorded(slot), from.max(parent.index()), end).map(StateId::at)
    }

    /// The active descendant of `domain` that is exited first: the last leaf in document order.
    #[inline]
    pub(super) fn first_exited(&self, domain: StateId) -> Option<StateId> {
        let end = self.tables.states[domain.index()].end;
        let before = self.leaves_before(end).checked_sub(1)?;
        Some(self.active_leaves()[before]).filter(|leaf| *leaf > domain)
    }

    /// The active descendant of `domain` that is exited after `state`: the last leaf before it, or else its parent.
    #[inline]
    pub(super) fn next_exited(&self, domain: StateId, state: StateId) -> Option<StateId> {
        let parent = self.tables.states[state.index()].parent;
        if let Some(before) = self.leaves_before(state).checked_sub(1) {
            let leaf = self.active_leaves()[before];
            // A leaf inside the same parent is in an earlier region, which is exited before the parent.
            if leaf > parent {
                return Some(leaf);
            }
        }
        (parent > domain).then_some(parent)
    }

    /// Records the present configuration for the histories of a state that will be exited.
    pub(super) fn record_history(&mut self, state: StateId) {
        let row = &self.tables.states[state.index()];
        let (first, end) = (self.leaves_before(state), row.end);
        let words = bits::words(self.tables.states.len());
        for history in row.histories.of(self.tables.state_pool) {
            let StateRowKind::History { deep, slot, .. } = self.tables.states[history.index()].kind
            else {
                continue;
            };
            let cells = self.store.cells_mut();
            let record = &mut cells.history[slot as usize * words..(slot as usize + 1) * words];
            // Only the words of the parent's subtree are cleared and written; the others are always zero.
            bits::clear(&mut record[state.index() / 64..end.index().div_ceil(64)]);
            for leaf in
                cells.leaves[first..self.leaves as usize].iter().take_while(|leaf| **leaf < end)
            {
                // A shallow history keeps the child of its parent instead of the leaf.
                let mut kept = *leaf;
                while !deep && self.tables.states[kept.index()].parent > state {
                    kept = self.tables.states[kept.index()].parent;
                }
                bits::insert(record, kept.index());
            }
        }
    }

    /// Adds a transition's targets to the entry set, with their ancestors below `domain`. Called after the exit.
    pub(super) fn add_targets(&mut self, id: TransitionId, domain: StateId) {
        let tables = self.tables;
        for target in tables.transitions[id.index()].targets.of(tables.state_pool) {
            structure::add_target(&tables.tree(), self, *target, domain);
        }
    }

    pub(super) fn add_to_entry_set(&mut self, state: StateId) {
        bits::insert(self.with_sets().entry, state.index());
        self.entry.start = self.entry.start.min(state.0);
        self.entry.end = self.entry.end.max(state.0 + 1);
    }

    /// The first state of the entry set in `at..end`.
    pub(super) fn next_in_entry_set(&self, at: usize, end: usize) -> Option<StateId> {
        let (at, end) = (at.max(self.entry.start as usize), end.min(self.entry.end as usize));
        bits::first_in(self.store.cells().entry, at, end).map(StateId::at)
    }

    /// Completes the entry set with initial states of compounds and regions of parallels.
    pub(super) fn complete_entry_set(&mut self) {
        let tables = self.tables;
        structure::complete(&tables.tree(), self);
    }
}

impl<P: Program> EntrySet for Stepper<'_, P> {
    fn add(&mut self, state: StateId) -> bool {
        self.add_to_entry_set(state);
        true
    }

    fn next(&self, from: StateId, end: StateId) -> Option<StateId> {
        self.next_in_entry_set(from.index(), end.index())
    }

    fn is_active(&self, state: StateId) -> bool {
        Self::is_active(self, state)
    }

    fn has_active(&self, from: StateId, end: StateId) -> bool {
        self.next_leaf(from.index(), end.index()).is_some()
    }

    fn recorded(&self, history: StateId, from: StateId) -> Option<StateId> {
        match self.tables.states[history.index()].kind {
            StateRowKind::History { slot, .. } => self.next_recorded(history, slot, from.index()),
            StateRowKind::Atomic
            | StateRowKind::Compound(_)
            | StateRowKind::Parallel
            | StateRowKind::Final(_) => None,
        }
    }

    fn enter_default(&mut self, state: StateId) -> bool {
        self.note_default(state);
        true
    }
}
