//! Limits, charged to a state and its ancestors. A hard limit that no transition handles ends the run. The host counts tokens and cost,
//! because only it knows them, and reports when such a limit is reached.

use super::Stepper;
use crate::arena::StateId;
use crate::machine::{
    Charge, ErrorKind, Instant, LimitKind, Receipt, Record, Sink, Status, StepKey,
};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Part, Store, bits};
use crate::tables::{LimitsRow, Reacts, StepRowKind};

impl<P: Program> Stepper<P> {
    /// The limits of a state, with those that the program computes.
    pub fn limits(&self, state: StateId) -> LimitsRow {
        self.tables.limits(state, |nth| self.program.limit(nth))
    }

    /// Charges one model call to `state` and its ancestors before the call is made. Returns false if a limit forbids it; then transitions
    /// for the error have been taken, or the run has ended.
    pub(super) fn charge_call(
        &mut self,
        state: StateId,
        leaf: StateId,
        sink: &mut dyn Sink,
    ) -> bool {
        let mut path = Some(state);
        while let Some(at) = path {
            let limit = self.limits(at).calls;
            if limit.is_some_and(|limit| self.store.cells().counts(at).calls >= limit) {
                self.hard(LimitKind::Calls, sink);
                return false;
            }
            path = self.parent(at);
        }
        // Charged only after every limit was checked, so that a refused call is charged to no state.
        let mut path = Some(state);
        while let Some(at) = path {
            let calls = &mut self.counts_mut(at).calls;
            *calls += 1;
            if Some(*calls) == self.limits(at).calls_warn {
                sink.record(Record::Warned(LimitKind::Calls));
                // The macrostep that follows the start of the step handles the warning.
                let _ = self.enqueue(Occurrence::Warn(LimitKind::Calls));
            }
            path = self.parent(at);
        }
        self.need_amounts();
        if let Some(here) = self.store.cells_mut().amounts.get_mut(leaf.index()) {
            here.calls += 1;
        }
        true
    }

    fn need_amounts(&mut self) {
        if self.tables.reads_amounts {
            self.store.need(Part::Amounts, &self.tables);
        }
    }

    /// Adds the tokens and the cost of a call to the amounts of the run and of its leaf. Transitions that read them are tried now only if
    /// no outcome is awaited; otherwise the macrostep of the outcome tries them, so that no answer is dropped because of its own price.
    pub(super) fn charge(&mut self, key: StepKey, charge: Charge, sink: &mut dyn Sink) {
        let is_open = self.is_open(key);
        self.need_amounts();
        let amounts = self.store.cells_mut().amounts;
        // The leaf of a canceled call may have been exited and entered again, so it is not charged.
        let leaf = Some(key.leaf.index()).filter(|leaf| is_open && *leaf != 0);
        // Index 0 is the root, which has the amounts of the run.
        for place in core::iter::once(0).chain(leaf) {
            if let Some(amounts) = amounts.get_mut(place) {
                amounts.tokens = amounts.tokens.saturating_add(charge.tokens);
                amounts.cost = amounts.cost.saturating_add(charge.cost);
            }
        }
        if !is_open {
            self.macrostep(None, sink);
        }
    }

    /// Handles a charged call that was not made and will not be: the charge is taken back. If the step is still open, it fails without
    /// another attempt.
    pub(super) fn unmade(&mut self, key: StepKey, sink: &mut dyn Sink) -> Receipt {
        let Some(row) = self.tables.steps.get(key.step.index()) else {
            return Receipt::Refused;
        };
        let is_model = matches!(row.kind, StepRowKind::Llm | StepRowKind::Ask { .. });
        let mut path = Some(row.state).filter(|_| is_model);
        while let Some(at) = path {
            let calls = &mut self.counts_mut(at).calls;
            *calls = calls.saturating_sub(1);
            path = self.parent(at);
        }
        let is_open = self.is_open(key);
        let here = self.store.cells_mut().amounts.get_mut(key.leaf.index());
        if let Some(here) = here.filter(|_| is_open && is_model) {
            here.calls = here.calls.saturating_sub(1);
        }
        if is_open {
            self.give_up(key, self.awaits(key), sink);
        }
        Receipt::Handled
    }

