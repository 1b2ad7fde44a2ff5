//! Microsteps: the selection of transitions, and their execution together.

use super::candidates::Cause;
use super::macrostep::{self, Microsteps};
use super::select::Picked;
use super::{MICROSTEPS, Phase, Stepper};
use crate::arena::StateId;
use crate::machine::{ErrorKind, Record, Sink, Status};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Program, View};
use crate::store::{Observed, Occurrence, Store};
use crate::tables::Reacts;

impl<P: Program> Stepper<'_, P> {
    /// Enters the initial configuration and runs until the machine is stable.
    pub(super) fn start(&mut self, sink: &mut dyn Sink) {
        self.enter_initial(sink);
        // The initial configuration may contain a final child of the root.
        if let Phase::Ending(status) = self.scalars.phase {
            return self.finish(status, sink);
        }
        self.macrostep(None, sink);
    }

    pub(super) fn enter_initial(&mut self, sink: &mut dyn Sink) {
        self.scalars.phase = Phase::Running;
        self.program.bind(Bound::Nothing);
        self.add_to_entry_set(StateId(0));
        self.complete_entry_set();
        self.enter_all(sink);
    }

    /// Handles one occurrence (`None`: only eventless transitions) until the machine is stable. Returns whether a transition was taken for
    /// the occurrence itself, or was chosen and denied.
    pub(super) fn macrostep(&mut self, first: Option<Occurrence>, sink: &mut dyn Sink) -> bool {
        if self.is_over() {
            return false;
        }
        if first.is_some() {
            return self.macrostep_of(first, sink);
        }
        macrostep::go_on(self, 0, sink);
        false
    }

    /// The macrostep of the built-in event `turn`. An `on turn` transition that is taken hides the `ask … on turn` steps of its region.
    pub(super) fn macrostep_of_turn(&mut self, sink: &mut dyn Sink) {
        let cause = Some(Occurrence::Turn);
        let mut faults = 0;
        // No `on` transition needs permission, so none is denied.
        let mut selected = P::Store::selected(self.leaves as usize);
        let selected = selected.as_mut();
        let (count, _) = self.select(cause, &mut faults, selected, sink);
        // Before the transitions are taken, so that the error precedes the events that they raise.
        self.raise_faults(0, faults, cause, sink);
        let selected = &selected[..count];
        for line in selected {
            let source = self.tables.transitions[line.index()].source;
            self.walk_mut(source).turn_taken = true;
        }
        self.take(selected, sink);
        macrostep::go_on(self, 1, sink);
    }

    /// Like [`Stepper::macrostep`], for a cause whose type is known at compile time.
    #[inline(always)]
    pub(super) fn macrostep_of(&mut self, cause: impl Cause, sink: &mut dyn Sink) -> bool {
        // One microstep handles most events; they skip the loop of `go_on`.
        let taken = self.microstep(cause, &mut 0, sink);
        if !self.is_stable() {
            macrostep::go_on(self, 1, sink);
        }
        taken
    }

    /// Whether the macrostep is over after one microstep: no end of the run, eventless transition, queued occurrence or step to start
    /// remains.
    #[inline(always)]
    fn is_stable(&self) -> bool {
        !self.is_over()
            && self.scalars.queue_len == 0
            && !self.tables.summary.entry_runs
            && !self.some_leaf_reacts(Reacts::WHEN)
    }

    /// Selects and takes transitions. Returns whether one was taken or denied. `faults` counts the guards that failed in this macrostep;
    /// only the first raises `error.execution`.
    #[inline(always)]
    fn microstep(&mut self, cause: impl Cause, faults: &mut u32, sink: &mut dyn Sink) -> bool {
        // With one active leaf, no transition can preempt another, so one choice is the whole selection.
        if self.leaves == 1 {
            let leaf = self.store.cells().leaves[0];
            let before = *faults;
            let picked = self.pick(leaf, cause, &[], faults, sink);
            self.raise_faults(before, *faults, cause, sink);
            return match picked {
                Picked::Nothing => false,
                Picked::Denied => true,
                Picked::Line(id) => {
                    self.take_one(id, sink);
                    true
                }
            };
        }
        self.microstep_of_many(cause, faults, sink)
    }

    fn microstep_of_many(
        &mut self,
        cause: impl Cause,
        faults: &mut u32,
        sink: &mut dyn Sink,
    ) -> bool {
        let before = *faults;
        let mut selected = P::Store::selected(self.leaves as usize);
        let selected = selected.as_mut();
        let (count, denied) = self.select(cause, faults, selected, sink);
        self.raise_faults(before, *faults, cause, sink);
        self.take(&selected[..count], sink);
        count > 0 || denied
    }

    /// Raises `error.execution` for the first guard that fails. A guard of an error's own transition raises none, so that errors cannot
    /// loop.
    #[inline(always)]
    fn raise_faults(&mut self, before: u32, faults: u32, cause: impl Cause, sink: &mut dyn Sink) {
        if before == 0 && faults > 0 && !cause.is_error() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    /// Puts an `error.*` occurrence into the internal queue.
    pub(super) fn raise_error(&mut self, kind: ErrorKind, sink: &mut dyn Sink) {
        sink.record(Record::Error(kind));
        // The error is lost if the queue is full. Then the macrostep ends as a livelock, which is reported.
        let _ = self.enqueue(Occurrence::Error(kind));
    }

    /// Runs a block of a state or of one of its transitions. Blocks that need only the configuration skip the view and the outbox.
    #[inline]
    pub(super) fn run_block(&mut self, block: Block, state: StateId, sink: &mut dyn Sink) {
        if !self.program.run_alone(block, self.store.cells().configuration) {
            self.run_in_view(block, state, sink);
        }
    }

    fn run_in_view(&mut self, block: Block, state: StateId, sink: &mut dyn Sink) {
        let leaf = self.leaf_of(state);
        let scalars = &mut self.scalars;
        // Not `in_view`: the view reads some registers while the outbox writes others.
        let cells = self.store.cells_mut();
        let view = View {
            tables: &self.tables,
            cells: Observed {
                configuration: cells.configuration,
                entered: cells.entered,
                counts: cells.counts,
                amounts: cells.amounts,
            },
            turns: scalars.turns,
            now: scalars.now,
            started_at: scalars.started_at,
            leaf,
            event: scalars.event,
        };
        let mut outbox = Outbox {
            queue: cells.queue,
            queue_head: &mut scalars.queue_head,
            queue_len: &mut scalars.queue_len,
            sends: cells.sends,
            most: self.tables.sends,
            waiting: &mut scalars.sends,
            now: scalars.now,
            sink,
        };
        if self.program.run(block, &view, &mut outbox).is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    /// Raises `error.stuck.dead` if the stable configuration is a dead end that was not reported yet. Returns whether it did.
    pub(super) fn look_for_dead_end(&mut self, sink: &mut dyn Sink) -> bool {
        if self.is_over() || self.scalars.dead || self.scalars.walking || self.may_go_on() {
            return false;
        }
        self.scalars.dead = true;
        sink.record(Record::Error(ErrorKind::StuckDead));
        self.program.bind(Bound::Nothing);
        self.macrostep(Some(Occurrence::Error(ErrorKind::StuckDead)), sink);
        true
    }

    #[inline]
    pub(super) fn may_go_on(&self) -> bool {
        self.some_leaf_reacts(Reacts::ALIVE)
    }
}

impl<'s, P: Program> Microsteps<dyn Sink + 's> for Stepper<'_, P> {
    fn bound(&self) -> u32 {
        if self.tables.microsteps == 0 { MICROSTEPS } else { self.tables.microsteps }
    }

    fn ending(&self) -> Option<Status> {
        match self.scalars.phase {
            Phase::Ending(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ended(_) => None,
        }
    }

    fn finish(&mut self, status: Status, sink: &mut (dyn Sink + 's)) {
        Self::finish(self, status, sink);
    }

    fn eventless(&mut self, faults: &mut u32, sink: &mut (dyn Sink + 's)) -> bool {
        self.some_leaf_reacts(Reacts::WHEN) && self.microstep(None, faults, sink)
    }

    fn queued(&mut self, sink: &mut (dyn Sink + 's)) -> bool {
        let Some(next) = self.dequeue() else { return false };
        if matches!(next, Occurrence::Event(_)) {
            self.program.dequeue();
        } else {
            self.program.bind(Bound::Nothing);
        }
        // A count of its own: each occurrence may raise one `error.execution`.
        self.microstep(Some(next), &mut 0, sink);
        true
    }

    fn start_entered(&mut self, sink: &mut (dyn Sink + 's)) -> bool {
        Self::start_entered(self, sink)
    }

    fn give_up_queue(&mut self) {
        Self::give_up_queue(self);
    }

    fn error(&mut self, kind: ErrorKind, sink: &mut (dyn Sink + 's)) {
        // Events that the stopped macrostep has sent without delay would start it again.
        self.end_burst();
        self.program.bind(Bound::Nothing);
        self.microstep(Some(Occurrence::Error(kind)), &mut 0, sink);
    }
}
