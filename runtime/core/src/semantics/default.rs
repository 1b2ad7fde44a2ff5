//! The actions of an `initial` and of a history's default, which run when a state is entered by default.

use super::Stepper;
use crate::arena::StateId;
use crate::machine::Sink;
use crate::program::{Block, Program};
use crate::store::{Store, bits};

impl<P: Program> Stepper<'_, P> {
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
        for history in self.tables.states[state.index()].histories.of(self.tables.state_pool) {
            if bits::has(self.store.cells_mut().defaults, history.index()) {
                self.run_default(*history, state, sink);
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
