//! Questions: their enabled options, and when a model is asked.

use super::Stepper;
use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::machine::{
    Effect, ErrorKind, Fallback, LOOP, Outcome, Receipt, Record, Sink, StepKey, WalkEnd,
};
use crate::program::{Bound, Caller, Program};
use crate::store::{Occurrence, Question, Store, bits};
use crate::tables::{Reacts, StartsRow, StepRow, StepRowKind, TriggerRow};

/// The result of offering an event, for which no transition was taken, to the steps that wait for it.
pub(super) enum StartEffect {
    /// No step waits for the event.
    Nobody,
    /// The step that waits for it is under way already.
    UnderWay,
    /// A step was started, or was settled at once.
    Started,
}

impl<P: Program> Stepper<P> {
    /// Calls `each` with the options that are enabled now for the question's leaf, innermost state first, in document order; for a `may
    /// call` transition once with each of its tools. A tool that several transitions permit belongs to the first.
    pub fn options(&mut self, key: StepKey, each: &mut dyn FnMut(ChoiceId, Option<ToolId>)) {
        self.program.refuel();
        self.each_option(key, each);
    }

    /// Like [`Stepper::options`], but within an input, so that the budget of evaluations is not refilled.
    pub(super) fn each_option(
        &mut self,
        key: StepKey,
        each: &mut dyn FnMut(ChoiceId, Option<ToolId>),
    ) {
        let mut path = Some(key.leaf).filter(|leaf| leaf.index() < self.tables.states.len());
        let tables = self.tables.clone();
        while let Some(state) = path {
            for choice in tables.states[state.index()].choices.of(&tables.choice_pool) {
                let id = tables.choices[choice.index()].transition;
                let row = tables.transitions[id.index()];
                // The host may ask with an outdated key, whose leaf is not active any more.
                if self.is_active(state)
                    && self.in_scope(&row)
                    && (!row.guard
                        || self
                            .in_view(key.leaf, |program, view| program.guard(id, view))
                            .unwrap_or(false))
                {
                    match tables.choices[choice.index()].tools {
                        None => each(*choice, None),
                        Some(tools) => {
                            let tools = tools.of(&tables.tool_pool).iter();
                            tools.for_each(|tool| each(*choice, Some(*tool)));
                        }
                    }
                }
            }
            path = self.parent(state);
        }
    }

    /// The innermost step that waits for an event (`None`: the innermost `ask … on turn`) and whose `if` holds, searched from `leaf`
    /// outwards up to a state that defers the event.
    pub(super) fn innermost_waiting(
        &mut self,
        leaf: StateId,
        event: Option<EventId>,
    ) -> Option<StepId> {
        let mut path = Some(leaf);
        let tables = self.tables.clone();
        while let Some(state) = path {
            for step in tables.states[state.index()].steps.of(&tables.step_pool) {
                let row = &tables.steps[step.index()];
                let waits = match (row.starts, event) {
                    (StartsRow::InTurn, None) => matches!(row.kind, StepRowKind::Ask { .. }),
                    (StartsRow::OnEvent(events), Some(event)) => {
                        events.of(&tables.event_pool).contains(&event)
                    }
                    (StartsRow::InTurn | StartsRow::OnEntry, Some(_))
                    | (StartsRow::OnEvent(_) | StartsRow::OnEntry, None) => false,
                };
                if waits
                    && (!row.guard
                        || self
                            .in_view(leaf, |program, view| program.step_guard(*step, view))
                            .unwrap_or(false))
                {
                    return Some(*step);
                }
            }
            if event.is_some_and(|event| self.defers(state, event)) {
                return None;
            }
            path = self.parent(state);
        }
        None
    }

    /// Whether a step that waits for an event can start: it is not under way, and a question of an `ask` finds no other in its leaf.
    pub(super) fn can_start(&self, step: StepId, leaf: StateId) -> bool {
        if self.is_ask(step) {
            self.question(leaf).is_none()
        } else {
            self.underway(step).pending.is_none()
        }
    }

    /// Whether a step that waits for the event can start in this leaf.
    pub(super) fn would_start(&mut self, leaf: StateId, event: EventId) -> bool {
        self.innermost_waiting(leaf, Some(event)).is_some_and(|step| self.can_start(step, leaf))
    }

