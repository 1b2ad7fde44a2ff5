//! A turn: the built-in event, then one walk over the steps in document order.

use super::{Stepper, Walk};
use crate::arena::{StateId, StepId};
use crate::machine::{ErrorKind, Receipt, Record, Sink, StepKey, WalkEnd};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Store, bits};
use crate::structure;
use crate::tables::{StateRowKind, StepRow, StepRowKind};

/// Whether a model step may be started now.
pub(super) enum Admission {
    Go,
    /// Another region makes the first call of this turn.
    Later,
    /// The calls of this turn are used up.
    Over,
}

impl<P: Program> Stepper<'_, P> {
    pub(super) fn turn(&mut self, sink: &mut dyn Sink) -> Receipt {
        if self.scalars.walk.is_some() {
            return Receipt::Busy;
        }
        self.scalars.events += 1;
        sink.record(Record::Turn(self.scalars.turns + 1));
        let cells = self.store.cells_mut();
        cells.touched.copy_from_slice(cells.configuration);
        cells.unbroken.copy_from_slice(cells.configuration);
        let leaf = self.leaf_of(StateId(0));
        self.in_view(leaf, |program, view| program.begin_turn(view));
        self.program.bind(Bound::Nothing);
        self.scalars.walk = Some(Walk {
            cursor: 0,
            leaf: 0,
            calls: 0,
            awaiting: None,
            turn_taken: false,
            region: None,
            over: false,
        });
        let taken = self.macrostep(Some(Occurrence::Turn), sink);
        if let Some(walk) = &mut self.scalars.walk {
            walk.turn_taken = taken;
        }
        Receipt::Handled
    }

    /// Continues the walk until it waits for an answer or ends the turn. Before each step, and at the end, sent events that are due are
    /// delivered.
    pub(super) fn walk_on(&mut self, sink: &mut dyn Sink) {
        loop {
            while self.deliver(sink) {}
            let Some(walk) = self.scalars.walk else { return };
            if self.is_over() || walk.awaiting.is_some() {
                return;
            }
            if walk.over || walk.cursor as usize >= self.tables.steps.len() {
                self.end_turn(sink);
                continue;
            }
            let step = StepId(walk.cursor);
            let row = self.tables.steps[step.index()];
            if matches!(row.kind, StepRowKind::Ask { on: None, .. }) {
                self.walk_question(step, &row, walk, sink);
            } else {
                self.advance();
                self.walk_step(step, &row, sink);
            }
        }
    }

    /// Moves the walk to the next step.
    pub(super) fn advance(&mut self) {
        if let Some(walk) = &mut self.scalars.walk {
            walk.cursor += 1;
            walk.leaf = 0;
        }
    }

    fn walk_step(&mut self, step: StepId, row: &StepRow<'_>, sink: &mut dyn Sink) {
        if matches!(row.kind, StepRowKind::Ask { .. } | StepRowKind::Run { on_entry: true, .. })
            || !self.is_active(row.state)
            || self.store.cells().steps[step.index()].pending.is_some()
        {
            return;
        }
        let leaf = self.leaf_of(row.state);
        if !self.step_holds(step, leaf, sink) {
            sink.record(Record::Skipped(step));
            return;
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
            StepRowKind::Llm => match self.admit(step, row.state) {
                Admission::Go => self.start_step(step, leaf, true, sink),
                Admission::Later => {}
                Admission::Over => self.end_walk(WalkEnd::Calls, sink),
            },
            StepRowKind::Call => self.start_step(step, leaf, true, sink),
            StepRowKind::Human | StepRowKind::Run { on_entry: false, .. } => {
                self.start_step(step, leaf, false, sink);
            }
            StepRowKind::Ask { .. } | StepRowKind::Run { on_entry: true, .. } => {}
        }
    }

    /// The `if` of a step. One that fails counts as false and raises `error.execution`.
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
        StepKey { step, leaf, event: self.scalars.events, attempt: 1 }
    }

    fn start_step(&mut self, step: StepId, leaf: StateId, awaits: bool, sink: &mut dyn Sink) {
        let row = self.tables.steps[step.index()];
        let is_model = matches!(row.kind, StepRowKind::Llm);
        if is_model && !self.charge_call(row.state, sink) {
            self.end_walk(WalkEnd::Calls, sink);
            return;
        }
        let key = self.open_step(step, leaf, sink);
        if let Some(walk) = &mut self.scalars.walk {
            walk.calls += u32::from(is_model);
            if awaits {
                walk.awaiting = Some(key);
            }
        }
        sink.record(Record::Started(key));
        sink.effect(crate::machine::Effect::Start(key));
        self.macrostep(None, sink);
    }

    /// Makes a step pending, with its timeouts armed.
    pub(super) fn open_step(
        &mut self,
        step: StepId,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) -> StepKey {
        let key = self.key(step, leaf);
        let now = self.scalars.now;
        let register = &mut self.store.cells_mut().steps[step.index()];
        register.pending = Some(key);
        register.started_at = now;
        self.arm_timeouts(step, leaf, sink);
        key
    }

    /// Ends the walk early; the turn itself ends as usual.
    pub(super) fn end_walk(&mut self, why: WalkEnd, sink: &mut dyn Sink) {
        if let Some(walk) = &mut self.scalars.walk
            && !walk.over
        {
            walk.over = true;
            sink.record(Record::WalkEnded(why));
        }
    }

    /// Whether a model step of `state` may start under the maximum of calls per turn. In a parallel, the regions with a model step to start
    /// make the first call in rotation.
    pub(super) fn admit(&mut self, step: StepId, state: StateId) -> Admission {
        let cap = self.tables.calls_per_turn;
        let Some(walk) = self.scalars.walk else { return Admission::Go };
        if cap == 0 {
            return Admission::Go;
        }
        if walk.calls >= cap {
            return Admission::Over;
        }
        let Some((parallel, region)) = self.outermost_region(state) else { return Admission::Go };
        if walk.calls > 0 {
            return Admission::Go;
        }
        let chosen = match walk.region {
            Some(chosen) => chosen,
            None => self.choose_region(step, parallel, region),
        };
        if let Some(walk) = &mut self.scalars.walk {
            walk.region = Some(chosen);
        }
        let competes = self.parent(chosen) == Some(parallel);
        if competes && chosen != region { Admission::Later } else { Admission::Go }
    }

    fn choose_region(&mut self, step: StepId, parallel: StateId, region: StateId) -> StateId {
        let tables = self.tables;
        let tree = tables.tree();
        let regions = || structure::regions(&tree, parallel);
        let mut competing = 0;
        for other in regions() {
            competing += u32::from(other == region || self.has_call_after(step, other));
        }
        if competing < 2 {
            return region;
        }
        let mut turn = self.scalars.rotation % competing;
        self.scalars.rotation = self.scalars.rotation.wrapping_add(1);
        for other in regions() {
            if other == region || self.has_call_after(step, other) {
                if turn == 0 {
                    return other;
                }
                turn -= 1;
            }
        }
        region
    }

    /// Whether a model step after `step` in `region` would start now.
    fn has_call_after(&mut self, step: StepId, region: StateId) -> bool {
        (step.index() + 1..self.tables.steps.len()).any(|index| {
            let row = self.tables.steps[index];
            matches!(row.kind, StepRowKind::Llm | StepRowKind::Ask { on: None, .. })
                && self.contains(region, row.state)
                && self.is_active(row.state)
                && (!row.guard || {
                    let leaf = self.leaf_of(row.state);
                    self.in_view(leaf, |program, view| {
                        program.step_guard(StepId::at(index), view).unwrap_or(false)
                    })
                })
        })
    }

    /// The outermost parallel ancestor of `state`, with the region that contains `state`.
    fn outermost_region(&self, state: StateId) -> Option<(StateId, StateId)> {
        let mut found = None;
        let mut at = state;
        while let Some(parent) = self.parent(at) {
            if matches!(self.tables.states[parent.index()].kind, StateRowKind::Parallel) {
                found = Some((parent, at));
            }
            at = parent;
        }
        found
    }

    fn end_turn(&mut self, sink: &mut dyn Sink) {
        self.scalars.walk = None;
        self.scalars.turns += 1;
        let cells = self.store.cells_mut();
        for state in bits::iter(cells.touched) {
            cells.states[state].turns_in += 1;
        }
        for state in bits::iter(cells.unbroken) {
            cells.states[state].turns_here += 1;
        }
        sink.record(Record::TurnEnded(self.scalars.turns));
        self.program.bind(Bound::Nothing);
        self.check_turn_limits(sink);
        self.fire_turn_deadlines(sink);
        self.macrostep(None, sink);
    }
}