    /// Fails an open step, or an element of it, without another attempt, because its call is not made.
    fn give_up(&mut self, key: StepKey, in_walk: bool, sink: &mut dyn Sink) {
        self.program.bind(Bound::Nothing);
        if let Some(each) = self.each(key.step) {
            return self.lose(key, each, sink);
        }
        if let Some(caller) = self.tables.steps[key.step.index()].approves {
            return self.approval_failed(key, caller, sink);
        }
        self.close(key, sink);
        self.step_failed(key.step, key.leaf, in_walk, sink);
    }

    /// Whether the limits allow this number of further model calls for `state`. If not, transitions for the error have been taken, or the
    /// run has ended.
    pub(super) fn ensure_room_for(
        &mut self,
        state: StateId,
        calls: u32,
        sink: &mut dyn Sink,
    ) -> bool {
        let mut path = Some(state);
        while let Some(at) = path {
            let limit = self.limits(at).calls;
            let used = self.store.cells().counts(at).calls;
            if limit.is_some_and(|limit| limit < used.saturating_add(calls)) {
                self.hard(LimitKind::Calls, sink);
                return false;
            }
            path = self.parent(at);
        }
        true
    }

    /// Checks the limits on turns of every active state. Called after a turn was counted.
    pub(super) fn check_turn_limits(&mut self, sink: &mut dyn Sink) {
        if !self.tables.summary.limits {
            return;
        }
        let end = self.tables.states.len();
        let mut from = 0;
        while let Some(index) = bits::first_in(self.store.cells().configuration, from, end) {
            from = index + 1;
            let limits = self.limits(StateId::at(index));
            let turns = self.store.cells().counts(StateId::at(index)).turns_in;
            if self.is_over() {
                return;
            }
            // A state that a transition for another limit has just entered has had no turn yet.
            if turns == 0 {
                continue;
            }
            // Equal, not greater, so that each limit is reported once.
            if Some(turns) == limits.turns_warn {
                self.soft(LimitKind::Turns, sink);
            }
            if Some(turns) == limits.turns {
                self.hard(LimitKind::Turns, sink);
            }
        }
    }

    /// The next time at which an active state uses up its `time`, and whether that is the soft limit. Among equal times, the first state in
    /// document order comes first.
    pub(super) fn first_time_limit(&self) -> Option<(Instant, bool)> {
        let cells = self.store.cells();
        let mut first: Option<(Instant, StateId, bool)> = None;
        for leaf in self.active_leaves() {
            let mut path = Some(*leaf);
            while let Some(state) = path.filter(|s| self.reacts_on_path(*s, Reacts::TIME)) {
                path = self.parent(state);
                let limits = self.limits(state);
                for (bound, hard) in [(limits.time_warn, false), (limits.time, true)] {
                    let Some(bound) = bound else { continue };
                    let at = cells.entered_at(state, &self.tables).saturating_add(bound);
                    // Earlier times have been reported already, because the clock never goes back.
                    if at > self.scalars.now {
                        let one = (at, state, hard);
                        first = Some(first.map_or(one, |first| first.min(one)));
                    }
                }
            }
        }
        first.map(|(at, _, hard)| (at, !hard))
    }

    pub(super) fn time_is_up(&mut self, soft: bool, sink: &mut dyn Sink) {
        if soft { self.soft(LimitKind::Time, sink) } else { self.hard(LimitKind::Time, sink) }
    }

    /// Handles a call of an open step that a limit forbids the host to make. Takes the transitions for the limit, then applies the step's
    /// failure policy if the step is still open.
    pub(super) fn exhausted(
        &mut self,
        key: StepKey,
        kind: LimitKind,
        sink: &mut dyn Sink,
    ) -> Receipt {
        if !self.is_open(key) {
            sink.record(Record::Dropped(key));
            return Receipt::Refused;
        }
        let in_walk = self.awaits(key);
        self.hard(kind, sink);
        if !self.is_over() && self.is_open(key) {
            self.give_up(key, in_walk, sink);
        }
        Receipt::Handled
    }

    pub(super) fn soft(&mut self, kind: LimitKind, sink: &mut dyn Sink) {
        sink.record(Record::Warned(kind));
        self.program.bind(Bound::Nothing);
        self.macrostep(Some(Occurrence::Warn(kind)), sink);
    }

    fn hard(&mut self, kind: LimitKind, sink: &mut dyn Sink) {
        sink.record(Record::Error(ErrorKind::Limit(kind)));
        self.program.bind(Bound::Nothing);
        if !self.macrostep(Some(Occurrence::Error(ErrorKind::Limit(kind))), sink) && !self.is_over()
        {
            self.finish(Status::Limit, sink);
        }
    }
}
