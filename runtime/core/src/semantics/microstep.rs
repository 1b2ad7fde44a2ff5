//! Microsteps and macrosteps: one microstep after the other, until nothing is enabled.

use super::candidates::Cause;
use super::select::Picked;
use super::{Engine, MICROSTEPS, Phase};
use crate::arena::StateId;
use crate::machine::{ErrorKind, Record, Sink};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Program, View};
use crate::store::{Observed, Occurrence, Store};
use crate::tables::Reacts;

impl<P: Program> Engine<'_, P> {
    /// Enters the initial configuration and runs to the first stable point.
    pub(super) fn start(&mut self, sink: &mut dyn Sink) {
        self.enter_initial(sink);
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

    /// Handles one occurrence (`None`: only what has become enabled by itself) until the machine is stable. Whether a line was
    /// taken, or chosen and denied, for the occurrence itself.
    pub(super) fn macrostep(&mut self, first: Option<Occurrence>, sink: &mut dyn Sink) -> bool {
        if self.is_over() {
            return false;
        }
        if first.is_some() {
            return self.macrostep_of(first, sink);
        }
        self.go_on(0, sink);
        false
    }

    /// The same for one that there is.
    #[inline(always)]
    pub(super) fn macrostep_of(&mut self, cause: impl Cause, sink: &mut dyn Sink) -> bool {
        let taken = self.microstep(cause, &mut 0, sink);
        if !self.is_stable() {
            self.go_on(1, sink);
        }
        taken
    }

    /// Whether nothing follows a microstep: no end, no eventless lines, no raised events, no steps to be started.
    #[inline(always)]
    fn is_stable(&self) -> bool {
        !self.is_over()
            && self.scalars.queue_len == 0
            && !self.has_entry_runs
            && !self.some_leaf_reacts(Reacts::WHEN)
    }

    /// The rest of a macrostep, after `steps` microsteps.
    fn go_on(&mut self, mut steps: u32, sink: &mut dyn Sink) {
        let bound = if self.tables.microsteps == 0 { MICROSTEPS } else { self.tables.microsteps };
        // A guard that fails at every stable point is reported once.
        let mut eventless_faults = 0;
        let mut livelock = false;
        loop {
            if let Phase::Ending(status) = self.scalars.phase {
                self.finish(status, sink);
                return;
            }
            if steps >= bound {
                if livelock {
                    self.give_up_queue();
                    return;
                }
                // The error's own lines get one microstep, then the macrostep stops whatever is still enabled.
                livelock = true;
                self.end_burst();
                self.give_up_queue();
                sink.record(Record::Error(ErrorKind::Livelock));
                self.program.bind(Bound::Nothing);
                self.microstep(Some(Occurrence::Error(ErrorKind::Livelock)), &mut 0, sink);
                continue;
            }
            if self.some_leaf_reacts(Reacts::WHEN)
                && self.microstep(None, &mut eventless_faults, sink)
            {
                steps += 1;
                continue;
            }
            let Some(next) = self.dequeue() else {
                if self.start_entered(sink) {
                    continue;
                }
                return;
            };
            if matches!(next, Occurrence::Event(_)) {
                self.program.dequeue();
            } else {
                self.program.bind(Bound::Nothing);
            }
            self.microstep(Some(next), &mut 0, sink);
            steps += 1;
        }
    }

    /// Selects and takes lines. `faults` counts guards that failed; only the first raises
    /// `error.execution`.
    #[inline(always)]
    fn microstep(&mut self, cause: impl Cause, faults: &mut u32, sink: &mut dyn Sink) -> bool {
        if self.leaves == 1 {
            let leaf = self.store.cells().leaves[0];
            let before = *faults;
            let picked = self.pick(leaf, cause, 0, faults, sink);
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
        let before = *faults;
        let (count, denied) = self.select(cause, faults, sink);
        self.raise_faults(before, *faults, cause, sink);
        if count > 0 {
            self.take(count, sink);
        }
        count > 0 || denied
    }

    /// Raises an error for the first guard that fails. The handler of an error whose own guard fails does not call for another
    /// handler.
    #[inline(always)]
    fn raise_faults(&mut self, before: u32, faults: u32, cause: impl Cause, sink: &mut dyn Sink) {
        if before == 0 && faults > 0 && !cause.is_error() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    /// Puts `error.*` on the internal queue.
    pub(super) fn raise_error(&mut self, kind: ErrorKind, sink: &mut dyn Sink) {
        sink.record(Record::Error(kind));
        // A full queue is a livelock in the making, which the bound on microsteps reports.
        let _ = self.enqueue(Occurrence::Error(kind));
    }

    /// Runs a block of a state or of one of its lines.
    #[inline]
    pub(super) fn run_block(&mut self, block: Block, state: StateId, sink: &mut dyn Sink) {
        if !self.program.run_alone(block, self.store.cells().configuration) {
            self.run_in_view(block, state, sink);
        }
    }

    fn run_in_view(&mut self, block: Block, state: StateId, sink: &mut dyn Sink) {
        let leaf = self.leaf_of(state);
        let scalars = &mut self.scalars;
        let cells = self.store.cells_mut();
        let view = View {
            tables: &self.tables,
            cells: Observed { configuration: cells.configuration, states: cells.states },
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
            waiting: &mut scalars.sends,
            now: scalars.now,
            sink,
        };
        if self.program.run(block, &view, &mut outbox).is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    /// At a stable point: raises `error.stuck.dead` once if nothing can ever happen again. Whether it did.
    pub(super) fn look_for_dead_end(&mut self, sink: &mut dyn Sink) -> bool {
        if self.is_over() || self.scalars.dead || self.scalars.walk.is_some() || self.may_go_on() {
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