    /// Notes the active leaves before an event is handled. An exit removes a state from the set, and an entry does not add it again.
    pub(super) fn note_leaves(&mut self) {
        let cells = self.with_sets();
        cells.found.copy_from_slice(cells.configuration);
    }

    /// Starts the step that waits for `event` in every leaf that has one and that was active when the event came. The event does not
    /// apply to a leaf that a `when` transition or a step that is settled at once has entered since.
    pub(super) fn start_on_event(&mut self, event: EventId, sink: &mut dyn Sink) -> StartEffect {
        // First, because a step that is settled at once drops the data of the event.
        self.set_asked_on_event(event, sink);
        let mut effect = StartEffect::Nobody;
        let mut from = 0;
        while let Some((leaf, step)) = self.next_waiting(from, event) {
            from = leaf.index() + 1;
            if !self.can_start(step, leaf) {
                if matches!(effect, StartEffect::Nobody) {
                    effect = StartEffect::UnderWay;
                }
                continue;
            }
            effect = StartEffect::Started;
            let row = &self.tables.steps[step.index()];
            let (is_ask, each) = (matches!(row.kind, StepRowKind::Ask { .. }), row.each);
            if is_ask {
                self.put(step, leaf, false, sink);
                continue;
            }
            self.serve_other_leaves(step, leaf, event);
            match each {
                Some(each) => self.start_each(step, leaf, each, false, sink),
                None => self.start_step(step, leaf, false, sink),
            }
        }
        effect
    }

    /// Notes that the event is handled in the further leaves for which the step is the innermost, because it starts only once.
    fn serve_other_leaves(&mut self, step: StepId, leaf: StateId, event: EventId) {
        let state = self.tables.steps[step.index()].state;
        let mut from = leaf.index() + 1;
        while let Some((other, waiting)) = self.next_waiting(from, event)
            && self.contains(state, other)
        {
            from = other.index() + 1;
            if waiting == step {
                bits::remove(self.store.cells_mut().found, other.index());
            }
        }
    }

    /// Sets what the steps that wait for an event show.
    fn set_asked_on_event(&mut self, event: EventId, sink: &mut dyn Sink) {
        if !self.tables.steps.iter().any(|row| row.asking) {
            return;
        }
        let mut from = 0;
        while let Some((leaf, step)) = self.next_waiting(from, event) {
            from = leaf.index() + 1;
            if self.can_start(step, leaf) {
                self.set_asked(step, leaf, sink);
            }
        }
    }

    /// The first leaf from `from` on that was active when the event came and has a step that waits for it.
    fn next_waiting(&mut self, from: usize, event: EventId) -> Option<(StateId, StepId)> {
        let end = self.tables.states.len();
        let mut from = from;
        while let Some(leaf) = self.next_leaf(from, end) {
            from = leaf.index() + 1;
            let is_found = bits::has(self.store.cells().found, leaf.index());
            if is_found
                && self.reacts_on_path(leaf, Reacts::START)
                && let Some(step) = self.innermost_waiting(leaf, Some(event))
            {
                return Some((leaf, step));
            }
        }
        None
    }

    /// The first leaf below an `ask … on turn` in which it was not put yet. Each region keeps its own progress.
    pub(super) fn next_leaf_to_ask(&self, step: StepId) -> Option<StateId> {
        let state = self.tables.steps[step.index()].state;
        let (cells, tables) = (self.store.cells(), &self.tables);
        let from = self.leaves_before(state);
        let inside = self.active_leaves()[from..].iter().take_while(|l| self.contains(state, **l));
        inside.copied().find(|leaf| {
            let walk = cells.walk(tables.states[leaf.index()].walk as usize);
            walk.leaf <= leaf.0 && !self.hides_asks(*leaf)
        })
    }

    /// Puts an `ask … on turn` of a walk in a leaf, unless another `ask` further inside takes precedence.
    pub(super) fn walk_question(
        &mut self,
        walk: usize,
        step: StepId,
        row: &StepRow,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) {
        // Noted before the `if` runs, so that a question which is skipped is not visited again.
        self.nth_walk_mut(walk).at = Some(step);
        self.walk_mut(leaf).leaf = leaf.0 + 1;
        if !self.step_holds(step, leaf, sink) {
            sink.record(Record::Skipped(step));
            return;
        }
        // An outer `ask` gives way to one further inside.
        let inner = self.innermost_waiting(leaf, None);
        let hidden = inner.is_some_and(|inner| {
            let state = self.tables.steps[inner.index()].state;
            state != row.state && self.contains(row.state, state)
        });
        // The condition may have raised an error whose transitions left the leaf, and an event may have put a question.
        if !hidden && self.is_active(leaf) && self.question(leaf).is_none() {
            self.set_asked(step, leaf, sink);
            self.put(step, leaf, true, sink);
        }
    }

