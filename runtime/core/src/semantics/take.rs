//! The execution of the selected transitions in a microstep: exit, actions, entry.

use super::{NO_STATES, Phase, Stepper};
use crate::arena::{StateId, TransitionId};
use crate::machine::{Effect, ErrorKind, Record, Sink, StepKey};
use crate::program::{Block, Caller, Program};
use crate::store::{Amounts, Occurrence, Store, Underway, bits};
use crate::tables::{Reacts, Route, StateRow, StateRowKind, TransitionRow, TriggerRow};

impl<P: Program> Stepper<'_, P> {
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
            let row = &self.tables.transitions[id.index()];
            self.begin_line(*id, row, sink);
            all_known &= row.route != Route::Computed;
        }
        self.take_begun(selected, all_known, sink);
    }

    /// Like [`Stepper::take`], for a single transition.
    pub(super) fn take_one(&mut self, id: TransitionId, sink: &mut dyn Sink) {
        let row = &self.tables.transitions[id.index()];
        self.begin_line(id, row, sink);
        match row.route {
            Route::Stay => self.act(id, row, sink),
            Route::Known { domain, entry } => {
                if self.tables.summary.histories {
                    self.record_all(domain);
                }
                self.exit(domain, sink);
                self.act(id, row, sink);
                for state in entry.of(self.tables.state_pool) {
                    self.enter(*state, sink);
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
        let lines = self.tables.transitions;
        self.exit_all(selected, sink);
        for id in selected {
            self.act(*id, &lines[id.index()], sink);
        }
        for id in selected {
            match lines[id.index()].route {
                Route::Stay => {}
                Route::Known { entry, .. } => {
                    // Entry sets of different domains are disjoint and in document order, so they can be entered one after the other.
                    for state in entry.of(self.tables.state_pool) {
                        if all_known {
                            self.enter(*state, sink);
                        } else {
                            self.add_to_entry_set(*state);
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
    fn begin_line(&mut self, id: TransitionId, row: &TransitionRow<'_>, sink: &mut dyn Sink) {
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
    fn act(&mut self, id: TransitionId, row: &TransitionRow<'_>, sink: &mut dyn Sink) {
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
            let row = &self.tables.states[state.index()];
            self.leave_row(state, row, sink);
            self.leaves = 0;
            self.take_out(state);
            state = row.parent;
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
        self.activate(state, row);
        *self.store.entered_mut(row.place) = now;
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
        sink.record(Record::Entered(state));
        // Most states have nothing to begin; they skip the call.
        let is_plain = row.entry == 0
            && !row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.entry_runs
            && !matches!(row.kind, StateRowKind::Final(_));
        if !is_plain {
            self.begin_state(state, row, sink);
        }
    }

    /// Runs a state's `enter` blocks, arms its deadlines, marks the steps that it starts, and completes its parent if it is final.
    #[inline(never)]
    fn begin_state(&mut self, state: StateId, row: &StateRow<'_>, sink: &mut dyn Sink) {
        for nth in 0..row.entry {
            self.run_block(Block::Entry(state, nth), state, sink);
        }
        self.arm_deadlines(state, sink);
        self.note_entry_runs(state);
        if let StateRowKind::Final(status) = row.kind {
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
    pub(super) fn leave(&mut self, state: StateId, sink: &mut dyn Sink) {
        self.leave_row(state, &self.tables.states[state.index()], sink);
    }

    #[inline(always)]
    fn leave_row(&mut self, state: StateId, row: &StateRow<'_>, sink: &mut dyn Sink) {
        let is_plain = row.exit == 0
            && row.steps.len == 0
            && !row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.asks
            && self.tables.walks.len() == 1;
        if !is_plain {
            self.end_state(state, row, sink);
        }
        sink.record(Record::Exited(state));
    }

    /// Runs a state's `exit` blocks, cancels its steps and its question, and disarms its deadlines.
    #[inline(never)]
    fn end_state(&mut self, state: StateId, row: &StateRow<'_>, sink: &mut dyn Sink) {
        // The blocks run first, while the steps and the question are still open.
        for nth in 0..row.exit {
            self.run_block(Block::Exit(state, nth), state, sink);
        }
        for step in row.steps.of(self.tables.step_pool) {
            // Without registers, no step is under way.
            let underway = self.store.cells_mut().steps.get_mut(step.index());
            let underway = underway.map(|it| core::mem::replace(it, Underway::NEW));
            let Some(Underway { pending, calling, .. }) = underway else { break };
            if calling.is_some() {
                self.program.forget_call(Caller::Step(*step));
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
