//! Steps that start on entry: at the end of the macrostep in which their state was entered, if the state is still active.
//!
//! Source: SCXML 1.0, 6.4 and appendix D (`statesToInvoke`).

use super::Stepper;
use crate::arena::{StateId, StepId};
use crate::machine::{Effect, ErrorKind, Record, Sink};
use crate::program::{Bound, Program};
use crate::store::Store;
use crate::tables::StepRowKind;

impl<P: Program> Stepper<'_, P> {
    /// Marks the steps that the entry of a state starts.
    pub(super) fn note_entry_runs(&mut self, state: StateId) {
        if !self.tables.summary.entry_runs {
            return;
        }
        for step in self.tables.states[state.index()].steps.of(self.tables.step_pool) {
            let kind = self.tables.steps[step.index()].kind;
            if matches!(kind, StepRowKind::Run { on_entry: true, .. }) {
                self.underway_mut(*step).due = true;
            }
        }
    }

    /// Starts the marked steps in document order. Returns whether there were any, so that the macrostep continues.
    pub(super) fn start_entered(&mut self, sink: &mut dyn Sink) -> bool {
        if !self.tables.summary.entry_runs {
            return false;
        }
        let mut any = false;
        for index in 0..self.tables.steps.len() {
            // Without registers, no step is marked.
            let Some(register) = self.store.cells_mut().steps.get_mut(index) else { break };
            if !core::mem::take(&mut register.due) || register.pending.is_some() {
                continue;
            }
            any = true;
            self.start_on_entry(StepId::at(index), sink);
        }
        any
    }

    fn start_on_entry(&mut self, step: StepId, sink: &mut dyn Sink) {
        let row = self.tables.steps[step.index()];
        let leaf = self.leaf_of(row.state);
        self.program.bind(Bound::Nothing);
        if row.guard {
            let held = self.in_view(leaf, |program, view| program.step_guard(step, view));
            if held.is_err() {
                self.raise_error(ErrorKind::Execution, sink);
            }
            if !held.unwrap_or(false) {
                sink.record(Record::Skipped(step));
                return;
            }
        }
        // The start counts as an event, so that its key differs from that of an earlier start.
        self.scalars.events += 1;
        let key = self.open_step(step, leaf, sink);
        sink.record(Record::Started(key));
        sink.effect(Effect::Start(key));
    }
}
