//! Microsteps, in which the selected transitions are executed together; and the macrostep around them.
//!
//! **The problem.** Several regions may move in one microstep, and histories decide what is entered, so exit and entry sets have to be
//! computed. Most events move one leaf along a transition whose sets never change, and this case must be fast.
//!
//! **The idea.** A microstep has a fixed order, so that each phase sees what it needs:
//!
//! 1. `select` chooses the transitions (`super::select`).
//! 2. `begin_line` reports each and evaluates the arguments of its final state: the old configuration is still active.
//! 3. Histories are recorded, then states are exited in reverse document order, and then all actions run.
//! 4. States are entered in document order. A final state ends the run or queues `done` (`complete`).
//!
//! `take_one` is the short form for one transition. With [`Route::Known`], it uses the sets of the tables. Otherwise a bit set collects
//! what is entered. A macrostep is the loop [`go_on`] over the trait [`Microsteps`], which direct code implements, too. It stops a livelock
//! after a fixed number of microsteps. Events that blocks `send` are delivered after the macrostep (`settle`, `deliver`).
//!
//! **Example.** The event `go` while `a` is active:
//!
//! ```text
//! state a { exit { n = 1 }  on go -> b { n = 2 } }   state b { enter { n = 3 }  when n == 3 -> c }   final c
//! microstep   Taken(go)   exit block, Exited(a)   n = 2   Entered(b), enter block
//! go_on       eventless: Taken(when), Exited(b), Entered(c); `c` is a final child of the root, so the run ends as `ok`
//! ```

use super::configuration::is_leaf;
use super::defer::Origin;
use super::select::{Cause, Picked};
use super::{MICROSTEPS, NO_STATES, Phase, Stepper};
use crate::arena::{EventId, StateId, TransitionId};
use crate::machine::{
    Effect, ErrorKind, Instant, Receipt, Receiver, Record, Sink, Status, StepKey,
};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Caller, Program, View};
use crate::store::{Amounts, Observed, Occurrence, Sent, Store, Underway, bits};
use crate::tables::{Reacts, Route, StateRowKind, TransitionRow, TriggerRow};

