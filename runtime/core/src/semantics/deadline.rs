//! Deadlines. The machine has no clock: the host asks for the next deadline, and passes the time with each input.

use super::{MICROSTEPS, Stepper};
use crate::arena::{StateId, StepId, TransitionId};
use crate::machine::{ErrorKind, Instant, Record, Sink, StepKey};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Part, Store};
use crate::tables::{Reacts, StepRowKind, TriggerRow};

/// The thing that is due first.
enum Due {
    /// A sent event. It precedes a transition that is due at the same time.
    Send,
    Line(TransitionId),
    /// A limit on the time of a state; true for the soft limit.
    Limit(bool),
}

impl<P: Program> Stepper<P> {
    /// The earliest time at which an `Input::Tick` has an effect; `None` if there is no such time.
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.is_over() { None } else { self.next_due().map(|(at, _)| at) }
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        let mut first: Option<(Instant, Due)> = None;
        // Of equal times the first offer wins: sent events, then transitions, then limits.
        let mut offer = |at: Instant, due: Due| {
            if at != u64::MAX && first.as_ref().is_none_or(|(earliest, _)| at < *earliest) {
                first = Some((at, due));
            }
        };
        if let Some(due) = self.next_send() {
            offer(due, Due::Send);
        }
        if let Some((at, line)) = self.first_due() {
            offer(at, Due::Line(line));
        }
        if self.tables.summary.limits
            && let Some((at, soft)) = self.first_time_limit()
        {
            offer(at, Due::Limit(soft));
        }
        first
    }

    /// Sets the clock to `now`, and fires everything that is due by then, each at its own time.
    #[inline(always)]
    pub(super) fn pass_time(&mut self, now: Instant, sink: &mut dyn Sink) {
        let now = now.max(self.scalars.now);
        // The usual case: nothing can be due, so nothing is searched.
        if self.scalars.sends == 0
            && self.armed == 0
            && !self.tables.summary.reacts.meets(Reacts::TIME)
        {
            self.scalars.now = now;
        } else {
            self.fire_until(now, sink);
        }
    }

    fn fire_until(&mut self, now: Instant, sink: &mut dyn Sink) {
        // How many have fired, and how many of them at the present moment.
        let (mut fired, mut here) = (0, 0);
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= now) {
            if self.is_over() {
                return;
            }
            here = if at <= self.scalars.now { here + 1 } else { 1 };
            let is_full = fired > 0 && sink.is_full();
            if fired == MICROSTEPS || is_full {
                if here > MICROSTEPS || is_full {
                    // Deadlines of no duration arm each other without end: they would do so again with each input.
                    self.disarm_due();
                }
                sink.record(Record::Error(ErrorKind::Livelock));
                self.program.bind(Bound::Nothing);
                self.macrostep(Some(Occurrence::Error(ErrorKind::Livelock)), sink);
                break;
            }
            fired += 1;
            // What is overdue fires at the present time, because the clock never goes back.
            self.set_clock(at.max(self.scalars.now));
            match due {
                Due::Send => {
                    self.deliver(sink);
                }
                Due::Line(id) => self.fire(id, sink),
                Due::Limit(soft) => self.time_is_up(soft, sink),
            }
            self.walk_on(sink);
            if self.is_in_livelock() {
                // Other due deadlines wait for the next input: each of their macrosteps could end in a livelock, too.
                break;
            }
        }
        self.set_clock(now);
    }

    fn disarm_due(&mut self) {
        while let Some((_, line)) = self.first_due().filter(|(at, _)| *at <= self.scalars.now) {
            self.set_deadline(line, u64::MAX);
        }
    }

    /// Sets the clock. The count of deliveries starts again when the clock advances.
    fn set_clock(&mut self, now: Instant) {
        if now != self.scalars.now {
            self.delivered = 0;
        }
        self.scalars.now = now;
    }

    fn fire(&mut self, id: TransitionId, sink: &mut dyn Sink) {
        let trigger = self.tables.transitions[id.index()].trigger;
        self.set_deadline(id, u64::MAX);
        self.program.bind(Bound::Nothing);
        // The transition may end the step, so its key is looked up before.
        let pending = trigger.timed_step().and_then(|step| self.open_key(step));
        let taken = self.macrostep(Some(Occurrence::Deadline(id)), sink);
        let Some(first) = pending.filter(|_| taken) else { return };
        // The transition did not exit the state, but a timeout ends its step; an `ask` is ended in all leaves.
        let mut doubted = None;
        while let Some(key) = self.open_key(first.step)
            && (key == first || self.is_ask(first.step))
        {
            if self.may_have_effect(key) {
                doubted = Some((key, self.awaits(key)));
            }
            self.cancel(key, sink);
            self.close(key, sink);
        }
        // The call may have taken effect, and the state is still the one that makes it.
        if let Some((key, in_walk)) = doubted {
            self.step_doubted(key, None, in_walk, sink);
        }
    }

    /// Whether the open step waits for a tool that must not be called twice.
    fn may_have_effect(&self, key: StepKey) -> bool {
        let row = &self.tables.steps[key.step.index()];
        let called = self.step_calling(key).or_else(|| self.calling(key).map(|(_, tool)| tool));
        let is_call = matches!(row.kind, StepRowKind::Call);
        let is_effect = called.is_some_and(|tool| !self.tables.tools[tool.index()].idempotent);
        !row.retries_doubt && (is_call || is_effect)
    }

    fn open_key(&self, step: StepId) -> Option<StepKey> {
        let asked = || self.questions().iter().map(|q| q.key).find(|k| k.step == step);
        self.underway(step).pending.or_else(asked)
    }

    /// Fires the `after n turns` transitions that have reached their number of turns, in document order. Called at the end of a turn.
    pub(super) fn fire_turn_deadlines(&mut self, sink: &mut dyn Sink) {
        let mut from = TransitionId(0);
        while let Some(line) = self.first_full(from) {
            self.fire(line, sink);
            // Each is checked once, so that deadlines that arm each other do not fire without end.
            from = TransitionId(line.0 + 1);
        }
        let Some(most) = self.tables.turns_in_state else { return };
        let cells = self.store.cells();
        let is_stuck =
            |leaf: &StateId| cells.counts(*leaf).turns_here == most && !self.ends_by_time(*leaf);
        if !self.is_over() && self.active_leaves().iter().any(is_stuck) {
            self.raise_error(ErrorKind::StuckTimeout, sink);
            self.program.bind(Bound::Nothing);
            self.macrostep(None, sink);
        }
    }

    /// Whether a deadline or a timeout of the leaf or of a state around it passes some time.
    fn ends_by_time(&self, leaf: StateId) -> bool {
        let mut path = Some(leaf);
        while let Some(state) = path {
            let lines = self.tables.states[state.index()].transitions.of(&self.tables.transitions);
            if lines.iter().any(|line| line.trigger.deadline().is_some()) {
                return true;
            }
            path = self.parent(state);
        }
        false
    }

    /// The first `after n turns` transition at or after `from` that has reached its number of turns.
    fn first_full(&self, from: TransitionId) -> Option<TransitionId> {
        let mut first: Option<TransitionId> = None;
        for leaf in self.active_leaves() {
            let mut path = Some(*leaf);
            while let Some(state) = path.filter(|s| self.reacts_on_path(*s, Reacts::DEADLINE)) {
                path = self.parent(state);
                let lines = self.tables.states[state.index()].transitions;
                for index in lines.start.max(from.0)..lines.start + lines.len {
                    let line = TransitionId(index);
                    if first.is_none_or(|first| line < first) && self.is_full(line) {
                        first = Some(line);
                        break;
                    }
                }
            }
        }
        first
    }

    fn is_full(&self, line: TransitionId) -> bool {
        let row = &self.tables.transitions[line.index()];
        let TriggerRow::AfterTurns(slot) = row.trigger else { return false };
        let cells = self.store.cells();
        let bound = cells.deadlines[slot as usize];
        bound != u64::MAX && u64::from(cells.counts(row.source).turns_here) >= bound
    }

    /// Evaluates and arms the deadlines of a state that was just entered.
    pub(super) fn arm_deadlines(&mut self, state: StateId, sink: &mut dyn Sink) {
        if !self.reacts(state, Reacts::DEADLINE) {
            return;
        }
        let lines = self.tables.states[state.index()].transitions;
        for index in lines.start..lines.start + lines.len {
            let id = TransitionId(index);
            let trigger = &self.tables.transitions[id.index()].trigger;
            if matches!(trigger, TriggerRow::After(_)) {
                self.arm(id, self.scalars.now, state, sink);
            } else if matches!(trigger, TriggerRow::AfterTurns(_)) {
                self.arm(id, 0, state, sink);
            }
        }
    }

    /// Arms the `timeout` transitions of a step that was just started.
    pub(super) fn arm_timeouts(&mut self, step: StepId, leaf: StateId, sink: &mut dyn Sink) {
        self.each_timeout(step, &mut |engine, id| engine.arm(id, engine.scalars.now, leaf, sink));
    }

    pub(super) fn disarm_timeouts(&mut self, step: StepId) {
        self.each_timeout(step, &mut |engine, id| engine.set_deadline(id, u64::MAX));
    }

    fn each_timeout(&mut self, step: StepId, each: &mut dyn FnMut(&mut Self, TransitionId)) {
        let state = self.tables.steps[step.index()].state;
        if !self.reacts(state, Reacts::DEADLINE) {
            return;
        }
        let lines = self.tables.states[state.index()].transitions;
        for index in lines.start..lines.start + lines.len {
            let id = TransitionId(index);
            if self.tables.transitions[id.index()].trigger.timed_step() == Some(step) {
                each(self, id);
            }
        }
    }

    pub(super) fn arm(
        &mut self,
        id: TransitionId,
        origin: u64,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) {
        let bound = self.in_view(leaf, |program, view| program.deadline(id, view));
        if bound.is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
        // `u64::MAX` means that the deadline is not armed.
        let at = bound.map_or(u64::MAX, |bound| origin.saturating_add(bound).min(u64::MAX - 1));
        self.set_deadline(id, at);
    }

    pub(super) fn disarm_deadlines(&mut self, state: StateId) {
        if !self.reacts(state, Reacts::DEADLINE) {
            return;
        }
        let lines = self.tables.states[state.index()].transitions;
        for index in lines.start..lines.start + lines.len {
            self.set_deadline(TransitionId(index), u64::MAX);
        }
    }
}

