//! Questions: their enabled options, and when a model is asked.

use super::Stepper;
use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::machine::{Effect, Fallback, Record, Sink, StepKey, WalkEnd};
use crate::program::{Bound, Program};
use crate::store::{Question, Store, bits};
use crate::tables::{Reacts, StepRow, StepRowKind};

/// The result of offering an event, for which no transition was taken, to the `ask` steps.
pub(super) enum QuestionEffect {
    /// No `ask` waits for the event.
    Nobody,
    /// The question that waits for it is already open.
    AlreadyOpen,
    /// A question was asked, or was settled without the model.
    Put,
}

impl<P: Program> Stepper<'_, P> {
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
        while let Some(state) = path {
            for choice in self.tables.states[state.index()].choices.of(self.tables.choice_pool) {
                let id = self.tables.choices[choice.index()].transition;
                let row = self.tables.transitions[id.index()];
                // The host may ask with an outdated key, whose leaf is not active any more.
                if self.is_active(state)
                    && self.in_scope(&row)
                    && (!row.guard
                        || self
                            .in_view(key.leaf, |program, view| program.guard(id, view))
                            .unwrap_or(false))
                {
                    match self.tables.choices[choice.index()].tools {
                        None => each(*choice, None),
                        Some(tools) => {
                            let tools = tools.of(self.tables.tool_pool).iter();
                            tools.for_each(|tool| each(*choice, Some(*tool)));
                        }
                    }
                }
            }
            path = self.parent(state);
        }
    }

    /// The innermost `ask` for an event (`None`: for the turn) whose `if` holds, searched from `leaf` outwards.
    pub(super) fn innermost_ask(
        &mut self,
        leaf: StateId,
        event: Option<EventId>,
    ) -> Option<StepId> {
        let mut path = Some(leaf);
        while let Some(state) = path {
            for step in self.tables.states[state.index()].steps.of(self.tables.step_pool) {
                let row = self.tables.steps[step.index()];
                let StepRowKind::Ask { on, .. } = row.kind else { continue };
                let waits = match (on, event) {
                    (None, None) => true,
                    (Some(events), Some(event)) => {
                        events.of(self.tables.event_pool).contains(&event)
                    }
                    (None, Some(_)) | (Some(_), None) => false,
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
            path = self.parent(state);
        }
        None
    }

    /// Notes the active leaves before an event is handled. An exit removes a state from the set, and an entry does not add it again.
    pub(super) fn note_leaves_to_ask(&mut self) {
        let cells = self.with_sets();
        cells.found.copy_from_slice(cells.configuration);
    }

    /// Asks the question that waits for `event` in every leaf that has one and that was active when the event came. The event does not
    /// apply to a leaf that a `when` transition or a question that is settled at once has entered since.
    pub(super) fn ask_on_event(&mut self, event: EventId, sink: &mut dyn Sink) -> QuestionEffect {
        let mut asked = QuestionEffect::Nobody;
        let end = self.tables.states.len();
        let mut from = 0;
        while let Some(leaf) = self.next_leaf(from, end) {
            from = leaf.index() + 1;
            let is_found = bits::has(self.store.cells().found, leaf.index());
            if !is_found || !self.reacts_on_path(leaf, Reacts::ASK) {
                continue;
            }
            let Some(step) = self.innermost_ask(leaf, Some(event)) else { continue };
            if self.question(leaf).is_some() {
                if matches!(asked, QuestionEffect::Nobody) {
                    asked = QuestionEffect::AlreadyOpen;
                }
                continue;
            }
            asked = QuestionEffect::Put;
            self.put(step, leaf, false, sink);
        }
        asked
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
        row: &StepRow<'_>,
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
        let inner = self.innermost_ask(leaf, None);
        let hidden = inner.is_some_and(|inner| {
            let state = self.tables.steps[inner.index()].state;
            state != row.state && self.contains(row.state, state)
        });
        // The condition may have raised an error whose transitions left the leaf, and an event may have put a question.
        if !hidden && self.is_active(leaf) && self.question(leaf).is_none() {
            self.put(step, leaf, true, sink);
        }
    }

    /// Asks the model. There are two exceptions: without options, `else` is taken; a single option without arguments is taken at once,
    /// unless the step is `always`.
    fn put(&mut self, step: StepId, leaf: StateId, in_walk: bool, sink: &mut dyn Sink) {
        let row = self.tables.steps[step.index()];
        let StepRowKind::Ask { always, .. } = row.kind else { return };
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
        if in_walk && !self.admits_call(region) || !self.charge_call(row.state, leaf, sink) {
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
