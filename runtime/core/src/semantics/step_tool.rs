//! Tools that the model of an `llm` step calls: it receives each result and is asked again, until it answers.

use super::Stepper;
use crate::arena::{StepId, ToolId};
use crate::machine::{Effect, Outcome, Receipt, Record, Sink, StepKey};
use crate::program::{Bound, Caller, Program};
use crate::store::Occurrence;

impl<P: Program> Stepper<'_, P> {
    /// Whether the step is an `llm` step whose model may call tools.
    pub fn has_tools(&self, step: StepId) -> bool {
        self.tables.steps.get(step.index()).is_some_and(|row| row.tools.len > 0)
    }

    /// Calls `each` with the tools that the model of this open step may call now: none after the last permitted call.
    pub fn step_tools(&self, key: StepKey, each: &mut dyn FnMut(ToolId)) {
        let Some(row) = self.tables.steps.get(key.step.index()) else { return };
        if self.underway(key.step).called < row.tool_calls {
            row.tools.of(self.tables.tool_pool).iter().for_each(|tool| each(*tool));
        }
    }

    pub(super) fn may_use(&self, key: StepKey, tool: ToolId) -> bool {
        let mut found = false;
        self.step_tools(key, &mut |one| found |= one == tool);
        found
    }

    /// The tool whose call is under way for this open step.
    pub(super) fn step_calling(&self, key: StepKey) -> Option<ToolId> {
        let register = self.underway(key.step);
        register.calling.filter(|_| register.pending == Some(key))
    }

    /// Begins a tool call of the step's model. The step stays open, and its timeouts stay armed.
    pub(super) fn call_step_tool(
        &mut self,
        key: StepKey,
        tool: ToolId,
        payload: P::Payload,
        sink: &mut dyn Sink,
    ) {
        let register = self.underway_mut(key.step);
        register.calling = Some(tool);
        register.called += 1;
        self.program.bind(Bound::Call(Caller::Step(key.step), tool, payload));
        self.program.bind(Bound::Nothing);
        sink.record(Record::Called(key, None, tool));
        sink.effect(Effect::Call(key, tool));
        self.macrostep(None, sink);
    }

    /// Handles the result of a tool that the step's model called. Whether the call succeeded or failed, the model is asked again under the
    /// same key, which is charged as a further model call.
    pub(super) fn step_tool_answer(
        &mut self,
        key: StepKey,
        tool: ToolId,
        outcome: Outcome<P::Payload>,
        sink: &mut dyn Sink,
    ) -> Receipt {
        let StepKey { step, leaf, .. } = key;
        let caller = Caller::Step(step);
        let in_walk = self.awaits(key);
        match outcome {
            Outcome::Done(payload) => {
                sink.record(Record::Returned(key, tool));
                self.program.bind(Bound::Returned(caller, None, payload));
            }
            Outcome::Failed(reason) => {
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));
            }
            Outcome::Doubt => {
                self.close(key);
                self.program.forget_call(caller);
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::Nothing);
                if !self.macrostep(Some(Occurrence::StepDoubt(step)), sink) {
                    self.step_failed(step, leaf, in_walk, sink);
                }
                return Receipt::Handled;
            }
            // The model has answered a second time, although its tool call is under way.
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                sink.record(Record::Dropped(key));
                return Receipt::Refused;
            }
        }
        self.underway_mut(step).calling = None;
        self.program.bind(Bound::Nothing);
        self.look_for_loop(sink);
        // `streak` and `last_result` have changed, which may enable eventless transitions.
        self.macrostep(None, sink);
        if !self.is_open(key) {
            return Receipt::Handled;
        }
        if !self.charge_call(self.tables.steps[step.index()].state, key.leaf, sink) {
            if !self.is_over() && self.is_open(key) {
                self.close(key);
                self.program.bind(Bound::Nothing);
                self.step_failed(step, leaf, in_walk, sink);
            }
            return Receipt::Handled;
        }
        sink.record(Record::Started(key));
        sink.effect(Effect::Start(key));
        self.macrostep(None, sink);
        Receipt::Handled
    }
}
