//! Deadlines. The clock is outside: the host asks when the next one is due and says what time it is.

use super::{Engine, MICROSTEPS};
use crate::arena::{StateId, StepId, TransitionId};
use crate::machine::{Effect, ErrorKind, Instant, Record, Sink, StepKey};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Store};
use crate::tables::TriggerRow;

/// What is due first.
enum Due {
    /// A sent event: before a line that is due at the same time.
    Send,
    Line(TransitionId),
    /// A `limits { time … }` of a state; whether it is the soft one.
    Limit(StateId, bool),
}

impl<P: Program> Engine<'_, P> {
    /// The earliest time at which a tick would do something.
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.is_over() { None } else { self.next_due().map(|(at, _)| at) }
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        let mut first: Option<(Instant, Due)> = None;
        let mut offer = |at: Instant, due: Due| {
            if at != u64::MAX && first.as_ref().is_none_or(|(earliest, _)| at < *earliest) {
                first = Some((at, due));
            }
        };
        if let Some(due) = self.next_send() {
            offer(due, Due::Send);
        }
        if self.has_deadlines {
            let deadlines = self.store.cells().deadlines;
            for (index, row) in self.tables.transitions.iter().enumerate() {
                if let TriggerRow::After(slot) | TriggerRow::StepTimeout(_, slot) = row.trigger {
                    offer(deadlines[slot as usize], Due::Line(TransitionId::at(index)));
                }
            }
        }
        if self.has_limits {
            self.each_time_limit(&mut |state, at, soft| offer(at, Due::Limit(state, soft)));
        }
        first
    }

    /// Sets the clock, firing what comes due on the way, each at its own time.
    pub(super) fn pass_time(&mut self, now: Instant, sink: &mut dyn Sink) {
        let now = now.max(self.scalars.now);
        let mut fired = 0;
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= now) {
            if self.is_over() {
                return;
            }
            if fired == MICROSTEPS {
                // Deadlines of no length that arm each other.
                sink.record(Record::Error(ErrorKind::Livelock));
                self.program.bind(Bound::Nothing);
                self.macrostep(Some(Occurrence::Error(ErrorKind::Livelock)), sink);
                break;
            }
            fired += 1;
            self.scalars.now = at.max(self.scalars.now);
            match due {
                Due::Send => {
                    self.deliver(sink);
                }
                Due::Line(id) => self.fire(id, sink),
                Due::Limit(state, soft) => self.time_is_up(state, soft, sink),
            }
            self.walk_on(sink);
        }
        self.scalars.now = now;
    }

    fn fire(&mut self, id: TransitionId, sink: &mut dyn Sink) {
        let trigger = self.tables.transitions[id.index()].trigger;
        if let Some(slot) = trigger.deadline() {
            self.store.cells_mut().deadlines[slot as usize] = u64::MAX;
        }
        self.program.bind(Bound::Nothing);
        let pending = trigger.timed_step().and_then(|step| self.open_key(step));
        let taken = self.macrostep(Some(Occurrence::Deadline(id)), sink);
        if let Some(key) = pending
            && taken
            && self.open_key(key.step) == Some(key)
        {
            // The line stayed in the state: the step is over all the same.
            sink.effect(Effect::Cancel(key));
            self.close(key);
        }
    }

    fn open_key(&self, step: StepId) -> Option<StepKey> {
        let cells = self.store.cells();
        cells.steps[step.index()]
            .pending
            .or_else(|| cells.questions.iter().flatten().map(|q| q.key).find(|k| k.step == step))
    }

    /// Fires the `after n turns` lines whose turns are full, in document order. Run when a turn has ended.
    pub(super) fn fire_turn_deadlines(&mut self, sink: &mut dyn Sink) {
        if !self.has_deadlines {
            return;
        }
        for index in 0..self.tables.transitions.len() {
            let row = self.tables.transitions[index];
            let TriggerRow::AfterTurns(slot) = row.trigger else { continue };
            let cells = self.store.cells();
            let bound = cells.deadlines[slot as usize];
            let turns = u64::from(cells.turns_here[row.source.index()]);
            if bound != u64::MAX && turns >= bound && self.is_active(row.source) {
                self.fire(TransitionId::at(index), sink);
            }
        }
    }

    /// Evaluates and arms the deadline lines of a state that was just entered.
    pub(super) fn arm_deadlines(&mut self, state: StateId, sink: &mut dyn Sink) {
        if !self.has_deadlines {
            return;
        }
        let lines = self.tables.states[state.index()].transitions;
        for index in lines.start..lines.start + lines.len {
            let id = TransitionId(index);
            let now = self.scalars.now;
            let trigger = self.tables.transitions[id.index()].trigger;
            if let TriggerRow::After(slot) = trigger {
                self.arm(id, slot, now, state, sink);
            } else if let TriggerRow::AfterTurns(slot) = trigger {
                self.arm(id, slot, 0, state, sink);
            }
        }
    }

    /// Arms the `timeout` lines of a step that was just started.
    pub(super) fn arm_timeouts(&mut self, step: StepId, leaf: StateId, sink: &mut dyn Sink) {
        self.each_timeout(step, &mut |engine, id, slot| {
            engine.arm(id, slot, engine.scalars.now, leaf, sink);
        });
    }

    pub(super) fn disarm_timeouts(&mut self, step: StepId) {
        self.each_timeout(step, &mut |engine, _, slot| {
            engine.store.cells_mut().deadlines[slot as usize] = u64::MAX;
        });
    }

    fn each_timeout(&mut self, step: StepId, each: &mut dyn FnMut(&mut Self, TransitionId, u32)) {
        if !self.has_deadlines {
            return;
        }
        let state = self.tables.steps[step.index()].state;
        let lines = self.tables.states[state.index()].transitions;
        for index in lines.start..lines.start + lines.len {
            let id = TransitionId(index);
            if let TriggerRow::StepTimeout(s, slot) = self.tables.transitions[id.index()].trigger
                && s == step
            {
                each(self, id, slot);
            }
        }
    }

    fn arm(
        &mut self,
        id: TransitionId,
        slot: u32,
        origin: u64,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) {
        let bound = self.with_view(leaf, |program, view| program.deadline(id, view));
        if bound.is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
        self.store.cells_mut().deadlines[slot as usize] =
            bound.map_or(u64::MAX, |b| origin.saturating_add(b).min(u64::MAX - 1));
    }

    pub(super) fn disarm_deadlines(&mut self, state: StateId) {
        if !self.has_deadlines {
            return;
        }
        let lines = self.tables.states[state.index()].transitions.of(self.tables.transitions);
        for slot in lines.iter().filter_map(|t| t.trigger.deadline()) {
            self.store.cells_mut().deadlines[slot as usize] = u64::MAX;
        }
    }
}
