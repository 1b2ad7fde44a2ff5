//! Steps that run for each element of a list: several at a time, until every element has succeeded or failed, or enough have succeeded.

use super::Stepper;
use crate::arena::{StateId, StepId};
use crate::machine::{
    Effect, Element, ErrorKind, Outcome, Receipt, Record, Sink, StepKey, WalkEnd,
};
use crate::program::{Bound, Program};
use crate::store::{Fan, Occurrence, Part, Store};
use crate::tables::{EachRow, Lost, StepRowKind};

impl<P: Program> Stepper<'_, P> {
    /// The `each` of a step, if it has one.
    pub(super) fn each(&self, step: StepId) -> Option<EachRow> {
        self.tables.steps.get(step.index())?.each
    }

    /// The register of a step with an `each`; empty while the step is not under way.
    pub(super) fn fan(&self, each: EachRow) -> &Fan {
        const NONE: &Fan = &Fan::NONE;
        self.store.cells().fans.get(each.slot as usize).unwrap_or(NONE)
    }

    fn fan_mut(&mut self, each: EachRow) -> &mut Fan {
        self.store.need(Part::Fans, &self.tables);
        &mut self.store.cells_mut().fans[each.slot as usize]
    }

    /// Starts a step with an `each`: evaluates its list, and starts the first elements.
    pub(super) fn start_each(
        &mut self,
        step: StepId,
        leaf: StateId,
        each: EachRow,
        awaits: bool,
        sink: &mut dyn Sink,
    ) {
        let row = self.tables.steps[step.index()];
        let size = self.in_view(leaf, |program, view| program.elements(step, each.most, view));
        let size = match size {
            Ok(size) => size,
            Err(reason) => {
                let is_fault = reason.is_none();
                self.program.bind(reason.map_or(Bound::Nothing, |why| Bound::Reason(step, why)));
                if !self.step_failed(step, leaf, true, sink) && is_fault {
                    self.raise_error(ErrorKind::Execution, sink);
                    self.macrostep(None, sink);
                }
                return;
            }
        };
        // An empty list needs no call.
        let is_model = matches!(row.kind, StepRowKind::Llm) && size > 0;
        // Checked before the start for all the elements that must succeed, so that no calls are paid for a step that cannot succeed.
        if is_model {
            let region = self.region_of(row.state);
            let needed = each.needed(size);
            if !self.admits_call(region) || !self.ensure_room_for(row.state, needed, sink) {
                self.end_walk(WalkEnd::Calls(region), sink);
                return;
            }
        }
        *self.fan_mut(each) = Fan { size, ..Fan::default() };
        let key = self.open_step(step, leaf, sink);
        let walk = self.walk_mut(row.state);
        walk.calls += u32::from(is_model);
        if awaits {
            walk.at = Some(step);
        }
        sink.record(Record::Started(key));
        self.each_on(key, each, sink);
    }

    /// Continues a step with an `each`. Ends the step if all elements are settled or enough have succeeded; otherwise starts further
    /// elements.
    fn each_on(&mut self, whole: StepKey, each: EachRow, sink: &mut dyn Sink) {
        loop {
            // Starting an element can take transitions that end the step.
            if self.open_whole(whole.step) != Some(whole) {
                return;
            }
            let fan = self.fan(each);
            let needed = each.needed(fan.size);
            if fan.done >= needed && each.enough.is_some() || fan.done + fan.lost == fan.size {
                return self.finish_each(whole, each, sink);
            }
            if fan.next == fan.size || fan.open().len() as u32 >= each.at_a_time {
                break;
            }
            self.start_element(whole, each, sink);
        }
        self.macrostep(None, sink);
    }

    fn start_element(&mut self, whole: StepKey, each: EachRow, sink: &mut dyn Sink) {
        let row = self.tables.steps[whole.step.index()];
        let fan = self.fan_mut(each);
        let element = Some(Element::at(fan.next));
        fan.next += 1;
        let key = StepKey { element, ..whole };
        let is_model = matches!(row.kind, StepRowKind::Llm);
        if is_model && !self.charge_call(row.state, whole.leaf, sink) {
            self.program.bind(Bound::Nothing);
            self.settle_lost_element(key, each, sink);
            return;
        }
        self.fan_mut(each).add(key);
        sink.record(Record::Started(key));
        sink.effect(Effect::Start(key));
    }

    /// The key of the step as a whole; `None` if the step is not open any more.
    fn open_whole(&self, step: StepId) -> Option<StepKey> {
        if self.is_over() { None } else { self.underway(step).pending }
    }

    /// Handles the answer to an open element.
    pub(super) fn element_answer(
        &mut self,
        key: StepKey,
        element: Element,
        each: EachRow,
        outcome: Outcome<P::Payload>,
        sink: &mut dyn Sink,
    ) -> Receipt {
        let StepKey { step, leaf, .. } = key;
        let Some(whole) = self.open_whole(step) else { return Receipt::Refused };
        match outcome {
            Outcome::Done(answer) => {
                let fan = self.fan_mut(each);
                fan.remove(Some(key));
                fan.done += 1;
                sink.record(Record::ElementDone(key));
                self.program.element_done(step, element, answer);
                self.program.bind(Bound::Nothing);
                self.each_on(whole, each, sink);
            }
            Outcome::Failed(reason) => {
                if matches!(self.tables.steps[step.index()].kind, StepRowKind::Call) {
                    self.counts_mut(leaf).fails_here += 1;
                }
                if !self.try_element_again(key, each, sink) {
                    self.program.bind(Bound::Reason(step, reason));
                    self.lose(key, each, sink);
                }
            }
            Outcome::Doubt => {
                self.program.bind(Bound::Nothing);
                if !self.macrostep(Some(Occurrence::StepDoubt(step)), sink) {
                    self.lose(key, each, sink);
                } else if self.open_whole(step) == Some(whole) {
                    self.cancel(whole, sink);
                    self.close(whole);
                }
            }
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                self.counts_mut(leaf).fails_here += 1;
                if !self.try_element_again(key, each, sink) {
                    self.program.bind(Bound::Nothing);
                    self.lose(key, each, sink);
                }
            }
        }
        Receipt::Handled
    }

    fn try_element_again(&mut self, key: StepKey, each: EachRow, sink: &mut dyn Sink) -> bool {
        let row = self.tables.steps[key.step.index()];
        if key.attempt > row.retries {
            return false;
        }
        let is_model = matches!(row.kind, StepRowKind::Llm);
        if is_model && !self.charge_call(row.state, key.leaf, sink) {
            // The limit's own transitions may have left the state or ended the run.
            return !self.is_open(key);
        }
        let next = StepKey { attempt: key.attempt + 1, ..key };
        let fan = self.fan_mut(each);
        fan.remove(Some(key));
        fan.add(next);
        sink.record(Record::Retried(key));
        sink.record(Record::Started(next));
        sink.effect(Effect::Start(next));
        self.macrostep(None, sink);
        true
    }

    /// Handles an element that failed for good: the step fails, or continues without it. The reason must be bound already.
    pub(super) fn lose(&mut self, key: StepKey, each: EachRow, sink: &mut dyn Sink) {
        let whole = self.open_whole(key.step);
        if self.settle_lost_element(key, each, sink)
            && let Some(whole) = whole
        {
            self.each_on(whole, each, sink);
        }
    }

    /// Like [`Self::lose`], but does not start further elements. Returns whether the step continues.
    fn settle_lost_element(&mut self, key: StepKey, each: EachRow, sink: &mut dyn Sink) -> bool {
        let step = key.step;
        let Some(whole) = self.open_whole(step) else { return false };
        let fan = self.fan_mut(each);
        fan.remove(Some(key));
        fan.lost += 1;
        sink.record(Record::ElementLost(key));
        let fan = self.fan(each);
        let needed = each.enough.map_or(0, |_| each.needed(fan.size));
        // Without `enough`, any number of elements may fail.
        let goes_on = each.lost != Lost::Fail && fan.size - fan.lost >= needed;
        if !goes_on {
            let in_walk = self.awaits(whole);
            self.cancel(whole, sink);
            self.close(whole);
            self.step_failed(step, key.leaf, in_walk, sink);
        }
        goes_on
    }

    /// Ends the step successfully: all elements are settled, or enough have succeeded.
    fn finish_each(&mut self, whole: StepKey, each: EachRow, sink: &mut dyn Sink) {
        let in_walk = self.awaits(whole);
        // The answers are collected first: canceling the other elements drops the list.
        let answer = self.program.gathered(whole.step, each.lost == Lost::None);
        self.cancel(whole, sink);
        self.close(whole);
        self.program.bind(answer.map_or(Bound::Nothing, |all| Bound::Answer(whole.step, all)));
        self.step_done(whole.step, whole.leaf, in_walk, sink);
    }

    /// Cancels the elements that are under way, and drops the list and its answers.
    pub(super) fn cancel_elements(&mut self, step: StepId, each: EachRow, sink: &mut dyn Sink) {
        while let Some(key) = self.fan_mut(each).remove(None) {
            sink.effect(Effect::Cancel(key));
        }
        *self.fan_mut(each) = Fan::default();
        self.program.forget_elements(step);
    }
}
