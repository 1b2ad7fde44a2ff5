//! Microsteps and macrosteps: exit, actions, entry, until nothing is enabled.

use super::{Engine, MICROSTEPS, NO_STATES, Phase};
use crate::arena::{StateId, TransitionId};
use crate::bits;
use crate::machine::{Effect, ErrorKind, Record, Sink, StepKey};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Program, View};
use crate::store::{Observed, Occurrence, Store};
use crate::tables::{Reacts, Route, StateRowKind, TriggerRow};

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
        let mut steps = 0;
        let mut taken = false;
        if let Some(occurrence) = first {
            taken = self.microstep(Some(occurrence), &mut 0, sink);
            steps += 1;
        }
        let bound = if self.tables.microsteps == 0 { MICROSTEPS } else { self.tables.microsteps };
        // A guard that fails at every stable point is reported once.
        let mut eventless_faults = 0;
        let mut livelock = false;
        loop {
            if let Phase::Ending(status) = self.scalars.phase {
                self.finish(status, sink);
                return taken;
            }
            if steps >= bound {
                if livelock {
                    self.give_up_queue();
                    return taken;
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
                return taken;
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

    /// Selects and takes lines for one occurrence. `faults` counts guards that failed; only the first raises
    /// `error.execution`.
    fn microstep(
        &mut self,
        occurrence: Option<Occurrence>,
        faults: &mut u32,
        sink: &mut dyn Sink,
    ) -> bool {
        let before = *faults;
        let (count, denied) = self.select(occurrence, faults, sink);
        // The handler of an error whose own guard fails does not call for another handler.
        let on_error = matches!(occurrence, Some(Occurrence::Error(_)));
        if before == 0 && *faults > 0 && !on_error {
            self.raise_error(ErrorKind::Execution, sink);
        }
        if count > 0 {
            self.take(count, sink);
        }
        count > 0 || denied
    }

    /// Puts `error.*` on the internal queue.
    pub(super) fn raise_error(&mut self, kind: ErrorKind, sink: &mut dyn Sink) {
        sink.record(Record::Error(kind));
        // A full queue is a livelock in the making, which the bound on microsteps reports.
        let _ = self.enqueue(Occurrence::Error(kind));
    }

    /// Takes the first `count` selected lines together.
    pub(super) fn take(&mut self, count: usize, sink: &mut dyn Sink) {
        let lines = self.tables.transitions;
        let mut all_known = true;
        for i in 0..count {
            let id = self.selected(i);
            let row = &lines[id.index()];
            sink.record(Record::Taken(id));
            if let TriggerRow::Choice(choice) = row.trigger
                && self.tables.choices[choice.index()].tools.is_none()
            {
                self.program.another_option();
            }
            if row.arguments {
                let leaf = self.leaf_of(row.source);
                if self.with_view(leaf, |program, view| program.arguments(id, view)).is_err() {
                    self.raise_error(ErrorKind::Execution, sink);
                }
            }
            // Such a domain depends on recorded histories, which the exit is about to change.
            if row.route == Route::Computed {
                all_known = false;
                if let Some(domain) = self.domain(id) {
                    bits::insert(self.store.cells_mut().domains, domain.index());
                }
            }
        }
        self.exit_all(count, sink);
        for i in 0..count {
            let id = self.selected(i);
            let row = &lines[id.index()];
            if row.actions {
                let leaf = self.leaf_of(row.source);
                self.run_block(Block::Transition(id), leaf, sink);
            }
        }
        for i in 0..count {
            let id = self.selected(i);
            match lines[id.index()].route {
                Route::Stay => {}
                Route::Known { entry, .. } => {
                    for state in entry.of(self.tables.state_pool) {
                        if all_known {
                            self.enter(*state, sink);
                        } else {
                            self.add_to_entry_set(*state);
                        }
                    }
                }
                Route::Computed => {
                    let domain = self.taken_domain(id);
                    bits::remove(self.store.cells_mut().domains, domain.index());
                    self.add_targets(id, domain);
                }
            }
        }
        if !all_known {
            self.complete_entry_set();
            self.enter_all(sink);
        }
    }

    fn selected(&self, nth: usize) -> TransitionId {
        self.store.cells().selected[nth]
    }

    /// The domain of a selected line that has a target, as it was when the line was taken.
    fn taken_domain(&self, id: TransitionId) -> StateId {
        let row = &self.tables.transitions[id.index()];
        if let Route::Known { domain, .. } = row.route {
            return domain;
        }
        let domains = self.store.cells().domains;
        let mut domain = row.source;
        while !bits::has(domains, domain.index()) {
            match self.parent(domain) {
                Some(parent) => domain = parent,
                None => break,
            }
        }
        domain
    }

    /// Exits what is active in the domains of the first `count` selected lines, in reverse document order. All histories are
    /// recorded before. Lines are selected from one leaf after the other and their domains lie apart, so the domains are in
    /// document order.
    fn exit_all(&mut self, count: usize, sink: &mut dyn Sink) {
        let recorded = if self.has_history { count } else { 0 };
        for i in 0..recorded {
            let id = self.selected(i);
            if self.tables.transitions[id.index()].route != Route::Stay {
                let domain = self.taken_domain(id);
                let mut next = self.first_exited(domain);
                while let Some(state) = next {
                    self.record_history(state);
                    next = self.next_exited(domain, state);
                }
            }
        }
        for i in (0..count).rev() {
            let id = self.selected(i);
            if self.tables.transitions[id.index()].route != Route::Stay {
                let domain = self.taken_domain(id);
                if self.leaves == 1 {
                    self.exit_path(domain, sink);
                    continue;
                }
                let mut next = self.first_exited(domain);
                while let Some(state) = next {
                    self.leave(state, sink);
                    self.deactivate(state);
                    next = self.next_exited(domain, state);
                }
            }
        }
    }

    /// The same where one leaf is active: it and what is above it.
    fn exit_path(&mut self, domain: StateId, sink: &mut dyn Sink) {
        let mut state = self.store.cells().leaves[0];
        while state > domain {
            self.leave(state, sink);
            self.deactivate(state);
            state = self.tables.states[state.index()].parent;
        }
    }

    /// Enters the entry set in document order, and empties it.
    fn enter_all(&mut self, sink: &mut dyn Sink) {
        if self.has_default_actions {
            self.run_defaults_inside(sink);
        }
        let mut at = 0;
        while let Some(state) = self.next_in_entry_set(at, usize::MAX) {
            at = state.index() + 1;
            bits::remove(self.store.cells_mut().entry, state.index());
            self.enter(state, sink);
            if self.has_default_actions {
                self.run_defaults(state, sink);
            }
        }
        self.entry = NO_STATES;
    }

    fn enter(&mut self, state: StateId, sink: &mut dyn Sink) {
        let index = state.index();
        let now = self.scalars.now;
        self.activate(state);
        let cells = self.store.cells_mut();
        cells.entered_at[index] = now;
        cells.turns_here[index] = 0;
        cells.fails_here[index] = 0;
        self.scalars.dead = false;
        sink.record(Record::Entered(state));
        for nth in 0..self.tables.states[index].entry {
            self.run_block(Block::Entry(state, nth), self.leaf_of(state), sink);
        }
        self.arm_deadlines(state, sink);
        self.note_entry_runs(state);
        if let StateRowKind::Final(status) = self.tables.states[index].kind {
            self.complete(state, status);
        }
    }

    /// A final state was entered: its parent is done, and every parallel above whose regions all are.
    fn complete(&mut self, state: StateId, status: crate::machine::Status) {
        let Some(parent) = self.parent(state) else { return };
        if self.parent(parent).is_none() {
            self.scalars.phase = Phase::Ending(status);
            return;
        }
        let _ = self.enqueue(Occurrence::StateDone(parent));
        let mut above = self.parent(parent);
        while let Some(ancestor) = above {
            let is_parallel =
                matches!(self.tables.states[ancestor.index()].kind, StateRowKind::Parallel);
            if !is_parallel || !self.is_in_final(ancestor) {
                break;
            }
            let _ = self.enqueue(Occurrence::StateDone(ancestor));
            above = self.parent(ancestor);
        }
    }

    /// Runs a state's `exit`, cancels its steps and its question, disarms its deadlines.
    pub(super) fn leave(&mut self, state: StateId, sink: &mut dyn Sink) {
        let row = &self.tables.states[state.index()];
        for nth in 0..row.exit {
            let leaf = self.leaf_of(state);
            self.run_block(Block::Exit(state, nth), leaf, sink);
        }
        for step in row.steps.of(self.tables.step_pool) {
            let register = &mut self.store.cells_mut().steps[step.index()];
            register.due = false;
            let pending = register.pending.take();
            if let Some(key) = pending {
                self.cancel(key, sink);
            }
        }
        if let Some(question) = self.store.cells_mut().questions[state.index()].take() {
            if question.calling.is_some() {
                self.program.forget_call(state);
            }
            self.cancel(question.key, sink);
        }
        self.disarm_deadlines(state);
        sink.record(Record::Exited(state));
    }

    fn cancel(&mut self, key: StepKey, sink: &mut dyn Sink) {
        sink.effect(Effect::Cancel(key));
        if let Some(walk) = &mut self.scalars.walk
            && walk.awaiting == Some(key)
        {
            walk.awaiting = None;
        }
    }

    pub(super) fn run_block(&mut self, block: Block, leaf: StateId, sink: &mut dyn Sink) {
        let scalars = &mut self.scalars;
        let cells = self.store.cells_mut();
        let view = View {
            tables: &self.tables,
            cells: Observed {
                configuration: cells.configuration,
                entered_at: cells.entered_at,
                turns_here: cells.turns_here,
                turns_in: cells.turns_in,
                fails_here: cells.fails_here,
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
            waiting: &mut scalars.sends,
            now: scalars.now,
            sink,
        };
        if self.program.run(block, &view, &mut outbox).is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    /// At a stable point: raises `error.stuck.dead` once if nothing can ever happen again.
    pub(super) fn look_for_dead_end(&mut self, sink: &mut dyn Sink) {
        if self.is_over() || self.scalars.dead || self.scalars.walk.is_some() || self.may_go_on() {
            return;
        }
        self.scalars.dead = true;
        sink.record(Record::Error(ErrorKind::StuckDead));
        self.program.bind(Bound::Nothing);
        self.macrostep(Some(Occurrence::Error(ErrorKind::StuckDead)), sink);
    }

    pub(super) fn may_go_on(&self) -> bool {
        self.some_leaf_reacts(Reacts::ALIVE)
    }
}
