//! Tools that the model of an `ask` calls. A `may call` transition permits the call, the call belongs to the leaf of the question, and the
//! transition is taken when the tool has returned.

use super::Stepper;
use crate::arena::{ChoiceId, ToolId};
use crate::machine::{
    Effect, ErrorKind, Fallback, LOOP, Outcome, Receipt, Record, Sink, StepKey, WalkEnd,
};
use crate::program::{Bound, Caller, Program};
use crate::store::{Occurrence, Question};
use crate::tables::{StepRowKind, TriggerRow};

impl<P: Program> Stepper<'_, P> {
    /// Handles an answer that names a tool which no enabled transition permits: it counts as unusable.
    pub(super) fn forbidden(
        &mut self,
        key: StepKey,
        tool: ToolId,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        sink.record(Record::Forbidden(key, tool));
        self.unusable(key, in_walk, sink);
    }

    /// The first enabled `may call` transition whose set contains the tool, from the question's leaf outwards.
    pub(super) fn permits(&mut self, key: StepKey, tool: ToolId) -> Option<ChoiceId> {
        let mut first = None;
        self.each_option(key, &mut |choice, offered| {
            if first.is_none() && offered == Some(tool) {
                first = Some(choice);
            }
        });
        first
    }

    /// Begins the call that the model chose. It is canceled when the question's leaf is exited.
    pub(super) fn call_tool(
        &mut self,
        key: StepKey,
        choice: ChoiceId,
        tool: ToolId,
        payload: P::Payload,
        sink: &mut dyn Sink,
    ) {
        self.put_question(Question { key, calling: Some((choice, tool)) });
        // A timeout bounds the time of the models' answers, not that of tools.
        if !self.is_asking(key.step) {
            self.disarm_timeouts(key.step);
        }
        // Binding `Call` stores the arguments with the caller. Nothing stays bound for guards.
        self.program.bind(Bound::Call(Caller::Question(key.leaf), tool, payload));
        self.program.bind(Bound::Nothing);
        sink.record(Record::Called(key, Some(choice), tool));
        sink.effect(Effect::Call(key, tool));
        self.macrostep(None, sink);
    }

    /// Handles the result of a tool that the model called.
    pub(super) fn tool_answer(
        &mut self,
        key: StepKey,
        choice: ChoiceId,
        tool: ToolId,
        outcome: Outcome<P::Payload>,
        sink: &mut dyn Sink,
    ) -> Receipt {
        let StepKey { step, leaf, .. } = key;
        let caller = Caller::Question(leaf);
        let in_walk = self.awaits(key);
        match outcome {
            Outcome::Done(payload) => {
                self.close(key);
                sink.record(Record::Returned(key, tool));
                self.program.bind(Bound::Returned(caller, Some(choice), payload));
                self.program.bind(Bound::Nothing);
                self.look_for_loop(sink);
                let ends = self.tables.steps[step.index()].ends_turn
                    && self
                        .in_view(leaf, |program, view| program.ends_turn(step, view))
                        .unwrap_or(false);
                if !self.macrostep(Some(Occurrence::Returned(choice)), sink) {
                    sink.record(Record::Fallback(step, Fallback::Stale));
                }
                if ends && in_walk {
                    self.end_walk(WalkEnd::EndsTurn, sink);
                }
            }
            Outcome::Failed(reason) => {
                self.close(key);
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));
                self.program.bind(Bound::Nothing);
                self.look_for_loop(sink);
                self.macrostep(None, sink);
            }
            Outcome::Doubt => {
                self.close(key);
                self.program.forget_call(caller);
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::Nothing);
                self.macrostep(Some(Occurrence::StepDoubt(step)), sink);
            }
            // These are answers to a question, which was answered by the call.
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                sink.record(Record::Dropped(key));
                return Receipt::Refused;
            }
        }
        Receipt::Handled
    }

    /// Called when a tool call has ended. Raises `error.stuck.loop` after every [`LOOP`] repetitions of the same call, if the chart has a
    /// transition for it.
    pub(super) fn look_for_loop(&mut self, sink: &mut dyn Sink) {
        let times = self.program.repeated();
        if times > 0 && times.is_multiple_of(LOOP) && self.names_loops() {
            self.raise_error(ErrorKind::StuckLoop, sink);
        }
    }

    fn names_loops(&self) -> bool {
        let mut rows = self.tables.transitions.iter();
        rows.any(|row| matches!(row.trigger, TriggerRow::Error(p) if ErrorKind::names_loops(p)))
    }

    /// The option and the tool of the call that is under way for this open question.
    pub(super) fn calling(&self, key: StepKey) -> Option<(ChoiceId, ToolId)> {
        self.question(key.leaf).filter(|question| question.key == key)?.calling
    }

    /// The caller that the call with this key belongs to.
    pub fn caller(&self, key: StepKey) -> Caller {
        let row = self.tables.steps.get(key.step.index());
        match row.map(|row| row.kind) {
            Some(StepRowKind::Ask { .. }) | None => Caller::Question(key.leaf),
            Some(_) => Caller::Step(key.step),
        }
    }

    /// The tool whose call is under way for this key.
    pub fn calls(&self, key: StepKey) -> Option<ToolId> {
        self.calling(key).map(|(_, tool)| tool).or_else(|| self.step_calling(key))
    }
}