impl<P: Program> Stepper<P> {
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
        go_on(self, 0, sink);
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
        go_on(self, 1, sink);
    }

    /// Like [`Stepper::macrostep`], for a cause whose type is known at compile time.
    #[inline(always)]
    pub(super) fn macrostep_of(&mut self, cause: impl Cause, sink: &mut dyn Sink) -> bool {
        // One microstep handles most events; they skip the loop of `go_on`.
        let taken = self.microstep(cause, &mut 0, sink);
        if !self.is_stable() {
            go_on(self, 1, sink);
        }
        taken
    }

    /// The macrostep of an event from outside. Returns `None` if no transition was taken and no active state defers the event.
    #[inline(always)]
    pub(super) fn macrostep_of_event(
        &mut self,
        event: EventId,
        origin: Origin,
        sink: &mut dyn Sink,
    ) -> Option<Receipt> {
        let receipt = if self.microstep(event, &mut 0, sink) {
            Some(Receipt::Handled)
        } else {
            self.defer(event, origin, sink)
        };
        if !self.is_stable() {
            go_on(self, 1, sink);
        }
        receipt
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
        let (leaf, most) = (self.leaf_of(state), self.most_sends());
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
            most,
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

impl<'s, P: Program> Microsteps<dyn Sink + 's> for Stepper<P> {
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
        let taken = self.microstep(Some(next), &mut 0, sink);
        if let (false, Occurrence::Event(event)) = (taken, next) {
            self.defer(event, Origin::Raised, sink);
        }
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

// The macrostep: microsteps until no transition is enabled and the internal queue is empty. The stepper and direct code share this loop.

/// The parts of a macrostep that the stepper and direct code implement. `S` is the sink.
pub(crate) trait Microsteps<S: ?Sized> {
    /// The number of microsteps after which a macrostep is stopped as a livelock.
    fn bound(&self) -> u32;

    /// The status of the run, if its last microstep has entered a final child of the root.
    fn ending(&self) -> Option<Status>;

    /// Ends the run with this status.
    fn finish(&mut self, status: Status, sink: &mut S);

    /// Takes the eventless transitions that are enabled. Returns whether there were any. `faults` counts the guards that failed in this
    /// macrostep.
    fn eventless(&mut self, faults: &mut u32, sink: &mut S) -> bool;

    /// Takes the transitions of the oldest occurrence in the internal queue. Returns false if the queue is empty.
    fn queued(&mut self, sink: &mut S) -> bool;

    /// Starts the steps of states that were entered in this macrostep. Returns whether there were any.
    fn start_entered(&mut self, _sink: &mut S) -> bool {
        false
    }

    /// Empties the internal queue.
    fn give_up_queue(&mut self);

    /// Runs the microstep of an error that the loop itself raises.
    fn error(&mut self, kind: ErrorKind, sink: &mut S);
}

/// Runs the rest of a macrostep, of which `steps` microsteps have been taken.
pub(crate) fn go_on<M, S>(machine: &mut M, mut steps: u32, sink: &mut S)
where
    M: Microsteps<S>,
    S: Sink + ?Sized,
{
    // Counted for the whole macrostep: a `when` guard that fails after every microstep raises one error.
    let mut faults = 0;
    let mut livelock = false;
    loop {
        if let Some(status) = machine.ending() {
            return machine.finish(status, sink);
        }
        // Asked now and then: most macrosteps have a few microsteps.
        let is_full = steps % 16 == 15 && sink.is_full();
        if steps >= machine.bound() || is_full {
            machine.give_up_queue();
            if livelock {
                return;
            }
            // The error's own transitions get one microstep. Then the macrostep stops, even if further transitions are enabled.
            livelock = true;
            sink.record(Record::Error(ErrorKind::Livelock));
            machine.error(ErrorKind::Livelock, sink);
        } else if machine.eventless(&mut faults, sink) || machine.queued(sink) {
            steps += 1;
        } else if !machine.start_entered(sink) {
            return;
        }
    }
}

// The execution of the selected transitions in a microstep: exit, actions, entry.

impl<P: Program> Stepper<P> {
    /// Takes the selected transitions together: all exits, then all actions, then all entries.
    pub(super) fn take(&mut self, selected: &[TransitionId], sink: &mut dyn Sink) {
        match selected {
            [] => return,
            [id] => return self.take_one(*id, sink),
            [_, _, ..] => {}
        }
        // All are reported before anything changes: arguments and domains depend on the old configuration.
        let mut all_known = true;
        for id in selected {
            let row = self.tables.transitions[id.index()];
            self.begin_line(*id, &row, sink);
            all_known &= row.route != Route::Computed;
        }
        self.take_begun(selected, all_known, sink);
    }

    /// Like [`Stepper::take`], for a single transition.
    pub(super) fn take_one(&mut self, id: TransitionId, sink: &mut dyn Sink) {
        let row = self.tables.transitions[id.index()];
        self.begin_line(id, &row, sink);
        match row.route {
            Route::Stay => self.act(id, &row, sink),
            Route::Known { domain, entry } => {
                if self.tables.summary.histories {
                    self.record_all(domain);
                }
                self.exit(domain, sink);
                self.act(id, &row, sink);
                for at in entry.range() {
                    self.enter(self.tables.state_pool[at], sink);
                }
            }
            Route::Computed => {
                self.take_begun(&[id], false, sink);
            }
        }
    }

    /// Runs the rest of a microstep whose transitions have been reported: exit, actions, entry. `all_known` tells that no exit or entry set
    /// has to be computed.
    fn take_begun(&mut self, selected: &[TransitionId], all_known: bool, sink: &mut dyn Sink) {
        self.exit_all(selected, sink);
        for id in selected {
            let row = self.tables.transitions[id.index()];
            self.act(*id, &row, sink);
        }
        for id in selected {
            match self.tables.transitions[id.index()].route {
                Route::Stay => {}
                Route::Known { entry, .. } => {
                    // Entry sets of different domains are disjoint and in document order, so they can be entered one after the other.
                    for at in entry.range() {
                        let state = self.tables.state_pool[at];
                        if all_known {
                            self.enter(state, sink);
                        } else {
                            self.add_to_entry_set(state);
                        }
                    }
                }
                Route::Computed => {
                    let domain = self.taken_domain(*id);
                    bits::remove(self.with_sets().domains, domain.index());
                    self.add_targets(*id, domain);
                }
            }
        }
        if !all_known {
            self.complete_entry_set();
            self.enter_all(sink);
        }
    }

    /// Reports that a transition is taken, evaluates the arguments of its final target, and stores its domain if that is computed.
    #[inline(always)]
    fn begin_line(&mut self, id: TransitionId, row: &TransitionRow, sink: &mut dyn Sink) {
        if row.alternatives.len > 0 && sink.asks_why() {
            self.tell_why(id, row.source, sink);
        }
        sink.record(Record::Taken(id));
        if let TriggerRow::Choice(choice) = row.trigger
            && self.tables.choices[choice.index()].tools.is_none()
        {
            self.program.another_option();
        }
        if row.arguments {
            let leaf = self.leaf_of(row.source);
            if self.in_view(leaf, |program, view| program.arguments(id, view)).is_err() {
                self.raise_error(ErrorKind::Execution, sink);
            }
        }
        // A computed domain depends on recorded histories, which the exit is about to change.
        if row.route == Route::Computed
            && let Some(domain) = self.domain(id)
        {
            bits::insert(self.with_sets().domains, domain.index());
        }
    }

    /// Reports the alternatives of a guard that hold, for the first active leaf below the source in which any holds.
    #[cold]
    #[inline(never)]
    fn tell_why(&mut self, id: TransitionId, source: StateId, sink: &mut dyn Sink) {
        let end = self.tables.states[source.index()].end.index();
        let mut from = source.index();
        while let Some(leaf) = self.next_leaf(from, end) {
            let held = self.in_view(leaf, |program, view| program.held(id, view));
            if held != 0 {
                return sink.held(id, held);
            }
            from = leaf.index() + 1;
        }
    }

    /// Runs the actions of a transition.
    #[inline(always)]
    fn act(&mut self, id: TransitionId, row: &TransitionRow, sink: &mut dyn Sink) {
        if row.actions {
            self.run_block(Block::Transition(id), row.source, sink);
        }
    }

    /// The domain that a selected transition had when the microstep began. The transition has a target.
    fn taken_domain(&self, id: TransitionId) -> StateId {
        let row = &self.tables.transitions[id.index()];
        if let Route::Known { domain, .. } = row.route {
            return domain;
        }
        let domains = self.store.cells().domains;
        let mut domain = row.source;
        // Domains of one microstep are disjoint, so the first one found outwards belongs to this transition.
        while !bits::has(domains, domain.index()) {
            match self.parent(domain) {
                Some(parent) => domain = parent,
                None => break,
            }
        }
        domain
    }

    /// Exits the active states in the domains of the selected transitions, in reverse document order. Transitions are selected leaf by leaf
    /// and their domains are disjoint, so the domains are in document order. All histories are recorded before the first exit.
    fn exit_all(&mut self, selected: &[TransitionId], sink: &mut dyn Sink) {
        let recorded = if self.tables.summary.histories { selected } else { &[] };
        for id in recorded {
            if self.tables.transitions[id.index()].route != Route::Stay {
                self.record_all(self.taken_domain(*id));
            }
        }
        for id in selected.iter().rev() {
            if self.tables.transitions[id.index()].route != Route::Stay {
                self.exit(self.taken_domain(*id), sink);
            }
        }
    }

    /// Records the histories of all active states in a domain.
    fn record_all(&mut self, domain: StateId) {
        let mut next = self.first_exited(domain);
        while let Some(state) = next {
            self.record_history(state);
            next = self.next_exited(domain, state);
        }
    }

    /// Exits the active states in a domain, in reverse document order.
    #[inline(always)]
    fn exit(&mut self, domain: StateId, sink: &mut dyn Sink) {
        if self.leaves == 1 {
            self.exit_path(domain, sink);
        } else {
            self.exit_tree(domain, sink);
        }
    }

    fn exit_tree(&mut self, domain: StateId, sink: &mut dyn Sink) {
        let mut next = self.first_exited(domain);
        while let Some(state) = next {
            self.leave(state, sink);
            self.deactivate(state);
            next = self.next_exited(domain, state);
        }
    }

    /// Like [`Stepper::exit_tree`], if only one leaf is active: exits the leaf and its ancestors in the domain.
    #[inline(always)]
    fn exit_path(&mut self, domain: StateId, sink: &mut dyn Sink) {
        let mut state = self.store.cells().leaves[0];
        // Ancestors precede their descendants, so the path ends at the domain.
        while state > domain {
            let parent = self.tables.states[state.index()].parent;
            self.leave(state, sink);
            self.leaves = 0;
            self.take_out(state);
            state = parent;
        }
    }

    /// Enters the states of the entry set in document order, and empties the set.
    pub(super) fn enter_all(&mut self, sink: &mut dyn Sink) {
        if self.tables.summary.default_actions {
            self.run_defaults_inside(sink);
        }
        let mut at = 0;
        while let Some(state) = self.next_in_entry_set(at, usize::MAX) {
            at = state.index() + 1;
            bits::remove(self.with_sets().entry, state.index());
            self.enter(state, sink);
            if self.tables.summary.default_actions {
                self.run_defaults(state, sink);
            }
        }
        self.entry = NO_STATES;
    }

    #[inline(always)]
    fn enter(&mut self, state: StateId, sink: &mut dyn Sink) {
        let row = &self.tables.states[state.index()];
        let now = self.scalars.now;
        *self.store.entered_mut(row.place) = now;
        // Most states have nothing to begin; they skip the call.
        let is_plain = row.entry == 0
            && !row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.entry_runs
            && !matches!(row.kind, StateRowKind::Final(_));
        let is_leaf = is_leaf(row);
        self.activate(state, is_leaf);
        let cells = self.store.cells_mut();
        // Counts that are left out are zero already.
        if let Some(counts) = cells.counts.get_mut(state.index()) {
            counts.turns_here = 0;
            counts.fails_here = 0;
        }
        if let Some(amounts) = cells.amounts.get_mut(state.index()) {
            *amounts = Amounts::default();
        }
        self.scalars.dead = false;
        self.moved = true;
        sink.record(Record::Entered(state));
        if !is_plain {
            self.begin_state(state, sink);
        }
    }

    /// Runs a state's `enter` blocks, arms its deadlines, marks the steps that it starts, and completes its parent if it is final.
    #[inline(never)]
    fn begin_state(&mut self, state: StateId, sink: &mut dyn Sink) {
        let row = &self.tables.states[state.index()];
        let (entry, kind) = (row.entry, row.kind);
        for nth in 0..entry {
            self.run_block(Block::Entry(state, nth), state, sink);
        }
        self.arm_deadlines(state, sink);
        self.note_entry_runs(state);
        if let StateRowKind::Final(status) = kind {
            self.complete(state, status);
        }
    }

    /// Handles the entry of a final state: the parent has completed, and so has every parallel ancestor whose regions have all completed.
    fn complete(&mut self, state: StateId, status: crate::machine::Status) {
        let Some(parent) = self.parent(state) else { return };
        // A final child of the root ends the run instead of raising `done`.
        if self.parent(parent).is_none() {
            self.scalars.phase = Phase::Ending(status);
            return;
        }
        // If the queue is full, the macrostep is about to end as a livelock.
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

    /// Ends everything that is under way in a state, and reports its exit.
    #[inline(always)]
    pub(super) fn leave(&mut self, state: StateId, sink: &mut dyn Sink) {
        let row = &self.tables.states[state.index()];
        let is_plain = row.exit == 0
            && row.steps.len == 0
            && !row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.asks
            && self.tables.walks.len() == 1;
        if !is_plain {
            self.end_state(state, sink);
        }
        sink.record(Record::Exited(state));
    }

    /// Runs a state's `exit` blocks, cancels its steps and its question, and disarms its deadlines.
    #[inline(never)]
    fn end_state(&mut self, state: StateId, sink: &mut dyn Sink) {
        let row = &self.tables.states[state.index()];
        let (exit, steps) = (row.exit, row.steps);
        // The blocks run first, while the steps and the question are still open.
        for nth in 0..exit {
            self.run_block(Block::Exit(state, nth), state, sink);
        }
        for at in steps.range() {
            let step = self.tables.step_pool[at];
            // Without registers, no step is under way.
            let underway = self.store.cells_mut().steps.get_mut(step.index());
            let underway = underway.map(|it| core::mem::replace(it, Underway::NEW));
            let Some(Underway { pending, calling, .. }) = underway else { break };
            if calling.is_some() {
                self.program.forget_call(Caller::Step(step));
            }
            if let Some(key) = pending {
                self.cancel(key, sink);
            }
        }
        if let Some(question) = self.take_question(state) {
            if question.calling.is_some() {
                self.program.forget_call(Caller::Question(state));
            }
            self.cancel(question.key, sink);
        }
        self.disarm_deadlines(state);
        self.leave_region(state);
    }

    pub(super) fn cancel(&mut self, key: StepKey, sink: &mut dyn Sink) {
        match self.each(key.step) {
            Some(each) => self.cancel_elements(key.step, each, sink),
            None => sink.effect(Effect::Cancel(key)),
        }
        self.no_longer_awaits(key.step);
    }
}

// Events that action blocks have sent. Each is handled like a host event when it is due.

impl<P: Program> Stepper<P> {
    /// The sent events that are not delivered yet, in the order of their delivery.
    pub fn sends(&self) -> &[Sent] {
        if self.scalars.sends == 0 {
            return &[];
        }
        &self.store.cells().sends[..self.scalars.sends as usize]
    }

    /// The time at which the next sent event is due; `None` if none waits.
    #[inline]
    pub(super) fn next_send(&self) -> Option<Instant> {
        if self.scalars.sends == 0 { None } else { self.sends().first().map(|sent| sent.due) }
    }

    /// Continues the walks, delivers events that were sent without delay, and reports dead ends, until the machine waits for the host.
    #[inline(always)]
    pub(super) fn settle(&mut self, sink: &mut dyn Sink) {
        // The usual case: nothing waits, and the configuration is not a new dead end.
        let rests = !self.scalars.walking
            && self.scalars.sends == 0
            && (self.scalars.dead || self.is_over() || self.may_go_on());
        if !rests {
            self.settle_all(sink);
        }
        self.calm();
        self.program.rest();
    }

    fn settle_all(&mut self, sink: &mut dyn Sink) {
        // If transitions for the dead end lead back into it and send each time, it is reported once more after its livelock.
        let mut last = false;
        loop {
            self.walk_on(sink);
            last = last || self.look_for_dead_end(sink) && self.is_in_livelock();
            let is_due = self.next_send().is_some_and(|due| due <= self.scalars.now);
            if self.is_over() || !is_due && !self.may_recall() {
                return;
            }
        }
    }

    /// Delivers the next deferred event that is recalled, otherwise the first sent event if it is due. Returns whether it did. The event is
    /// handled like a host event: a step that waits for it is started, and it is refused if nothing handles it.
    pub(super) fn deliver(&mut self, sink: &mut dyn Sink) -> bool {
        let now = self.scalars.now;
        if self.scalars.sends == 0 || self.is_over() {
            return false;
        }
        self.moved &= !self.is_in_livelock();
        let recalled = self.next_recalled(sink);
        let place = recalled.unwrap_or(0);
        let first = self.sends()[place];
        if first.due > now && recalled.is_none() {
            return false;
        }
        self.delivered += 1;
        if sink.is_full() {
            self.delivered = self.delivered.max(MICROSTEPS + 1);
        }
        if self.delivered > MICROSTEPS {
            if recalled.is_some() {
                self.program.put_back(first.slot as usize);
            }
            self.stop_burst(sink);
            return false;
        }
        // The entry moves behind the waiting ones, so that its slot becomes free.
        let waiting = self.scalars.sends as usize;
        self.store.cells_mut().sends.all()[place..waiting].rotate_left(1);
        self.scalars.sends -= 1;
        if first.to != Receiver::Own {
            sink.record(Record::Posted(first.event, first.to));
            self.program.post(first.event, first.slot as usize, first.to);
            return true;
        }
        self.scalars.events += 1;
        self.scalars.event = Some(first.event);
        if recalled.is_some() {
            sink.record(Record::Recalled(first.event));
        } else {
            sink.record(Record::Delivered(first.event));
            self.program.deliver(first.event, first.slot as usize);
        }
        self.external(first.event, Origin::Sent, sink);
        true
    }

    /// Stops deliveries at this moment of the clock after a livelock, so that the events that were sent without delay are discarded.
    pub(super) fn end_burst(&mut self) {
        self.delivered = MICROSTEPS + 1;
    }

    /// Whether a macrostep, or a series of events sent without delay, was stopped at this moment of the clock.
    pub(super) fn is_in_livelock(&self) -> bool {
        self.delivered > MICROSTEPS
    }

    /// Handles too many events sent without delay. Those that are due are discarded, as a livelock discards the internal queue. The error
    /// is raised once; events that its own transitions send without delay are discarded, too.
    fn stop_burst(&mut self, sink: &mut dyn Sink) {
        let now = self.scalars.now;
        let mut sends = self.store.cells_mut().sends;
        let waiting = &mut sends.all()[..self.scalars.sends as usize];
        let due = waiting.iter().take_while(|sent| sent.due <= now).count();
        for sent in &waiting[..due] {
            sink.record(Record::SendCanceled(sent.event));
        }
        waiting.rotate_left(due);
        self.scalars.sends -= due as u32;
        if self.delivered == MICROSTEPS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
            self.program.bind(Bound::Nothing);
            self.macrostep(Some(Occurrence::Error(ErrorKind::Livelock)), sink);
        }
    }
}