    /// Asks the model. There are two exceptions: without options, `else` is taken; a single option without arguments is taken at once,
    /// unless the step is `always`.
    fn put(&mut self, step: StepId, leaf: StateId, in_walk: bool, sink: &mut dyn Sink) {
        let row = &self.tables.steps[step.index()];
        let StepRowKind::Ask { always, .. } = row.kind else { return };
        let state = row.state;
        let key = self.key(step, leaf);
        let mut count = 0;
        let mut only = None;
        self.each_option(key, &mut |choice, tool| {
            count += 1;
            // A tool is never called without asking the model.
            only = Some((choice, tool.is_none()));
        });
        let Some((first, is_plain)) = only else {
            self.program.bind(Bound::Nothing);
            self.otherwise(step, Fallback::NoOption, sink);
            return;
        };
        let is_bare = self.tables.choices[first.index()].fields.len == 0;
        if count == 1 && !always && is_plain && is_bare {
            sink.record(Record::Unasked(first));
            self.program.bind(Bound::Nothing);
            self.chosen(step, leaf, first, in_walk, sink);
            return;
        }
        // The bound of the turn is checked first, because `charge_call` charges the limits of the run.
        let region = self.region_of(leaf);
        if in_walk && !self.admits_call(region) || !self.charge_call(state, leaf, sink) {
            self.end_walk(WalkEnd::Calls(region), sink);
            return;
        }
        self.put_question(Question { key, calling: None });
        self.store.cells_mut().started[step.index()] = self.scalars.now;
        self.arm_timeouts(step, leaf, sink);
        if in_walk {
            self.walk_mut(leaf).calls += 1;
        }
        sink.record(Record::Started(key));
        sink.effect(Effect::Ask(key));
        self.macrostep(None, sink);
    }
}

// Tools that the model of an `ask` calls. A `may call` transition permits the call, the call belongs to the leaf of the question, and the
// transition is taken when the tool has returned.

impl<P: Program> Stepper<P> {
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
                self.close(key, sink);
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
            Outcome::Failed(reason) | Outcome::Final(reason) => {
                self.close(key, sink);
                self.counts_mut(leaf).fails_here += 1;
                sink.record(Record::CallFailed(key, tool));
                self.program.bind(Bound::CallFailed(caller, reason));
                self.program.bind(Bound::Nothing);
                self.look_for_loop(sink);
                self.macrostep(None, sink);
            }
            Outcome::Doubt(_) => {
                self.close(key, sink);
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
        rows.any(|row| matches!(row.trigger, TriggerRow::Error(p) if ErrorKind::names_loops(&self.tables.name_pool[p as usize])))
    }

    /// The option and the tool of the call that is under way for this open question.
    pub(super) fn calling(&self, key: StepKey) -> Option<(ChoiceId, ToolId)> {
        self.question(key.leaf).filter(|question| question.key == key)?.calling
    }

    /// The caller that the call with this key belongs to. That of a question about a tool call is the step whose model wants the call.
    pub fn caller(&self, key: StepKey) -> Caller {
        let row = self.tables.steps.get(key.step.index());
        if let Some(step) = row.and_then(|row| row.approves) {
            return Caller::Step(step);
        }
        match row.map(|row| row.kind) {
            Some(StepRowKind::Ask { .. }) | None => Caller::Question(key.leaf),
            Some(_) => Caller::Step(key.step),
        }
    }

    /// The tool whose call is under way for this key, or which this open question is about.
    pub fn wants(&self, key: StepKey) -> Option<ToolId> {
        let caller = self.tables.steps.get(key.step.index()).and_then(|row| row.approves);
        let about = caller.filter(|_| self.is_open(key)).map(|step| self.underway(step));
        about.map_or_else(|| self.calls(key), |register| register.calling)
    }

    /// The tool whose call is under way for this key.
    pub fn calls(&self, key: StepKey) -> Option<ToolId> {
        self.calling(key).map(|(_, tool)| tool).or_else(|| self.step_calling(key))
    }
}
