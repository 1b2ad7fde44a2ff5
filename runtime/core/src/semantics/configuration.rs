//! Configurations: the sets of active states. They contain the parent of each of their states.

use super::Stepper;
use crate::arena::{StateId, TransitionId};
use crate::machine::Sink;
use crate::program::{Block, Program};
use crate::store::{Store, bits};
use crate::structure::{self, EntrySet};
use crate::tables::{Reacts, Route, StateRow, StateRowKind, Tables};

/// Whether `configuration` is legal: the root is active, the parent of an active state is active, an active compound has exactly one active
/// child, an active parallel has all its regions active, and no pseudostate is active.
pub fn is_legal(tables: &Tables, configuration: &[u64]) -> bool {
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
pub(super) fn is_leaf(row: &StateRow) -> bool {
    matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_))
}

/// The maximum number of leaves that are searched linearly.
const FEW: usize = 8;

impl<P: Program> Stepper<P> {
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
    pub(super) fn activate(&mut self, state: StateId, is_leaf: bool) {
        let cells = self.store.cells_mut();
        bits::insert(cells.configuration, state.index());
        bits::add(cells.touched, state.index());
        if !is_leaf {
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
        let tables = &self.tables;
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

// Transition domain, exit set, entry set.

impl<P: Program> Stepper<P> {
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
        let (tree, targets) = (self.tables.tree(), row.targets.of(&self.tables.state_pool));
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
        for history in row.histories.of(&self.tables.state_pool) {
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
        let tables = self.tables.clone();
        for target in tables.transitions[id.index()].targets.of(&tables.state_pool) {
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
        let tables = self.tables.clone();
        structure::complete(&tables.tree(), self);
    }
}

impl<P: Program> EntrySet for Stepper<P> {
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

// The actions of an `initial` and of a history's default, which run when a state is entered by default.

impl<P: Program> Stepper<P> {
    /// Marks the `initial` of a state or the default of a history, if it has actions that have to run.
    pub(super) fn note_default(&mut self, state: StateId) {
        if self.tables.states[state.index()].default_actions {
            bits::insert(self.with_sets().defaults, state.index());
        }
    }

    /// Runs the marked actions of histories whose parents are already active. Called before any entry.
    pub(super) fn run_defaults_inside(&mut self, sink: &mut dyn Sink) {
        let end = self.tables.states.len();
        let mut at = 0;
        while let Some(index) = bits::first_in(self.with_sets().defaults, at, end) {
            at = index + 1;
            let parent = self.tables.states[index].parent;
            // A state that is about to be entered is not active yet. The root is its own parent.
            if parent.index() != index && self.is_active(parent) && self.is_history(index) {
                self.run_default(StateId::at(index), parent, sink);
            }
        }
    }

    /// Runs the marked actions for a state that was just entered: of its `initial`, then of its histories.
    pub(super) fn run_defaults(&mut self, state: StateId, sink: &mut dyn Sink) {
        if bits::has(self.store.cells_mut().defaults, state.index()) {
            self.run_default(state, state, sink);
        }
        for at in self.tables.states[state.index()].histories.range() {
            let history = self.tables.state_pool[at];
            if bits::has(self.store.cells_mut().defaults, history.index()) {
                self.run_default(history, state, sink);
            }
        }
    }

    fn run_default(&mut self, state: StateId, inside: StateId, sink: &mut dyn Sink) {
        bits::remove(self.with_sets().defaults, state.index());
        self.run_block(Block::Default(state), inside, sink);
    }

    fn is_history(&self, index: usize) -> bool {
        matches!(self.tables.states[index].kind, crate::tables::StateRowKind::History { .. })
    }
}
