//! Steps: their start on entry, their end, another attempt, lists with `each`, and tools that their model calls.
//!
//! **The problem.** A machine makes no calls. It orders one with an effect, and the host answers at any later time: too late, twice,
//! unusably, or not at all. Meanwhile the state may have been left.
//!
//! **The idea.** Every attempt has a [`StepKey`]. `answer` accepts a key only while it is open, so a late answer is dropped. From there,
//! each [`Outcome`] has one path: success (`step_done`), a chosen option (`choose`), a tool call, another attempt (`try_again`), failure
//! (`step_failed`) or doubt. The transitions for the outcome are tried first; if none is taken, the policy of the step applies. A step is
//! closed before its transitions run, so that leaving its state does not cancel a call that has ended. `ends turn` is evaluated before
//! them, too, because they may change what it reads.
//!
//! A step with `each` has a [`Fan`]: how many elements were started, succeeded or were lost. `each_on` starts elements up to `at_a_time`
//! and ends the step when all are settled, or `enough` have succeeded.
//!
//! **Example.** `call search each q in ["a", "b", "c"] docs.search(q) { 2 at a time  else skip }`, without retries:
//!
//! ```text
//! start_each          3 elements: Start [0], Start [1]         next 2, done 0, lost 0
//! answer [1] Done     ElementDone [1]; Start [2]               next 3, done 1, lost 0
//! answer [0] Failed   ElementLost [0]                          next 3, done 1, lost 1
//! answer [2] Done     all are settled: the answer of `search` is the list of 1 and 2, and `done` transitions are tried
//! ```

use super::Stepper;
use crate::arena::{ChoiceId, StateId, StepId, ToolId};
use crate::machine::{
    Effect, Element, ErrorKind, Fallback, Outcome, Receipt, Record, Sink, StepKey, WalkEnd,
};
use crate::program::{Block, Bound, Caller, Program};
use crate::store::{Fan, Occurrence, Part, Question, Store, Underway};
use crate::tables::{
    EachRow, FailureKind, FailureRow, Lost, Span, StartsRow, StepRow, StepRowKind, Tables,
    ToolLineRow, TriggerRow,
};

