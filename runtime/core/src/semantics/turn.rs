//! Turns: the built-in event `turn`, then the walks over the steps in document order.

use super::Stepper;
use super::walk::Next;
use crate::arena::{StateId, StepId};
use crate::machine::{ErrorKind, Receipt, Record, Sink, StepKey, WalkEnd};
use crate::program::{Bound, Program};
use crate::store::{Part, Store, Walk, WalkStage, bits};
use crate::tables::{StepRow, StepRowKind};

impl<P: Program> Stepper<'_, P> {
    pub(super) fn turn(&mut self, sink: &mut dyn Sink) -> Receipt {
        if self.scalars.walking {
            return Receipt::Busy;
        }
        self.scalars.events += 1;
        sink.record(Record::Turn(self.scalars.turns + 1));
        self.store.need(Part::Walks, &self.tables);
        let cells = self.with_sets();
        // From here on, entries add to `touched`, and exits remove from `unbroken`.
        cells.touched.copy_from_slice(cells.configuration);
        cells.unbroken.copy_from_slice(cells.configuration);
        cells.walks.fill(Walk::NEW);
        cells.walks[0].stage = WalkStage::Open;
        self.scalars.walking = true;
        self.scalars.stopped = false;
        let leaf = self.leaf_of(StateId(0));
        self.in_view(leaf, |program, view| program.begin_turn(view));
        self.program.bind(Bound::Nothing);
        self.macrostep_of_turn(sink);
        Receipt::Handled
    }

    /// Continues the walks until each of them waits for an answer, or ends the turn. Sent events that are due are delivered before each
    /// step and at the end.
    pub(super) fn walk_on(&mut self, sink: &mut dyn Sink) {
        let mut first = 0;
        loop {
            while self.deliver(sink) {}
            if !self.scalars.walking || self.is_over() {
                return;
            }
            match self.next_of_walks(first) {
                Some((walk, next)) => {
                    // The same walk goes on as long as it can; then the next one.
                    first = walk;
                    self.go(walk, next, sink);
                }
                None if self.some_walk_waits() => return,
                None => self.end_turn(sink),
            }
        }
    }

    fn go(&mut self, walk: usize, next: Next, sink: &mut dyn Sink) {
        match next {
            Next::Step(step) => {
                self.pass(walk, step);
                let row = self.tables.steps[step.index()];
                self.walk_step(step, &row, sink);
            }
            Next::Ask(step, leaf) => {
                let row = self.tables.steps[step.index()];
                self.walk_question(walk, step, &row, leaf, sink);
            }
            Next::Fork(parallel) => self.fork(parallel),
            Next::Waits | Next::Rests => {}
        }
    }

    fn walk_step(&mut self, step: StepId, row: &StepRow<'_>, sink: &mut dyn Sink) {
        // A `human` or `run` step of an earlier turn may still be pending. It is not started again.
        if matches!(row.kind, StepRowKind::Ask { .. } | StepRowKind::Run { on_entry: true, .. })
            || !self.is_active(row.state)
            || self.underway(step).pending.is_some()
        {
            return;
        }
        let leaf = self.leaf_of(row.state);
        if !self.step_holds(step, leaf, sink) {
            sink.record(Record::Skipped(step));
            return;
        }
        if let Some(each) = row.each {
            let awaits = matches!(row.kind, StepRowKind::Llm | StepRowKind::Call);
            return self.start_each(step, leaf, each, awaits, sink);
        }
        match row.kind {
            StepRowKind::Code => {
                sink.record(Record::Started(self.key(step, leaf)));
                if self.in_view(leaf, |program, view| program.code(step, view)).is_ok() {
                    self.program.bind(Bound::Nothing);
                    self.step_done(step, leaf, true, sink);
                } else {
                    self.program.bind(Bound::Nothing);
                    if !self.step_failed(step, leaf, true, sink) {
                        self.raise_error(ErrorKind::Execution, sink);
                        self.macrostep(None, sink);
                    }
                }
            }
            StepRowKind::Llm => {
                let region = self.region_of(row.state);
                if self.admits_call(region) {
                    self.start_step(step, leaf, true, sink);
                } else {
                    self.end_walk(WalkEnd::Calls(region), sink);
                }
            }
            StepRowKind::Call => self.start_step(step, leaf, true, sink),
            StepRowKind::Human | StepRowKind::Run { on_entry: false, .. } => {
                self.start_step(step, leaf, false, sink);
            }
            StepRowKind::Ask { .. } | StepRowKind::Run { on_entry: true, .. } => {}
        }
    }

    /// Evaluates the `if` of a step. A condition that cannot be evaluated counts as false and raises `error.execution`.
    pub(super) fn step_holds(&mut self, step: StepId, leaf: StateId, sink: &mut dyn Sink) -> bool {
        if !self.tables.steps[step.index()].guard {
            return true;
        }
        let held = self.in_view(leaf, |program, view| program.step_guard(step, view));
        if held.is_err() {
            self.raise_error(ErrorKind::Execution, sink);
            self.macrostep(None, sink);
        }
        held.unwrap_or(false)
    }

    pub(super) fn key(&self, step: StepId, leaf: StateId) -> StepKey {
        StepKey { step, leaf, event: self.scalars.events, attempt: 1, element: None }
    }

    fn start_step(&mut self, step: StepId, leaf: StateId, awaits: bool, sink: &mut dyn Sink) {
        let row = self.tables.steps[step.index()];
        let is_model = matches!(row.kind, StepRowKind::Llm);
        if is_model && !self.charge_call(row.state, leaf, sink) {
            self.end_walk(WalkEnd::Calls(self.region_of(row.state)), sink);
            return;
        }
        let key = self.open_step(step, leaf, sink);
        let walk = self.walk_mut(row.state);
        walk.calls += u32::from(is_model);
        if awaits {
            walk.at = Some(step);
        }
        sink.record(Record::Started(key));
        sink.effect(crate::machine::Effect::Start(key));
        self.macrostep(None, sink);
    }

    /// Makes a step pending, and arms its timeouts. Returns the key of the first attempt.
    pub(super) fn open_step(
        &mut self,
        step: StepId,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) -> StepKey {
        let key = self.key(step, leaf);
        self.underway_mut(step).pending = Some(key);
        self.store.cells_mut().started[step.index()] = self.scalars.now;
        self.arm_timeouts(step, leaf, sink);
        key
    }

    fn end_turn(&mut self, sink: &mut dyn Sink) {
        self.scalars.walking = false;
        self.scalars.turns += 1;
        self.store.need(Part::Counts, &self.tables);
        let cells = self.store.cells_mut();
        for state in bits::iter(cells.touched) {
            cells.counts[state].turns_in += 1;
        }
        for state in bits::iter(cells.unbroken) {
            cells.counts[state].turns_here += 1;
        }
        // The counts are complete before limits and deadlines read them.
        sink.record(Record::TurnEnded(self.scalars.turns));
        self.program.bind(Bound::Nothing);
        self.check_turn_limits(sink);
        self.fire_turn_deadlines(sink);
        self.macrostep(None, sink);
    }
}