// A heap of the armed deadlines of time. The earliest is on top; of equal ones, the first in document order.

impl<P: Program> Stepper<P> {
    /// The transition that is due first, with its time; `None` if no deadline is armed.
    #[inline]
    pub(super) fn first_due(&self) -> Option<(Instant, TransitionId)> {
        if self.armed == 0 { None } else { Some(self.due_at(0)) }
    }

    /// Sets the deadline of a transition, in milliseconds or in turns; `u64::MAX` disarms it.
    pub(super) fn set_deadline(&mut self, line: TransitionId, at: u64) {
        let trigger = &self.tables.transitions[line.index()].trigger;
        let is_time = !matches!(trigger, TriggerRow::AfterTurns(_));
        let Some(slot) = trigger.deadline() else { return };
        let deadline = self.store.deadline_mut(slot);
        let was_armed = *deadline != u64::MAX;
        *deadline = at;
        let is_armed = at != u64::MAX;
        // Deadlines in turns are few and checked only at the end of a turn, so they are not in the heap.
        if !is_time || !was_armed && !is_armed {
            return;
        }
        self.store.need(Part::Due, &self.tables);
        let mut place = self.store.cells_mut().places[slot as usize] as usize;
        if !was_armed {
            place = self.armed as usize;
            self.armed += 1;
            self.place_due(place, line);
        } else if !is_armed {
            self.armed -= 1;
            let end = self.armed as usize;
            let last = self.store.cells().due[end];
            if place == end {
                return;
            }
            self.place_due(place, last);
        }
        // The entry may have moved either way; at most one of the two does anything.
        self.rise(place);
        self.sink(place);
    }