impl<P: Program> Stepper<P> {
    /// Handles the outcome of an open attempt, question or element, or of the tool call that it waits for.
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
        if let Some(caller) = self.tables.steps[step.index()].approves {
            self.approval_answer(key, caller, outcome, sink);
            return Receipt::Handled;
        }
        // The model waits until a person approves its tool call.
        if self.approval(step).is_some() {
            sink.record(Record::Dropped(key));
            return Receipt::Refused;
        }
        // While a tool is called, an answer with the question's key is the result of the tool.
        if let Some((choice, tool)) = self.calling(key) {
            return self.tool_answer(key, choice, tool, outcome, sink);
        }
        if let Some(tool) = self.step_calling(key) {
            return self.step_tool_answer(key, tool, outcome, sink);
        }
        let (is_ask, in_walk) = (self.is_ask(step), self.awaits(key));
        match outcome {
            Outcome::Done(payload) if !is_ask => {
                self.close(key, sink);
                self.program.bind(Bound::Answer(step, payload));
                self.step_done(step, leaf, in_walk, sink);
            }
            Outcome::Choice(choice, payload) if is_ask => {
                self.close(key, sink);
                self.choose(key, choice, payload, in_walk, sink);
            }
            Outcome::Call(tool, payload) if is_ask => match self.permits(key, tool) {
                Some(choice) => self.call_tool(key, choice, tool, payload, sink),
                None => self.forbidden(key, tool, in_walk, sink),
            },
            Outcome::Call(tool, payload) if self.has_tools(step) => {
                if self.permits_tool(key, tool) {
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
            Outcome::Failed(reason) => self.answer_failed(key, reason, false, in_walk, sink),
            Outcome::Final(reason) => self.answer_failed(key, reason, true, in_walk, sink),
            Outcome::Doubt(reason) => self.step_doubted(key, Some(reason), in_walk, sink),
        }
        Receipt::Handled
    }

    fn answer_failed(
        &mut self,
        key: StepKey,
        reason: P::Payload,
        is_final: bool,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        let StepKey { step, leaf, .. } = key;
        // `fails_here` counts errors of tools, but not failed calls of models.
        if matches!(self.tables.steps[step.index()].kind, StepRowKind::Call) {
            self.counts_mut(leaf).fails_here += 1;
        }
        let may_retry = !is_final && self.retries_failed(step);
        if !(may_retry && self.try_again(key, sink)) {
            self.close(key, sink);
            self.program.bind(Bound::Reason(step, reason));
            self.step_failed(step, leaf, in_walk, sink);
        }
    }

    /// Ends a step of which nobody knows whether it took effect: takes its `doubt` transitions, or fails it.
    pub(super) fn step_doubted(
        &mut self,
        key: StepKey,
        reason: Option<P::Payload>,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        let StepKey { step, leaf, .. } = key;
        self.close(key, sink);
        if matches!(self.tables.steps[step.index()].kind, StepRowKind::Call) {
            self.counts_mut(leaf).fails_here += 1;
        }
        self.program.bind(Bound::Nothing);
        if !self.macrostep(Some(Occurrence::StepDoubt(step)), sink) {
            self.program.bind(reason.map_or(Bound::Nothing, |why| Bound::Reason(step, why)));
            self.step_failed(step, leaf, in_walk, sink);
        }
    }

    pub(super) fn is_ask(&self, step: StepId) -> bool {
        matches!(self.tables.steps[step.index()].kind, StepRowKind::Ask { .. })
    }

    /// Handles an unusable answer: counts the failure, then starts another attempt or takes the step's fallback.
    pub(super) fn unusable(&mut self, key: StepKey, in_walk: bool, sink: &mut dyn Sink) {
        let StepKey { step, leaf, .. } = key;
        self.counts_mut(leaf).fails_here += 1;
        if self.retries_on(step, FailureKind::Unusable) && self.try_again(key, sink) {
            return;
        }
        self.close(key, sink);
        self.program.bind(Bound::Nothing);
        if self.is_ask(step) {
            self.otherwise(step, Fallback::Unusable, sink);
        } else {
            self.step_failed(step, leaf, in_walk, sink);
        }
    }

    /// Whether the step makes another attempt after [`Outcome::Failed`]. Only the host knows the kind of a failed call, and answers
    /// [`Outcome::Final`] if no attempt follows. A child chart fails without the host.
    fn retries_failed(&self, step: StepId) -> bool {
        let is_child = matches!(self.tables.steps[step.index()].kind, StepRowKind::Run { .. });
        !is_child || self.retries_on(step, FailureKind::Other)
    }

    /// Whether the step makes another attempt after a failure of this kind.
    fn retries_on(&self, step: StepId, kind: FailureKind) -> bool {
        self.tables.steps[step.index()].retries_on.contains(kind)
    }

    pub(super) fn is_open(&self, key: StepKey) -> bool {
        if let Some(each) = self.each(key.step) {
            return self.fan(each).open().contains(&key);
        }
        self.underway(key.step).pending == Some(key)
            || self.question(key.leaf).is_some_and(|q| q.key == key)
    }

    /// Removes an open step or question. Its walk no longer waits for it.
    pub(super) fn close(&mut self, key: StepKey, sink: &mut dyn Sink) {
        if self.question(key.leaf).is_some_and(|q| q.key == key) {
            self.take_question(key.leaf);
        }
        // The mark `due` stays: the step's state may have been entered again in this macrostep.
        let Underway { pending, due, .. } = self.underway(key.step);
        if pending == Some(key) {
            *self.underway_mut(key.step) = Underway { due, ..Underway::NEW };
            // A deferred event may start the step again.
            self.moved |= self.tables.steps[key.step.index()].is_on_event();
        }
        // A tool call that ends with its step needs no approval any more.
        if let Some(approval) = self.approval(key.step) {
            self.cancel(approval, sink);
            self.close(approval, sink);
        }
        // The timeouts of an `ask` stay armed while the question is open in another leaf.
        if !self.is_asking(key.step) {
            self.disarm_timeouts(key.step);
        }
        self.no_longer_awaits(key.step);
    }

    /// Runs the assignments to what a question shows.
    pub(super) fn set_asked(&mut self, step: StepId, state: StateId, sink: &mut dyn Sink) {
        if self.tables.steps[step.index()].asking {
            self.run_block(Block::Asking(step), state, sink);
        }
    }

    /// Starts another attempt if the step has one left. It is charged to the limits of the run, but not to the calls of the turn.
    fn try_again(&mut self, key: StepKey, sink: &mut dyn Sink) -> bool {
        let StepRow { retries, kind, state, .. } = self.tables.steps[key.step.index()];
        if key.attempt > retries {
            return false;
        }
        let is_model = matches!(kind, StepRowKind::Llm | StepRowKind::Ask { .. });
        if is_model && !self.charge_call(state, key.leaf, sink) {
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
        let StepRow { ends_turn, .. } = self.tables.steps[step.index()];
        // Evaluated first, because the transitions may change what it reads.
        let ends = ends_turn
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
            .of(&self.tables.transitions)
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

// Steps that run for each element of a list: several at a time, until every element has succeeded or failed, or enough have succeeded.

impl<P: Program> Stepper<P> {
    /// The `each` of a step, if it has one.
    pub(super) fn each(&self, step: StepId) -> Option<EachRow> {
        self.tables.steps.get(step.index())?.each
    }

    /// The register of a step with an `each`. It is empty while the step is not under way.
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
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        let StepRow { kind, state, .. } = self.tables.steps[step.index()];
        let size = self.in_view(leaf, |program, view| program.elements(step, each.most, view));
        let size = match size {
            Ok(size) => size,
            Err(reason) => {
                let is_fault = reason.is_none();
                self.program.bind(reason.map_or(Bound::Nothing, |why| Bound::Reason(step, why)));
                if !self.step_failed(step, leaf, in_walk, sink) && is_fault {
                    self.raise_error(ErrorKind::Execution, sink);
                    self.macrostep(None, sink);
                }
                return;
            }
        };
        // An empty list needs no call.
        let is_model = matches!(kind, StepRowKind::Llm) && size > 0;
        // Checked before the start for all the elements that must succeed, so that no calls are paid for a step that cannot succeed.
        if is_model {
            let region = self.region_of(state);
            let needed = each.needed(size);
            if in_walk && !self.admits_call(region) || !self.ensure_room_for(state, needed, sink) {
                self.end_walk(WalkEnd::Calls(region), sink);
                return;
            }
        }
        *self.fan_mut(each) = Fan { size, ..Fan::default() };
        let key = self.open_step(step, leaf, sink);
        if in_walk {
            self.count_in_walk(step, is_model);
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
        let StepRow { kind, state, .. } = self.tables.steps[whole.step.index()];
        let fan = self.fan_mut(each);
        let element = Some(Element::at(fan.next));
        fan.next += 1;
        let key = StepKey { element, ..whole };
        let is_model = matches!(kind, StepRowKind::Llm);
        if is_model && !self.charge_call(state, whole.leaf, sink) {
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
                let may_retry = self.retries_failed(step);
                self.element_failed(key, each, reason, may_retry, sink);
            }
            Outcome::Final(reason) => self.element_failed(key, each, reason, false, sink),
            Outcome::Doubt(reason) => {
                self.program.bind(Bound::Nothing);
                if !self.macrostep(Some(Occurrence::StepDoubt(step)), sink) {
                    self.program.bind(Bound::Reason(step, reason));
                    self.lose(key, each, sink);
                } else if self.open_whole(step) == Some(whole) {
                    self.cancel(whole, sink);
                    self.close(whole, sink);
                }
            }
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                self.counts_mut(leaf).fails_here += 1;
                let may_retry = self.retries_on(step, FailureKind::Unusable);
                if !(may_retry && self.try_element_again(key, each, sink)) {
                    self.program.bind(Bound::Nothing);
                    self.lose(key, each, sink);
                }
            }
        }
        Receipt::Handled
    }

    fn element_failed(
        &mut self,
        key: StepKey,
        each: EachRow,
        reason: P::Payload,
        may_retry: bool,
        sink: &mut dyn Sink,
    ) {
        if matches!(self.tables.steps[key.step.index()].kind, StepRowKind::Call) {
            self.counts_mut(key.leaf).fails_here += 1;
        }
        if !(may_retry && self.try_element_again(key, each, sink)) {
            self.program.bind(Bound::Reason(key.step, reason));
            self.lose(key, each, sink);
        }
    }

    fn try_element_again(&mut self, key: StepKey, each: EachRow, sink: &mut dyn Sink) -> bool {
        let StepRow { retries, kind, state, .. } = self.tables.steps[key.step.index()];
        if key.attempt > retries {
            return false;
        }
        let is_model = matches!(kind, StepRowKind::Llm);
        if is_model && !self.charge_call(state, key.leaf, sink) {
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
            self.close(whole, sink);
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
        self.close(whole, sink);
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

// Steps that start on entry: at the end of the macrostep in which their state was entered, if the state is still active.
//
// Source: SCXML 1.0, 6.4 and appendix D (`statesToInvoke`).

impl<P: Program> Stepper<P> {
    /// Marks the steps that the entry of a state starts.
    pub(super) fn note_entry_runs(&mut self, state: StateId) {
        if !self.tables.summary.entry_runs {
            return;
        }
        for at in self.tables.states[state.index()].steps.range() {
            let step = self.tables.step_pool[at];
            if self.tables.steps[step.index()].starts == StartsRow::OnEntry {
                self.underway_mut(step).due = true;
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
        let StepRow { state, guard, .. } = self.tables.steps[step.index()];
        let leaf = self.leaf_of(state);
        self.program.bind(Bound::Nothing);
        if guard {
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

// Tools that the model of an `llm` step calls: it receives each result and is asked again, until it answers.

impl<P: Program> Stepper<P> {
    /// Whether the step is an `llm` step whose model may call tools.
    pub fn has_tools(&self, step: StepId) -> bool {
        self.tables.steps.get(step.index()).is_some_and(|row| row.tools.len > 0)
    }

    /// Calls `each` with the tools that the model of this open step may call now: none after the last permitted call, and none whose `tool`
    /// lines do not hold.
    pub fn step_tools(&mut self, key: StepKey, each: &mut dyn FnMut(ToolId)) {
        self.program.refuel();
        self.each_step_tool(key, each);
    }

    /// Like [`Stepper::step_tools`], but within an input, so that the budget of evaluations is not refilled.
    fn each_step_tool(&mut self, key: StepKey, each: &mut dyn FnMut(ToolId)) {
        let tables = self.tables.clone();
        let Some(row) = tables.steps.get(key.step.index()) else { return };
        if key.leaf.index() >= tables.states.len()
            || self.underway(key.step).called >= row.tool_calls
        {
            return;
        }
        for tool in row.tools.of(&tables.tool_pool) {
            let mut lines = tool_lines(&tables, key.step, *tool);
            let holds = lines.all(|(nth, line)| {
                !line.guard
                    || self
                        .in_view(key.leaf, |program, view| program.tool_guard(nth, view))
                        .unwrap_or(false)
            });
            if holds {
                each(*tool);
            }
        }
    }

    pub(super) fn permits_tool(&mut self, key: StepKey, tool: ToolId) -> bool {
        let mut found = false;
        self.each_step_tool(key, &mut |one| found |= one == tool);
        found
    }

    /// The tool whose call is under way for this open step.
    pub(super) fn step_calling(&self, key: StepKey) -> Option<ToolId> {
        let register = self.underway(key.step);
        let calling = register.calling.filter(|_| register.pending == Some(key))?;
        self.approval(key.step).is_none().then_some(calling)
    }

    /// The open question to a person about the tool that the model of this step wants to call.
    pub(super) fn approval(&self, step: StepId) -> Option<StepKey> {
        let lines = self.tables.steps.get(step.index())?.tool_lines.of(&self.tables.tool_lines);
        lines.iter().find_map(|line| self.underway(line.asks?).pending)
    }

    /// Begins a tool call of the step's model, or first asks a person about it. The step stays open, and its timeouts stay armed.
    pub(super) fn call_step_tool(
        &mut self,
        key: StepKey,
        tool: ToolId,
        payload: P::Payload,
        sink: &mut dyn Sink,
    ) {
        let tables = self.tables.clone();
        let register = self.underway_mut(key.step);
        register.calling = Some(tool);
        register.called += 1;
        self.program.bind(Bound::Call(Caller::Step(key.step), tool, payload));
        let mut asks = None;
        for (nth, line) in tool_lines(&tables, key.step, tool) {
            if line.calling {
                self.run_block(Block::Calling(nth as u32), key.leaf, sink);
            }
            asks = asks.or(line.asks);
        }
        if let Some(person) = asks {
            self.set_asked(person, key.leaf, sink);
        }
        self.program.bind(Bound::Nothing);
        match asks {
            Some(person) => {
                // The question counts as an event, so that its key differs from that of an earlier one.
                self.scalars.events += 1;
                let approval = self.open_step(person, key.leaf, sink);
                sink.record(Record::Started(approval));
                sink.effect(Effect::Start(approval));
            }
            None => {
                sink.record(Record::Called(key, None, tool));
                sink.effect(Effect::Call(key, tool));
            }
        }
        self.macrostep(None, sink);
    }

    /// Handles a person's answer to whether the model of the step `caller` may make the call that it wants.
    fn approval_answer(
        &mut self,
        key: StepKey,
        caller: StepId,
        outcome: Outcome<P::Payload>,
        sink: &mut dyn Sink,
    ) {
        let step = key.step;
        let is_approved = match outcome {
            Outcome::Done(answer) => {
                self.close(key, sink);
                self.program.bind(Bound::Answer(step, answer));
                let is_yes = self.in_view(key.leaf, |program, view| program.ends_turn(step, view));
                sink.record(Record::Done(step));
                is_yes.unwrap_or(false)
            }
            Outcome::Failed(_) if self.try_again(key, sink) => return,
            Outcome::Failed(_) | Outcome::Final(_) | Outcome::Doubt(_) => {
                return self.approval_failed(key, caller, sink);
            }
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                if !(self.retries_on(step, FailureKind::Unusable) && self.try_again(key, sink)) {
                    self.approval_failed(key, caller, sink);
                }
                return;
            }
        };
        self.approved(caller, is_approved, sink);
    }

    /// Handles a question about a tool call that nobody answered: the call counts as refused.
    pub(super) fn approval_failed(&mut self, key: StepKey, caller: StepId, sink: &mut dyn Sink) {
        self.close(key, sink);
        sink.record(Record::Failed(key.step));
        self.approved(caller, false, sink);
    }

    /// Makes the call that the model of the step `caller` wants, or tells the model that a person has refused it.
    fn approved(&mut self, caller: StepId, is_approved: bool, sink: &mut dyn Sink) {
        self.program.bind(Bound::Nothing);
        let Underway { pending: Some(key), calling: Some(tool), .. } = self.underway(caller) else {
            return;
        };
        if is_approved {
            sink.record(Record::Called(key, None, tool));
            sink.effect(Effect::Call(key, tool));
            self.macrostep(None, sink);
            return;
        }
        self.counts_mut(key.leaf).fails_here += 1;
        sink.record(Record::CallFailed(key, tool));
        self.program.bind(Bound::Refused(Caller::Step(caller)));
        self.call_ended(key, sink);
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
            Outcome::Failed(reason) | Outcome::Final(reason) => {
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));
            }
            Outcome::Doubt(reason) => {
                self.program.forget_call(caller);
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.step_doubted(key, Some(reason), in_walk, sink);
                return Receipt::Handled;
            }
            // The model has answered a second time, although its tool call is under way.
            Outcome::Choice(..) | Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable => {
                sink.record(Record::Dropped(key));
                return Receipt::Refused;
            }
        }
        self.call_ended(key, sink);
        Receipt::Handled
    }

    /// Asks the model of the step again, now that its tool call has ended.
    fn call_ended(&mut self, key: StepKey, sink: &mut dyn Sink) {
        let StepKey { step, leaf, .. } = key;
        let in_walk = self.awaits(key);
        self.underway_mut(step).calling = None;
        self.program.bind(Bound::Nothing);
        self.look_for_loop(sink);
        // `streak` and `last_result` have changed, which may enable eventless transitions.
        self.macrostep(None, sink);
        if !self.is_open(key) {
            return;
        }
        if !self.charge_call(self.tables.steps[step.index()].state, key.leaf, sink) {
            if !self.is_over() && self.is_open(key) {
                self.close(key, sink);
                self.program.bind(Bound::Nothing);
                self.step_failed(step, leaf, in_walk, sink);
            }
            return;
        }
        sink.record(Record::Started(key));
        sink.effect(Effect::Start(key));
        self.macrostep(None, sink);
    }
}

/// The `tool` lines of a step for a tool, with their rows.
fn tool_lines(
    tables: &Tables,
    step: StepId,
    tool: ToolId,
) -> impl Iterator<Item = (usize, ToolLineRow)> + '_ {
    let rows = tables.steps.get(step.index()).map_or(Span::EMPTY, |row| row.tool_lines);
    let rows = rows.range().map(|nth| (nth, tables.tool_lines[nth]));
    rows.filter(move |(_, line)| line.tools.of(&tables.tool_pool).contains(&tool))
}
