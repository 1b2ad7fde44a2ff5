//! Microsteps and macrosteps: exit, actions, entry, until nothing is enabled.

use super::{Engine, MICROSTEPS, Phase};
use crate::arena::{StateId, TransitionId};
use crate::bits;
use crate::machine::{Effect, ErrorKind, Record, Sink, StepKey};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Program, View};
use crate::store::{Cells, CellsMut, Occurrence, Sent, Store};
use crate::tables::{StateRowKind, TriggerRow};

impl<P: Program> Engine<'_, P> {
    /// Enters the initial configuration and runs to the first stable point.
    pub(super) fn start(&mut self, sink: &mut dyn Sink) {
        self.scalars.phase = Phase::Running;
        self.program.bind(Bound::Nothing);
        self.clear_sets();
        bits::insert(self.store.cells_mut().entry, 0);
        self.complete_entry_set();
        self.enter_all(sink);
        self.macrostep(None, sink);
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
                    self.scalars.queue_len = 0;
                    return taken;
                }
                // The error's own lines get one microstep, then the macrostep stops whatever is still enabled.
                livelock = true;
                self.end_burst();
                self.scalars.queue_len = 0;
                sink.record(Record::Error(ErrorKind::Livelock));
                self.program.bind(Bound::Nothing);
                self.microstep(Some(Occurrence::Error(ErrorKind::Livelock)), &mut 0, sink);
                continue;
            }
            if self.microstep(None, &mut eventless_faults, sink) {
                steps += 1;
                continue;
            }
            let Some(next) = self.dequeue() else { return taken };
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
    fn take(&mut self, count: usize, sink: &mut dyn Sink) {
        self.clear_sets();
        for i in 0..count {
            let id = self.store.cells_mut().selected[i];
            sink.record(Record::Taken(id));
            if let TriggerRow::Choice(choice) = self.tables.transitions[id.index()].trigger
                && self.tables.choices[choice.index()].tools.is_none()
            {
                self.program.another_option();
            }
            if self.tables.transitions[id.index()].arguments {
                let leaf = self.leaf_of(self.tables.transitions[id.index()].source);
                if self.with_view(leaf, |program, view| program.arguments(id, view)).is_err() {
                    self.raise_error(ErrorKind::Execution, sink);
                }
            }
            if let Some(domain) = self.domain(id) {
                self.add_to_exit_set(domain);
            }
        }
        // Domains depend on recorded histories, which the exit is about to change: entry needs those of now.
        for i in 0..count {
            let id = self.store.cells_mut().selected[i];
            if let Some(domain) = self.domain(id) {
                bits::insert(self.store.cells_mut().domains, domain.index());
            }
        }
        self.record_history();
        let end = self.tables.states.len();
        let mut below = end;
        while let Some(state) = last_below(self.store.cells_mut().exit, below) {
            below = state;
            self.leave(StateId::at(state), sink);
            bits::remove(self.store.cells_mut().configuration, state);
            bits::remove(self.store.cells_mut().unbroken, state);
        }
        for i in 0..count {
            let id = self.store.cells_mut().selected[i];
            if self.tables.transitions[id.index()].actions {
                let leaf = self.leaf_of(self.tables.transitions[id.index()].source);
                self.run_block(Block::Transition(id), leaf, sink);
            }
        }
        for i in 0..count {
            let id = self.store.cells_mut().selected[i];
            self.add_entry(id);
        }
        self.complete_entry_set();
        self.enter_all(sink);
    }

    /// Adds the targets of a line below the nearest state that is still active. After the exit that is the line's domain.
    fn add_entry(&mut self, id: TransitionId) {
        let targets = self.tables.transitions[id.index()].targets;
        if targets.len == 0 {
            return;
        }
        let mut top = self.tables.transitions[id.index()].source;
        while !bits::has(self.store.cells_mut().domains, top.index()) || !self.is_active(top) {
            match self.parent(top) {
                Some(parent) => top = parent,
                None => break,
            }
        }
        self.add_targets(id, top);
    }

    /// Enters the entry set in document order.
    fn enter_all(&mut self, sink: &mut dyn Sink) {
        let end = self.tables.states.len();
        let mut at = 0;
        while let Some(index) = bits::first_in(self.store.cells_mut().entry, at, end) {
            at = index + 1;
            self.enter(StateId::at(index), sink);
        }
    }

    fn enter(&mut self, state: StateId, sink: &mut dyn Sink) {
        let index = state.index();
        let now = self.scalars.now;
        let cells = self.store.cells_mut();
        bits::insert(cells.configuration, index);
        bits::insert(cells.touched, index);
        cells.entered_at[index] = now;
        cells.turns_here[index] = 0;
        cells.fails_here[index] = 0;
        self.scalars.dead = false;
        sink.record(Record::Entered(state));
        if self.tables.states[index].entry {
            self.run_block(Block::Entry(state), self.leaf_of(state), sink);
        }
        self.arm_deadlines(state, sink);
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
        let row = self.tables.states[state.index()];
        if row.exit {
            let leaf = self.leaf_of(state);
            self.run_block(Block::Exit(state), leaf, sink);
        }
        for step in row.steps.of(self.tables.step_pool) {
            let pending = self.store.cells_mut().steps[step.index()].pending.take();
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

    fn run_block(&mut self, block: Block, leaf: StateId, sink: &mut dyn Sink) {
        let scalars = &mut self.scalars;
        let (cells, queue, sends) = self.store.cells_mut().share();
        let view = View {
            tables: self.tables,
            cells,
            turns: scalars.turns,
            now: scalars.now,
            started_at: scalars.started_at,
            leaf,
            event: scalars.event,
        };
        let mut outbox = Outbox {
            queue,
            queue_head: scalars.queue_head,
            queue_len: &mut scalars.queue_len,
            sends,
            waiting: &mut scalars.sends,
            now: scalars.now,
            sink,
        };
        if self.program.run(block, &view, &mut outbox).is_err() {
            self.raise_error(ErrorKind::Execution, sink);
        }
    }

    fn clear_sets(&mut self) {
        let cells = self.store.cells_mut();
        bits::clear(cells.exit);
        bits::clear(cells.entry);
        bits::clear(cells.domains);
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

    fn may_go_on(&self) -> bool {
        let active = bits::iter(self.store.cells().configuration);
        let mut states = active.map(|i| &self.tables.states[i]);
        states.any(|row| {
            row.steps.len > 0
                || row.transitions.of(self.tables.transitions).iter().any(|t| t.trigger.is_alive())
        })
    }
}

impl<'c> CellsMut<'c> {
    /// The registers to read while events are put on the queue.
    fn share(self) -> (Cells<'c>, &'c mut [Occurrence], &'c mut [Sent]) {
        let cells = Cells {
            configuration: self.configuration,
            history: self.history,
            touched: self.touched,
            unbroken: self.unbroken,
            entered_at: self.entered_at,
            turns_here: self.turns_here,
            turns_in: self.turns_in,
            fails_here: self.fails_here,
            calls: self.calls,
            questions: self.questions,
            steps: self.steps,
            deadlines: self.deadlines,
            sends: &[],
        };
        (cells, self.queue, self.sends)
    }
}

/// The last set bit below `below`.
fn last_below(set: &[u64], below: usize) -> Option<usize> {
    let mut word = below.div_ceil(64);
    while word > 0 {
        word -= 1;
        let kept = if below >= (word + 1) * 64 { u64::MAX } else { (1 << (below - word * 64)) - 1 };
        let bits = set[word] & kept;
        if bits != 0 {
            return Some(word * 64 + 63 - bits.leading_zeros() as usize);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::last_below;

    #[test]
    fn last_bit_below_a_bound() {
        let set = [1 | 1 << 63, 1 << 3];
        assert_eq!(last_below(&set, 128), Some(67));
        assert_eq!(last_below(&set, 67), Some(63));
        assert_eq!(last_below(&set, 63), Some(0));
        assert_eq!(last_below(&set, 0), None);
    }
}
