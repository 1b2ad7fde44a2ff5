//! Transition domain, exit set, entry set.

use super::Engine;
use super::configuration::{children, is_real};
use crate::arena::{StateId, TransitionId};
use crate::bits;
use crate::program::Program;
use crate::store::Store;
use crate::tables::{Route, StateRowKind};

impl<P: Program> Engine<'_, P> {
    /// The state whose active descendants a line exits; `None` for a targetless line. Never a parallel: its regions would be
    /// left empty. Computed when the line is taken, since it depends on what histories have recorded.
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
        let is_compound =
            matches!(self.tables.states[row.source.index()].kind, StateRowKind::Compound(_));
        if row.internal && is_compound && self.targets_lie_below(id, row.source) {
            return Some(row.source);
        }
        let mut domain = row.source;
        while let Some(parent) = self.parent(domain) {
            domain = parent;
            let is_compound =
                matches!(self.tables.states[domain.index()].kind, StateRowKind::Compound(_));
            if is_compound && self.targets_lie_below(id, domain) {
                break;
            }
        }
        Some(domain)
    }

    /// Whether every effective target of a line is a proper descendant of `state`.
    fn targets_lie_below(&self, id: TransitionId, state: StateId) -> bool {
        let targets = self.tables.transitions[id.index()].targets;
        targets.of(self.tables.state_pool).iter().all(|target| {
            let mut below = true;
            self.each_effective(*target, &mut |t| {
                below &= t != state && self.contains(state, t);
            });
            below
        })
    }

    /// Calls `each` with the states that a target stands for: what a history has recorded, its default, or the target itself.
    fn each_effective(&self, target: StateId, each: &mut dyn FnMut(StateId)) {
        match self.tables.states[target.index()].kind {
            StateRowKind::History { default, slot, .. } => {
                let mut next = self.next_recorded(target, slot, 0);
                if next.is_none() {
                    // A history's default is never a history itself: lowering refuses it.
                    default.of(self.tables.state_pool).iter().for_each(|state| each(*state));
                }
                while let Some(state) = next {
                    each(state);
                    next = self.next_recorded(target, slot, state.index() + 1);
                }
            }
            StateRowKind::Atomic
            | StateRowKind::Compound(_)
            | StateRowKind::Parallel
            | StateRowKind::Final(_) => each(target),
        }
    }

    /// What a history state may record is inside of its parent: the states that it has recorded.
    fn recorded(&self, slot: u32) -> &[u64] {
        let words = bits::words(self.tables.states.len());
        let start = slot as usize * words;
        &self.store.cells().history[start..start + words]
    }

    /// The first state at or after `from` that the history state `history` has recorded.
    fn next_recorded(&self, history: StateId, slot: u32, from: usize) -> Option<StateId> {
        let parent = self.tables.states[history.index()].parent;
        let end = self.tables.states[parent.index()].end.index();
        bits::first_in(self.recorded(slot), from.max(parent.index()), end).map(StateId::at)
    }

    /// The last active state inside of `domain` in document order: the first that is exited.
    #[inline]
    pub(super) fn first_exited(&self, domain: StateId) -> Option<StateId> {
        let end = self.tables.states[domain.index()].end;
        let before = self.leaves_before(end).checked_sub(1)?;
        Some(self.active_leaves()[before]).filter(|leaf| *leaf > domain)
    }

    /// The active state inside of `domain` before `state` in document order: exited after it.
    #[inline]
    pub(super) fn next_exited(&self, domain: StateId, state: StateId) -> Option<StateId> {
        let parent = self.tables.states[state.index()].parent;
        if let Some(before) = self.leaves_before(state).checked_sub(1) {
            let leaf = self.active_leaves()[before];
            if leaf > parent {
                return Some(leaf);
            }
        }
        (parent > domain).then_some(parent)
    }

    /// Records the histories of a state that is about to be exited.
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
            bits::clear(&mut record[state.index() / 64..end.index().div_ceil(64)]);
            for leaf in cells.leaves[first..self.leaves].iter().take_while(|leaf| **leaf < end) {
                let mut kept = *leaf;
                while !deep && self.tables.states[kept.index()].parent > state {
                    kept = self.tables.states[kept.index()].parent;
                }
                bits::insert(record, kept.index());
            }
        }
    }

    /// Adds a line's targets to the entry set, with their ancestors below `domain`. Run after the exit.
    pub(super) fn add_targets(&mut self, id: TransitionId, domain: StateId) {
        let targets = self.tables.transitions[id.index()].targets;
        for i in 0..targets.len {
            let target = self.tables.state_pool[(targets.start + i) as usize];
            self.add_target(target, domain);
        }
    }

    /// Adds what `target` stands for and its ancestors up to, not including, `top`.
    pub(super) fn add_target(&mut self, target: StateId, top: StateId) {
        match self.tables.states[target.index()].kind {
            StateRowKind::History { default, slot, .. } => {
                let mut next = self.next_recorded(target, slot, 0);
                if next.is_none() {
                    for state in default.of(self.tables.state_pool) {
                        self.add_with_ancestors(*state, top);
                    }
                    self.note_default(target);
                }
                while let Some(state) = next {
                    self.add_with_ancestors(state, top);
                    next = self.next_recorded(target, slot, state.index() + 1);
                }
            }
            StateRowKind::Atomic
            | StateRowKind::Compound(_)
            | StateRowKind::Parallel
            | StateRowKind::Final(_) => self.add_with_ancestors(target, top),
        }
    }

    fn add_with_ancestors(&mut self, state: StateId, top: StateId) {
        let mut at = Some(state);
        while let Some(s) = at.filter(|s| *s != top) {
            // Never enter a state that is already active (appendix D does, from a history inside).
            if !self.is_active(s) {
                self.add_to_entry_set(s);
            }
            at = self.parent(s);
        }
    }

    pub(super) fn add_to_entry_set(&mut self, state: StateId) {
        bits::insert(self.store.cells_mut().entry, state.index());
        self.entry.start = self.entry.start.min(state.index());
        self.entry.end = self.entry.end.max(state.index() + 1);
    }

    /// The first state of the entry set from `at` on and before `end`.
    pub(super) fn next_in_entry_set(&self, at: usize, end: usize) -> Option<StateId> {
        let (at, end) = (at.max(self.entry.start), end.min(self.entry.end));
        bits::first_in(self.store.cells().entry, at, end).map(StateId::at)
    }

    /// Completes the entry set: default children of compounds, regions of parallels. Ids are in document order, so one
    /// ascending sweep sees every state that it adds.
    pub(super) fn complete_entry_set(&mut self) {
        let mut at = 0;
        while let Some(state) = self.next_in_entry_set(at, usize::MAX) {
            at = state.index() + 1;
            let row = &self.tables.states[state.index()];
            match row.kind {
                StateRowKind::Compound(initial) => {
                    let end = row.end.index();
                    if self.next_in_entry_set(at, end).is_none()
                        && self.next_leaf(at, end).is_none()
                    {
                        for target in initial.of(self.tables.state_pool) {
                            self.add_target(*target, state);
                        }
                        self.note_default(state);
                    }
                }
                StateRowKind::Parallel => {
                    let tables = self.tables;
                    for region in children(&tables, state).filter(|c| is_real(&tables, *c)) {
                        if !self.is_active(region) {
                            self.add_to_entry_set(region);
                        }
                    }
                }
                StateRowKind::Atomic | StateRowKind::Final(_) | StateRowKind::History { .. } => {}
            }
        }
    }
}
