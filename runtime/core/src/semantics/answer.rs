//! The end of a step: transitions for its outcome, another attempt, or its failure policy.

use super::Stepper;
use crate::arena::{ChoiceId, StateId, StepId};
use crate::machine::{Effect, Fallback, Outcome, Receipt, Record, Sink, StepKey, WalkEnd};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Question, Underway};
use crate::tables::{FailureRow, StepRowKind, TriggerRow};

impl<P: Program> Stepper<'_, P> {
    pub(super) fn answer(
        &mut self,
        key: StepKey,
        outcome: Outcome<P::Payload>,
        sink: &mut dyn Sink,
    ) -> Receipt {
        if !self.is_open(key) {
            sink.record(Record::Dropped(key));
            return Receipt::Refused;
        }
        let StepKey { step, leaf, element, .. } = key;
        if let (Some(element), Some(each)) = (element, self.each(step)) {
            return self.element_answer(key, element, each, outcome, sink);
        }
        // While a tool is called, an answer with the question's key is the result of the tool.
        if let Some((choice, tool)) = self.calling(key) {
            return self.tool_answer(key, choice, tool, outcome, sink);
        }
        if let Some(tool) = self.step_calling(key) {
            return self.step_tool_answer(key, tool, outcome, sink);
        }
        let is_ask = self.is_ask(step);
        let in_walk = self.awaits(key);
        match outcome {
            Outcome::Done(payload) if !is_ask => {
                self.close(key);
                self.program.bind(Bound::Answer(step, payload));
                self.step_done(step, leaf, in_walk, sink);
            }
            Outcome::Choice(choice, payload) if is_ask => {
                self.close(key);
                self.choose(key, choice, payload, in_walk, sink);
            }
            Outcome::Call(tool, payload) if is_ask => match self.permits(key, tool) {
                Some(choice) => self.call_tool(key, choice, tool, payload, sink),
                None => self.forbidden(key, tool, in_walk, sink),
            },
            Outcome::Call(tool, payload) if self.has_tools(step) => {
                if self.may_use(key, tool) {
                    self.call_step_tool(key, tool, payload, sink);
                } else {
                    self.forbidden(key, tool, in_walk, sink);
                }
            }
            Outcome::Forbidden(tool)
                if (is_ask || self.has_tools(step)) && tool.index() < self.tables.tools.len() =>
            {
                self.forbidden(key, tool, in_walk, sink);
            }
            Outcome::Done(_)
            | Outcome::Choice(..)
            | Outcome::Call(..)
            | Outcome::Forbidden(_)
            | Outcome::Unusable => self.unusable(key, in_walk, sink),
            Outcome::Failed(reason) => {
                // `fails_here` counts errors of tools, but not failed calls of models.
                if matches!(self.tables.steps[step.index()].kind, StepRowKind::Call) {
                    self.counts_mut(leaf).fails_here += 1;
                }
                if !self.try_again(key, sink) {
                    self.close(key);
                    self.program.bind(Bound::Reason(step, reason));
                    self.step_failed(step, leaf, in_walk, sink);
                }
            }
            Outcome::Doubt => {
                self.close(key);
                self.program.bind(Bound::Nothing);
                if !self.macrostep(Some(Occurrence::StepDoubt(step)), sink) {
                    self.step_failed(step, leaf, in_walk, sink);
                }
            }
        }
        Receipt::Handled
    }

    pub(super) fn is_ask(&self, step: StepId) -> bool {
        matches!(self.tables.steps[step.index()].kind, StepRowKind::Ask { .. })
    }

    /// Handles an unusable answer: counts the failure, then starts another attempt or takes the step's fallback.
    pub(super) fn unusable(&mut self, key: StepKey, in_walk: bool, sink: &mut dyn Sink) {
        let StepKey { step, leaf, .. } = key;
        self.counts_mut(leaf).fails_here += 1;
        if self.try_again(key, sink) {
            return;
        }
        self.close(key);
        self.program.bind(Bound::Nothing);
        if self.is_ask(step) {
            self.otherwise(step, Fallback::Unusable, sink);
        } else {
            self.step_failed(step, leaf, in_walk, sink);
        }
    }

    pub(super) fn is_open(&self, key: StepKey) -> bool {
        if let Some(each) = self.each(key.step) {
            return self.fan(each).open().contains(&key);
        }
        self.underway(key.step).pending == Some(key)
            || self.question(key.leaf).is_some_and(|q| q.key == key)
    }

    /// Removes an open step or question. Its walk no longer waits for it.
    pub(super) fn close(&mut self, key: StepKey) {
        if self.question(key.leaf).is_some_and(|q| q.key == key) {
            self.take_question(key.leaf);
        }
        // The mark `due` stays: the step's state may have been entered again in this macrostep.
        let Underway { pending, due, .. } = self.underway(key.step);
        if pending == Some(key) {
            *self.underway_mut(key.step) = Underway { due, ..Underway::NEW };
        }
        // The timeouts of an `ask` stay armed while the question is open in another leaf.
        if !self.is_asking(key.step) {
            self.disarm_timeouts(key.step);
        }
        self.no_longer_awaits(key.step);
    }

    /// Starts another attempt if the step has one left. It is charged to the limits of the run, but not to the calls of the turn.
    fn try_again(&mut self, key: StepKey, sink: &mut dyn Sink) -> bool {
        let row = self.tables.steps[key.step.index()];
        if key.attempt > row.retries {
            return false;
        }
        let is_model = matches!(row.kind, StepRowKind::Llm | StepRowKind::Ask { .. });
        if is_model && !self.charge_call(row.state, key.leaf, sink) {
            // The limit's own transitions may have left the state or ended the run.
            if self.is_open(key) {
                return false;
            }
            return true;
        }
        sink.record(Record::Retried(key));
        let next = StepKey { attempt: key.attempt + 1, ..key };
        let is_ask = self.is_ask(key.step);
        if is_ask {
            self.put_question(Question { key: next, calling: None });
        } else {
            self.underway_mut(key.step).pending = Some(next);
        }
        sink.record(Record::Started(next));
        // The charge may have queued a warning, or enabled eventless transitions.
        sink.effect(if is_ask { Effect::Ask(next) } else { Effect::Start(next) });
        self.macrostep(None, sink);
        true
    }

    /// Handles the success of a step: takes the transitions for it, then applies `ends turn`, which was evaluated before those transitions.
    pub(super) fn step_done(
        &mut self,
        step: StepId,
        leaf: StateId,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        sink.record(Record::Done(step));
        let row = self.tables.steps[step.index()];
        // Evaluated first, because the transitions may change what it reads.
        let ends = row.ends_turn
            && self.in_view(leaf, |program, view| program.ends_turn(step, view)).unwrap_or(false);
        if !self.macrostep(Some(Occurrence::StepDone(step)), sink) && self.has_done_line(step) {
            sink.record(Record::Fallback(step, Fallback::NoLine));
        }
        if ends && in_walk {
            self.end_walk(WalkEnd::EndsTurn, sink);
        }
    }

    fn has_done_line(&self, step: StepId) -> bool {
        let state = self.tables.steps[step.index()].state;
        let lines = self.tables.states[state.index()].transitions;
        lines
            .of(self.tables.transitions)
            .iter()
            .any(|t| matches!(t.trigger, TriggerRow::StepDone(s) if s == step))
    }

    /// Handles the final failure of a step. Returns whether a transition for the error, or a policy that continues, has handled it.
    pub(super) fn step_failed(
        &mut self,
        step: StepId,
        _leaf: StateId,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) -> bool {
        sink.record(Record::Failed(step));
        if self.macrostep(Some(Occurrence::StepError(step)), sink) {
            return true;
        }
        if self.is_ask(step) {
            self.otherwise(step, Fallback::Failed, sink);
            return true;
        }
        match self.tables.steps[step.index()].failure {
            FailureRow::Fail => {
                if in_walk {
                    self.end_walk(WalkEnd::Failed(step), sink);
                }
                false
            }
            FailureRow::Skip => true,
            FailureRow::Take(_) => self.macrostep(Some(Occurrence::StepElse(step)), sink),
        }
    }

    /// Takes the declared `else` of an `ask`.
    pub(super) fn otherwise(&mut self, step: StepId, why: Fallback, sink: &mut dyn Sink) {
        sink.record(Record::Fallback(step, why));
        if matches!(
            self.tables.steps[step.index()].kind,
            StepRowKind::Ask { otherwise: Some(_), .. }
        ) {
            self.macrostep(Some(Occurrence::StepElse(step)), sink);
        }
    }

    /// Handles the model's choice of an option. The option's guard is evaluated again, because data may have changed since the question.
    fn choose(
        &mut self,
        key: StepKey,
        choice: ChoiceId,
        payload: P::Payload,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        let mut legal = false;
        self.each_option(key, &mut |option, tool| legal |= option == choice && tool.is_none());
        if !legal {
            self.program.bind(Bound::Nothing);
            self.otherwise(key.step, Fallback::Stale, sink);
            return;
        }
        sink.record(Record::Chosen(choice));
        self.program.bind(Bound::Choice(choice, payload));
        self.chosen(key.step, key.leaf, choice, in_walk, sink);
    }

    /// Takes the transition of a chosen option, then applies `ends turn`, which was evaluated before that transition.
    pub(super) fn chosen(
        &mut self,
        step: StepId,
        leaf: StateId,
        choice: ChoiceId,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        // Evaluated first, because the transition may change what it reads.
        let ends = self.tables.steps[step.index()].ends_turn
            && self.in_view(leaf, |program, view| program.ends_turn(step, view)).unwrap_or(false);
        if !self.macrostep(Some(Occurrence::Choice(choice)), sink) {
            self.otherwise(step, Fallback::Stale, sink);
        }
        if ends && in_walk {
            self.end_walk(WalkEnd::EndsTurn, sink);
        }
    }
}
