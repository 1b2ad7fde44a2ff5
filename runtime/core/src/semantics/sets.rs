//! Transition domain, exit set, entry set.

use super::Engine;
use super::configuration::{children, is_leaf, is_real};
use crate::arena::{StateId, TransitionId};
use crate::bits;
use crate::program::Program;
use crate::store::Store;
use crate::tables::StateRowKind;

impl<P: Program> Engine<'_, P> {
    /// The state whose active descendants a line exits; `None` for a targetless line. Never a parallel: its regions would be
    /// left empty. Computed when the line is taken, since it depends on what histories have recorded.
    pub(super) fn domain(&self, id: TransitionId) -> Option<StateId> {
        let row = &self.tables.transitions[id.index()];
        if row.targets.len == 0 {
            return None;
        }
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
                let recorded = self.recorded(slot);
                if recorded.iter().all(|word| *word == 0) {
                    // A history's default is never a history itself: lowering refuses it.
                    each(default);
                } else {
                    for state in bits::iter(recorded) {
                        each(StateId::at(state));
                    }
                }
            }
            StateRowKind::Atomic
            | StateRowKind::Compound(_)
            | StateRowKind::Parallel
            | StateRowKind::Final(_) => each(target),
        }
    }

    fn recorded(&self, slot: u32) -> &[u64] {
        let words = bits::words(self.tables.states.len());
        let start = slot as usize * words;
        &self.store.cells().history[start..start + words]
    }

    /// Adds the active proper descendants of `domain` to the exit set.
    pub(super) fn add_to_exit_set(&mut self, domain: StateId) {
        let end = self.tables.states[domain.index()].end.index();
        let cells = self.store.cells_mut();
        let mut at = domain.index() + 1;
        while let Some(state) = bits::first_in(cells.configuration, at, end) {
            bits::insert(cells.exit, state);
            at = state + 1;
        }
    }

    /// Records the histories of every state in the exit set, before anything is exited.
    pub(super) fn record_history(&mut self) {
        if !self.has_history {
            return;
        }
        let words = bits::words(self.tables.states.len());
        let mut at = 0;
        while let Some(state) =
            bits::first_in(self.store.cells_mut().exit, at, self.tables.states.len())
        {
            at = state + 1;
            let parent = StateId::at(state);
            for child in children(&self.tables, parent) {
                let StateRowKind::History { deep, slot, .. } =
                    self.tables.states[child.index()].kind
                else {
                    continue;
                };
                let end = self.tables.states[state].end.index();
                let cells = self.store.cells_mut();
                let record = &mut cells.history[slot as usize * words..(slot as usize + 1) * words];
                bits::clear(record);
                let mut inner = state + 1;
                while let Some(active) = bits::first_in(cells.configuration, inner, end) {
                    inner = active + 1;
                    let id = StateId::at(active);
                    let keep = if deep {
                        is_leaf(&self.tables, id)
                    } else {
                        self.tables.states[active].parent == parent
                    };
                    if keep {
                        bits::insert(record, active);
                    }
                }
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
                let words = bits::words(self.tables.states.len());
                let start = slot as usize * words;
                let mut any = false;
                for state in 0..self.tables.states.len() {
                    let recorded = &self.store.cells().history[start..start + words];
                    if bits::has(recorded, state) {
                        any = true;
                        self.add_with_ancestors(StateId::at(state), top);
                    }
                }
                if !any {
                    self.add_with_ancestors(default, top);
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
            let cells = self.store.cells_mut();
            // Never enter a state that is already active (appendix D does, from a history inside).
            if !bits::has(cells.configuration, s.index()) {
                bits::insert(cells.entry, s.index());
            }
            at = self.parent(s);
        }
    }

    /// Completes the entry set: default children of compounds, regions of parallels. Ids are in document order, so one
    /// ascending sweep sees every state that it adds.
    pub(super) fn complete_entry_set(&mut self) {
        let end = self.tables.states.len();
        let mut at = 0;
        while let Some(index) = bits::first_in(self.store.cells_mut().entry, at, end) {
            at = index + 1;
            let state = StateId::at(index);
            let row = &self.tables.states[index];
            match row.kind {
                StateRowKind::Compound(initial) => {
                    let cells = self.store.cells_mut();
                    let (from, to) = (index + 1, row.end.index());
                    if bits::first_in(cells.entry, from, to).is_none()
                        && bits::first_in(cells.configuration, from, to).is_none()
                    {
                        self.add_target(initial, state);
                    }
                }
                StateRowKind::Parallel => {
                    let tables = self.tables;
                    for region in children(&tables, state).filter(|c| is_real(&tables, *c)) {
                        let cells = self.store.cells_mut();
                        if !bits::has(cells.configuration, region.index()) {
                            bits::insert(cells.entry, region.index());
                        }
                    }
                }
                StateRowKind::Atomic | StateRowKind::Final(_) | StateRowKind::History { .. } => {}
            }
        }
    }
}