    /// Disarms all deadlines.
    pub(super) fn disarm_all(&mut self) {
        self.store.cells_mut().deadlines.fill(u64::MAX);
        self.armed = 0;
    }

    /// Rebuilds the heap for deadlines that were set as a whole.
    #[cfg(feature = "alloc")]
    pub(super) fn order_deadlines(&mut self) {
        self.armed = 0;
        for index in 0..self.tables.transitions.len() {
            let line = TransitionId::at(index);
            let Some(slot) = self.tables.transitions[index].trigger.deadline() else { continue };
            let at =
                // Disarmed first, so that `set_deadline` inserts it into the heap.
                core::mem::replace(&mut self.store.cells_mut().deadlines[slot as usize], u64::MAX);
            self.set_deadline(line, at);
        }
    }

    fn due_at(&self, place: usize) -> (Instant, TransitionId) {
        let cells = self.store.cells();
        let line = cells.due[place];
        let slot = self.tables.transitions[line.index()].trigger.deadline();
        (slot.map_or(u64::MAX, |slot| cells.deadlines[slot as usize]), line)
    }

    fn place_due(&mut self, place: usize, line: TransitionId) {
        let slot = self.tables.transitions[line.index()].trigger.deadline();
        let cells = self.store.cells_mut();
        cells.due[place] = line;
        if let Some(slot) = slot {
            cells.places[slot as usize] = place as u32;
        }
    }

    fn swap_due(&mut self, a: usize, b: usize) {
        let due = self.store.cells().due;
        let (first, second) = (due[a], due[b]);
        self.place_due(a, second);
        self.place_due(b, first);
    }

    /// Moves an entry up while it is due earlier than its parent.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.due_at(above) <= self.due_at(place) {
                return;
            }
            self.swap_due(above, place);
            place = above;
        }
    }

    /// Moves an entry down while it is due later than a child.
    fn sink(&mut self, mut place: usize) {
        loop {
            let below = (2 * place + 1..2 * place + 3).filter(|below| *below < self.armed as usize);
            let Some(first) = below.min_by_key(|below| self.due_at(*below)) else { return };
            if self.due_at(place) <= self.due_at(first) {
                return;
            }
            self.swap_due(place, first);
            place = first;
        }
    }
}
