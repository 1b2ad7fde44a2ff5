//! Turns: the built-in event `turn`, then the walks over the steps in document order.

use super::Stepper;
use crate::arena::{StateId, StepId};
use crate::machine::{ErrorKind, Receipt, Record, Sink, StepKey, WalkEnd};
use crate::program::{Bound, Program};
use crate::store::{Part, Store, Walk, WalkStage, bits};
use crate::tables::{StepRow, StepRowKind};

impl<P: Program> Stepper<P> {
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
                let tables = self.tables.clone();
                self.walk_step(step, &tables.steps[step.index()], sink);
            }
            Next::Ask(step, leaf) => {
                let tables = self.tables.clone();
                self.walk_question(walk, step, &tables.steps[step.index()], leaf, sink);
            }
            Next::Fork(parallel) => self.fork(parallel),
            Next::Waits | Next::Rests => {}
        }
    }

    fn walk_step(&mut self, step: StepId, row: &StepRow, sink: &mut dyn Sink) {
        // A `human` or `run` step of an earlier turn may still be pending. It is not started again.
        if matches!(row.kind, StepRowKind::Ask { .. })
            || !row.is_walked()
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
            return self.start_each(step, leaf, each, true, sink);
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
            StepRowKind::Call | StepRowKind::Human | StepRowKind::Run { .. } => {
                self.start_step(step, leaf, true, sink);
            }
            StepRowKind::Ask { .. } => {}
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

    /// Starts a step that is neither a question of an `ask` nor code nor one for each element.
    pub(super) fn start_step(
        &mut self,
        step: StepId,
        leaf: StateId,
        in_walk: bool,
        sink: &mut dyn Sink,
    ) {
        let StepRow { kind, state, .. } = self.tables.steps[step.index()];
        let is_model = matches!(kind, StepRowKind::Llm);
        if is_model && !self.charge_call(state, leaf, sink) {
            self.end_walk(WalkEnd::Calls(self.region_of(state)), sink);
            return;
        }
        // An event has set it already.
        if in_walk {
            self.set_asked(step, state, sink);
        }
        let key = self.open_step(step, leaf, sink);
        if in_walk {
            self.count_in_walk(step, is_model);
        }
        sink.record(Record::Started(key));
        sink.effect(crate::machine::Effect::Start(key));
        self.macrostep(None, sink);
    }

    /// Counts a step that a walk has started. The walk waits for models and tools.
    pub(super) fn count_in_walk(&mut self, step: StepId, calls: bool) {
        let StepRow { kind, state, .. } = self.tables.steps[step.index()];
        let walk = self.walk_mut(state);
        walk.calls += u32::from(calls);
        if matches!(kind, StepRowKind::Llm | StepRowKind::Call) {
            walk.at = Some(step);
        }
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

// The walks of a turn: one over the steps of the chart, and one for each region. When a walk reaches the steps of an active parallel
// state, it forks: the walks of the regions run in parallel, and the outer walk waits until all of them have ended.

/// The next action of a walk.
pub(super) enum Next {
    /// The walk visits a step.
    Step(StepId),
    /// The walk puts the question of an `ask` in a leaf.
    Ask(StepId, StateId),
    /// The walk forks at this parallel state.
    Fork(StateId),
    /// The walk waits for an answer, or for the walks that it has forked.
    Waits,
    /// The walk has nothing to visit, unless states with further steps are entered.
    Rests,
}

impl<P: Program> Stepper<P> {
    /// The first walk that can continue, and its next action. The search begins at walk `first` and wraps around.
    pub(super) fn next_of_walks(&mut self, first: usize) -> Option<(usize, Next)> {
        let count = self.tables.walks.len();
        // What is open is still awaited, but nothing further starts.
        if self.scalars.stopped {
            return None;
        }
        (first..count).chain(0..first).find_map(|walk| match self.next_in(walk) {
            Next::Waits | Next::Rests => None,
            next @ (Next::Step(_) | Next::Ask(..) | Next::Fork(_)) => Some((walk, next)),
        })
    }

    /// The next action of a walk. A walk at an `ask` that was answered in all leaves passes it first.
    fn next_in(&mut self, nth: usize) -> Next {
        let walk = self.nth_walk(nth);
        if walk.stage != WalkStage::Open {
            return Next::Rests;
        }
        if let Some(step) = walk.at {
            if !self.is_ask(step) {
                return Next::Waits;
            }
            if let Some(leaf) = self.next_leaf_to_ask(step) {
                return Next::Ask(step, leaf);
            }
            if self.has_open(step) {
                return Next::Waits;
            }
            self.pass(nth, step);
        }
        self.next_from(nth, self.nth_walk(nth).cursor)
    }

    /// The next action of a walk for the steps from `cursor` on: the first step that it can visit, or the fork before it.
    fn next_from(&mut self, nth: usize, cursor: u32) -> Next {
        let tables = self.tables.clone();
        let steps = tables.walks[nth].steps;
        for index in cursor.max(steps.start)..steps.start + steps.len {
            let row = &tables.steps[index as usize];
            let inner = tables.states[row.state.index()].walk as usize;
            if inner != nth {
                match self.next_inside(nth, inner) {
                    Next::Rests => continue,
                    next @ (Next::Fork(_) | Next::Waits | Next::Step(_) | Next::Ask(..)) => {
                        return next;
                    }
                }
            }
            if row.is_walked() && self.is_active(row.state) {
                let step = StepId(index);
                if !matches!(row.kind, StepRowKind::Ask { .. }) {
                    return Next::Step(step);
                }
                if let Some(leaf) = self.next_leaf_to_ask(step) {
                    return Next::Ask(step, leaf);
                }
            }
        }
        Next::Rests
    }

    /// The next action of a walk at the steps of a region inside its own, which the walk `inner` visits. The walk forks, waits, or skips
    /// them.
    fn next_inside(&mut self, nth: usize, inner: usize) -> Next {
        let tables = self.tables.clone();
        let walks = &tables.walks;
        // The region next to this walk may be an ancestor of the one that contains the step.
        let mut child = inner;
        while walks[child].outer as usize != nth {
            child = walks[child].outer as usize;
        }
        // Steps of regions that are not active are skipped, but not passed: the parallel may be entered later in this turn.
        let Some(parallel) = self.parent(walks[child].state).filter(|p| self.is_active(*p)) else {
            return Next::Rests;
        };
        let is_forked = |walk: usize| self.parent(walks[walk].state) == Some(parallel);
        let stage = |walk: usize| self.nth_walk(walk).stage;
        if (nth + 1..walks.len()).any(|w| is_forked(w) && stage(w) == WalkStage::New) {
            return Next::Fork(parallel);
        }
        for (walk, row) in walks.iter().enumerate().skip(nth + 1) {
            let is_forked = self.parent(row.state) == Some(parallel);
            if is_forked && !matches!(self.next_in(walk), Next::Rests) {
                return Next::Waits;
            }
        }
        Next::Rests
    }

    /// Opens the walks of a parallel's regions that have not begun in this turn.
    pub(super) fn fork(&mut self, parallel: StateId) {
        let tables = self.tables.clone();
        for (nth, row) in tables.walks.iter().enumerate().skip(1) {
            if tables.states[row.state.index()].parent == parallel {
                let walk = self.nth_walk_mut(nth);
                // A walk that is over stays so for this turn, even if its region is entered again.
                if walk.stage == WalkStage::New {
                    *walk =
                        Walk { stage: WalkStage::Open, cursor: row.steps.start, leaf: 0, ..*walk };
                }
            }
        }
    }

    /// Moves a walk past a step. Walks that it has forked for steps before are over then.
    pub(super) fn pass(&mut self, nth: usize, step: StepId) {
        let tables = &self.tables;
        self.store.need(Part::Walks, tables);
        let cells = self.store.cells_mut();
        let state = tables.walks[nth].state;
        // Walks are in document order, so those inside this one follow it directly.
        for (walk, row) in cells.walks.iter_mut().zip(&tables.walks).skip(nth + 1) {
            if !tables.contains(state, row.state) {
                break;
            }
            walk.leaf = 0;
            if walk.stage == WalkStage::Open && row.steps.start <= step.0 {
                walk.stage = WalkStage::Over;
            }
        }
        let walk = &mut cells.walks[nth];
        walk.cursor = step.0 + 1;
        walk.leaf = 0;
        walk.at = None;
    }

    /// Ends one walk early, or all walks. Nothing further starts in it (or in the turn), and the turn waits for what is open.
    pub(super) fn end_walk(&mut self, why: WalkEnd, sink: &mut dyn Sink) {
        if !self.scalars.walking || self.scalars.stopped {
            return;
        }
        if let WalkEnd::Calls(region) = why {
            let walk = self.walk_mut(region);
            if core::mem::replace(&mut walk.spent, true) {
                return;
            }
            walk.stage = WalkStage::Over;
        } else {
            self.scalars.stopped = true;
        }
        sink.record(Record::WalkEnded(why));
    }

    /// Ends the walk of a region whose state is exited.
    pub(super) fn leave_region(&mut self, state: StateId) {
        let nth = self.tables.states[state.index()].walk as usize;
        if self.tables.walks[nth].state == state {
            let Some(walk) = self.store.cells_mut().walks.get_mut(nth) else { return };
            walk.at = None;
            if walk.stage == WalkStage::Open {
                walk.stage = WalkStage::Over;
            }
        }
    }

    /// Whether any walk waits for an answer.
    pub(super) fn some_walk_waits(&self) -> bool {
        self.store
            .cells()
            .walks
            .iter()
            .any(|walk| walk.at.is_some_and(|step| !self.is_ask(step) || self.has_open(step)))
    }

    /// Whether a walk waits for the end of this open step or question.
    pub(super) fn awaits(&self, key: StepKey) -> bool {
        let row = &self.tables.steps[key.step.index()];
        let walk = self.tables.states[row.state.index()].walk;
        self.scalars.walking && self.nth_walk(walk as usize).at == Some(key.step)
    }

    /// Releases the walk that waits for a step which is no longer open. An `ask` may still be open in other leaves, so its walk is not
    /// released here.
    pub(super) fn no_longer_awaits(&mut self, step: StepId) {
        if !self.is_ask(step) {
            let state = self.tables.steps[step.index()].state;
            let nth = self.tables.states[state.index()].walk as usize;
            let walk = self.store.cells_mut().walks.get_mut(nth);
            if let Some(walk) = walk.filter(|walk| walk.at == Some(step)) {
                walk.at = None;
            }
        }
    }

    /// Whether a question of this `ask` is open in any leaf.
    pub(super) fn has_open(&self, step: StepId) -> bool {
        self.questions().iter().any(|question| question.key.step == step)
    }

    /// Whether a model is being asked this question in any leaf. A question whose model has called a tool does not count.
    pub(super) fn is_asking(&self, step: StepId) -> bool {
        self.questions().iter().any(|q| q.key.step == step && q.calling.is_none())
    }

    /// Whether the walk of the region of `state` may start a further model step.
    pub(super) fn admits_call(&self, state: StateId) -> bool {
        let cap = self.tables.calls_per_turn;
        let walk = self.nth_walk(self.tables.states[state.index()].walk as usize);
        !walk.spent && (cap == 0 || walk.calls < cap)
    }

    /// The innermost region that contains a state; the root if no region does.
    pub(super) fn region_of(&self, state: StateId) -> StateId {
        self.tables.walks[self.tables.states[state.index()].walk as usize].state
    }

    /// The walk of the innermost region that contains a state, writable.
    pub(super) fn walk_mut(&mut self, state: StateId) -> &mut Walk {
        let nth = self.tables.states[state.index()].walk as usize;
        self.nth_walk_mut(nth)
    }

    /// Whether an `on turn` transition hides the questions of a leaf. It was taken in the leaf's region or in one around it.
    pub(super) fn hides_asks(&self, leaf: StateId) -> bool {
        let mut nth = self.tables.states[leaf.index()].walk as usize;
        loop {
            if self.nth_walk(nth).turn_taken {
                return true;
            }
            if nth == 0 {
                return false;
            }
            nth = self.tables.walks[nth].outer as usize;
        }
    }
}
