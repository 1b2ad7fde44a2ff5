//! All registers of a machine as data, by number.
//!
//! **The problem.** A run must be storable at any stable point and continue exactly there. What is stored, by names, comes from outside: it
//! may be damaged. Restoring it must not make the machine index out of range later.
//!
//! **The idea.** [`Snapshot`] has one vector for each kind of register, as long as the tables. Registers that the store leaves out appear
//! with their initial values, so a snapshot does not depend on what a machine has allocated. It is never stored itself: `named` converts it
//! to and from names. `restore` checks everything before it writes the first register: a legal configuration, and that each register could
//! occur in a run (`is_possible`). On an error the machine is unchanged. The program's data is not here; its owner saves it beside the
//! snapshot.
//!
//! Two more forms of registers are in this file. [`Plain`] converts those of direct code. [`Registers`] are a cheap copy for machines with
//! the same tables: an exploration returns to them to try several inputs at one point.
//!
//! **Example.** After `go` in `chart C { event go  initial a  state a { on go -> b }  state b {} }`:
//!
//! ```text
//! configuration 0b101 (the root and `b`)     entered_at [0, 0, 0]      steps []      deadlines []
//! restore with configuration 0b011           `a` is active instead: legal, so the machine continues in `a`
//! restore with configuration 0b111           `a` and `b` together: IllegalConfiguration
//! ```

use super::{Phase, Scalars, Stepper, is_legal};
use crate::arena::{EventId, StateId, StepId, TransitionId};
use crate::machine::{Instant, Receiver, StepKey};
use crate::program::Program;
use crate::store::{
    Amounts, Cells, Counts, Fan, Part, Question, Sent, StepRegister, Store, Underway, Walk, bits,
};
use crate::tables::{StateRowKind, StepRowKind, Tables, TriggerRow};
use alloc::vec;
use alloc::vec::Vec;

/// The registers of a machine in a stable configuration. The program's data is saved beside them, by the program's owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub(super) scalars: Scalars,
    pub(super) bits: [Vec<u64>; 4],
    pub(super) entered_at: Vec<Instant>,
    pub(super) counters: [Vec<u32>; 4],
    pub(super) questions: Vec<Option<Question>>,
    pub(super) steps: Vec<StepRegister>,
    pub(super) walks: Vec<Walk>,
    pub(super) fans: Vec<Fan>,
    pub(super) amounts: Vec<Amounts>,
    pub(super) deadlines: Vec<u64>,
    /// The slots of deadlines that still have to be armed: their transitions are new since the version of the chart that saved the
    /// registers.
    pub(super) added: Vec<u32>,
    /// The waiting sent events in order of delivery. The slot of each is its index.
    pub(super) sends: Vec<Sent>,
}

/// The reason why a snapshot cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreError {
    /// The snapshot's configuration is not legal in the chart.
    IllegalConfiguration,
    /// A register refers to something that the chart does not have, or holds a count that no run can reach.
    ImpossibleRegister,
}

impl core::fmt::Display for RestoreError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::IllegalConfiguration => "the snapshot's configuration is not one of this chart",
            Self::ImpossibleRegister => "the snapshot has registers that no run of this chart has",
        })
    }
}

impl core::error::Error for RestoreError {}

/// Copies registers to their places. Either slice may be shorter or empty.
fn put<T: Clone>(places: &mut [T], registers: &[T]) {
    for (place, register) in places.iter_mut().zip(registers) {
        place.clone_from(register);
    }
}

impl Snapshot {
    /// The steps with an `each`, and the number of elements of each list; 0 if the step is not under way.
    pub(crate) fn fans(&self, tables: &Tables) -> Vec<(StepId, u32)> {
        let steps = (0..).map(StepId).zip(&tables.steps);
        let fans = steps.filter(|(_, row)| row.each.is_some()).zip(&self.fans);
        fans.map(|((step, _), fan)| (step, fan.size)).collect()
    }

    /// The waiting sent events, in order of delivery.
    pub(crate) fn sends(&self) -> impl Iterator<Item = &Sent> {
        self.sends.iter()
    }
}

impl<P: Program> Stepper<P> {
    /// A copy of all registers. Between two inputs the configuration is always stable.
    pub fn snapshot(&self) -> Snapshot {
        let (cells, tables) = (self.store.cells(), &*self.tables);
        let states: Vec<StateId> = (0..tables.states.len()).map(StateId::at).collect();
        let counts = || states.iter().map(|state| cells.counts(*state));
        let amounts = if tables.reads_amounts { states.len() } else { 0 };
        // Between two turns the sets of a turn mean nothing, and the store may have left them out.
        let of_turn = |set: &[u64]| {
            if self.scalars.walking { set.to_vec() } else { cells.configuration.to_vec() }
        };
        Snapshot {
            // The internal queue is empty, so the position of its head means nothing.
            scalars: Scalars { queue_head: 0, ..self.scalars },
            bits: [
                cells.configuration.to_vec(),
                cells.history.to_vec(),
                of_turn(cells.touched),
                of_turn(cells.unbroken),
            ],
            entered_at: states.iter().map(|state| cells.entered_at(*state, tables)).collect(),
            counters: [
                counts().map(|state| state.turns_here).collect(),
                counts().map(|state| state.turns_in).collect(),
                counts().map(|state| state.fails_here).collect(),
                counts().map(|state| state.calls).collect(),
            ],
            questions: states.iter().map(|state| self.question(*state)).collect(),
            steps: (0..tables.steps.len()).map(|step| cells.step(step)).collect(),
            walks: (0..tables.walks.len()).map(|walk| cells.walk(walk)).collect(),
            fans: tables.steps.iter().filter_map(|row| Some(self.fan(row.each?).clone())).collect(),
            amounts: (0..amounts)
                .map(|at| cells.amounts.get(at).copied().unwrap_or_default())
                .collect(),
            deadlines: cells.deadlines.to_vec(),
            added: Vec::new(),
            // The slots are numbered anew: the program saves the payloads in the same order.
            sends: (0..).zip(self.sends()).map(|(slot, sent)| Sent { slot, ..*sent }).collect(),
        }
    }

    /// Replaces the registers by those of a snapshot.
    ///
    /// # Errors
    /// The snapshot has an illegal configuration or impossible registers. The machine is unchanged then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        let tables = self.tables.clone();
        let cells = self.store.cells_mut();
        let [configuration, history, touched, unbroken] = &snapshot.bits;
        let [turns_here, turns_in, fails_here, calls] = &snapshot.counters;
        // Before the start no state is active, which is not a legal configuration.
        let is_new = matches!(snapshot.scalars.phase, super::Phase::New);
        if !is_new && !is_legal(&self.tables, configuration) {
            return Err(RestoreError::IllegalConfiguration);
        }
        if !is_possible(snapshot, &self.tables) {
            return Err(RestoreError::ImpossibleRegister);
        }
        cells.configuration.copy_from_slice(configuration);
        cells.history.copy_from_slice(history);
        cells.entered.fill(0);
        for state in bits::iter(configuration) {
            cells.entered[tables.states[state].place as usize] = snapshot.entered_at[state];
        }
        cells.deadlines.copy_from_slice(&snapshot.deadlines);
        let counts: Vec<Counts> = (0..tables.states.len())
            .map(|i| Counts {
                turns_here: turns_here[i],
                turns_in: turns_in[i],
                fails_here: fails_here[i],
                calls: calls[i],
            })
            .collect();
        let steps: Vec<Underway> = snapshot.steps.iter().map(Underway::from).collect();
        if snapshot.scalars.walking {
            let cells = self.with_sets();
            cells.touched.copy_from_slice(touched);
            cells.unbroken.copy_from_slice(unbroken);
        }
        self.take_parts(snapshot, &counts, &steps);
        self.find_leaves();
        self.order_deadlines();
        self.scalars = snapshot.scalars;
        self.scalars.queue_head = 0;
        self.scalars.queue_len = 0;
        self.moved = false;
        Ok(())
    }

    /// Restores the registers that a store may leave out. Room is made only for those that differ from their initial values.
    fn take_parts(&mut self, snapshot: &Snapshot, counts: &[Counts], steps: &[Underway]) {
        let parts = [
            (Part::Counts, counts.iter().any(|one| *one != Counts::NEW)),
            (Part::Walks, snapshot.walks.iter().any(|one| *one != Walk::NEW)),
            (Part::Amounts, snapshot.amounts.iter().any(|one| *one != Amounts::default())),
            (Part::Steps, steps.iter().any(|one| *one != Underway::NEW)),
            (Part::Fans, snapshot.fans.iter().any(|one| *one != Fan::default())),
        ];
        for (part, _) in parts.into_iter().filter(|(_, is_needed)| *is_needed) {
            self.store.need(part, &self.tables);
        }
        let mut cells = self.store.cells_mut();
        // Parts that were left out above are empty slices here.
        put(cells.counts, counts);
        put(cells.walks, &snapshot.walks);
        put(cells.amounts, &snapshot.amounts);
        put(cells.steps, steps);
        put(cells.fans, &snapshot.fans);
        for (step, register) in snapshot.steps.iter().enumerate() {
            cells.started[step] = register.started_at;
        }
        for (slot, sent) in (0..).zip(&snapshot.sends) {
            if cells.sends.free(slot, self.tables.sends).is_some() {
                cells.sends.all()[slot as usize] = *sent;
            }
        }
        for (slot, place) in (0..).zip(cells.sends.all()).skip(snapshot.sends.len()) {
            // Each slot must occur exactly once.
            *place = Sent::free(slot);
        }
        self.open = 0;
        for question in snapshot.questions.iter().flatten() {
            self.put_question(*question);
        }
    }

    /// Arms the deadlines of transitions that are new in this version of the chart. They count from the entry of their state or the start
    /// of their step. The program's data must have been restored, because durations may read it.
    pub fn arm_added(&mut self, snapshot: &Snapshot) {
        if snapshot.added.is_empty() {
            return;
        }
        for index in 0..self.tables.transitions.len() {
            let (id, row) = (TransitionId::at(index), &self.tables.transitions[index]);
            let Some(slot) = row.trigger.deadline() else { continue };
            if snapshot.added.binary_search(&slot).is_err() {
                continue;
            }
            let cells = self.store.cells();
            let (origin, leaf) = match row.trigger.timed_step() {
                Some(step) => {
                    let pending = cells.underway(step.index()).pending;
                    let leaf = pending.map_or(row.source, |key| key.leaf);
                    (cells.started[step.index()], leaf)
                }
                None if matches!(row.trigger, TriggerRow::AfterTurns(_)) => (0, row.source),
                None => (cells.entered_at(row.source, &self.tables), row.source),
            };
            // A deadline that cannot be computed stays disarmed.
            self.arm(id, origin, leaf, &mut ());
        }
    }
}

/// A bound for counts that no run reaches. Larger values could overflow later.
const FAR: u32 = u32::MAX / 2;
// The same for times in milliseconds.
const FAR_AWAY: u64 = u64::MAX / 2;

/// Whether every register could occur in a run. Snapshots are external data and are not trusted.
fn is_possible(snapshot: &Snapshot, tables: &Tables) -> bool {
    let Scalars { turns, events, now, started_at, event, .. } = snapshot.scalars;
    has_possible_sends(snapshot, tables)
        && has_possible_sets(snapshot, tables)
        && has_possible_questions(snapshot, tables)
        && has_possible_steps(snapshot, tables)
        && has_possible_walks(snapshot, tables)
        && has_possible_fans(snapshot, tables)
        && [turns, events].into_iter().all(|n| n < FAR)
        && snapshot.counters.iter().flatten().all(|n| *n < FAR)
        && started_at <= now
        && now < FAR_AWAY
        && snapshot.entered_at.iter().all(|at| *at <= now)
        && event.is_none_or(|event| event.index() < tables.events.len())
}

fn has_possible_sends(snapshot: &Snapshot, tables: &Tables) -> bool {
    let sends = snapshot.sends.iter().enumerate().all(|(place, sent)| {
        sent.slot as usize == place
            && sent.event.index() < tables.events.len()
            && sent.id.is_none_or(|id| id.index() < tables.send_ids.len())
            && match sent.to {
                Receiver::Own | Receiver::Parent => true,
                Receiver::Child(step) | Receiver::Element(step, _) => {
                    step.index() < tables.steps.len()
                }
            }
    });
    sends
        && snapshot.sends.len() <= tables.sends as usize
        && snapshot.sends.is_sorted_by_key(|sent| sent.due)
        && snapshot.sends.len() == snapshot.scalars.sends as usize
}

fn has_possible_sets(snapshot: &Snapshot, tables: &Tables) -> bool {
    let states = tables.states.len();
    let in_chart = |set: &[u64]| bits::iter(set).all(|i| i < states);
    let [configuration, history, touched, unbroken] = &snapshot.bits;
    [configuration, touched, unbroken].into_iter().all(|set| in_chart(set))
        && history.chunks(bits::words(states)).all(in_chart)
        && tables.states.iter().enumerate().all(|(i, row)| match row.kind {
            StateRowKind::History { slot, .. } => {
                let words = bits::words(states);
                let recorded = &history[slot as usize * words..][..words];
                bits::iter(recorded).all(|r| {
                    let inner = StateId::at(r);
                    // A history records states below its parent, none of them a history.
                    inner != row.parent
                        && tables.contains(row.parent, inner)
                        && r != i
                        && !matches!(tables.state(inner).kind, StateRowKind::History { .. })
                })
            }
            StateRowKind::Atomic
            | StateRowKind::Compound(_)
            | StateRowKind::Parallel
            | StateRowKind::Final(_) => true,
        })
}

fn is_possible_key(key: &StepKey, tables: &Tables) -> bool {
    key.step.index() < tables.steps.len()
        && key.leaf.index() < tables.states.len()
        && key.event < FAR
        && (1..FAR).contains(&key.attempt)
}

fn has_possible_questions(snapshot: &Snapshot, tables: &Tables) -> bool {
    let [configuration, ..] = &snapshot.bits;
    let questions = snapshot.questions.iter().enumerate();
    questions.filter_map(|(i, question)| question.as_ref().map(|question| (i, question))).all(
        |(i, question)| {
            is_possible_key(&question.key, tables)
                // Questions are stored by leaf, and only an active leaf has one.
                && question.key.leaf.index() == i
                && bits::has(configuration, i)
                && matches!(tables.states[i].kind, StateRowKind::Atomic | StateRowKind::Final(_))
                && question.calling.is_none_or(|(choice, tool)| {
                    choice.index() < tables.choices.len() && tool.index() < tables.tools.len()
                })
        },
    )
}

fn has_possible_steps(snapshot: &Snapshot, tables: &Tables) -> bool {
    snapshot.steps.iter().enumerate().all(|(i, register)| {
        let pending = register.pending.as_ref();
        register.started_at <= snapshot.scalars.now
            && pending.is_none_or(|key| is_possible_key(key, tables) && key.step.index() == i)
            && register
                .calling
                .is_none_or(|tool| tool.index() < tables.tools.len() && pending.is_some())
    })
}

fn has_possible_walks(snapshot: &Snapshot, tables: &Tables) -> bool {
    let open = |step: StepId| snapshot.steps[step.index()].pending.is_some();
    let is_ask = |step: StepId| matches!(tables.steps[step.index()].kind, StepRowKind::Ask { .. });
    snapshot.walks.iter().all(|walk| {
        walk.cursor as usize <= tables.steps.len()
            && walk.leaf as usize <= tables.states.len()
            && walk.calls < FAR
            // A walk is at an `ask`, or waits for a step that is open.
            && walk.at.is_none_or(|step| {
                step.index() < tables.steps.len() && (is_ask(step) || open(step))
            })
    })
}

fn has_possible_fans(snapshot: &Snapshot, tables: &Tables) -> bool {
    let mut fans = tables.steps.iter().enumerate().filter_map(|(i, row)| Some((i, row.each?)));
    fans.all(|(step, each)| {
        let Fan { size, next, done, lost, open } = &snapshot.fans[each.slot as usize];
        let is_pending = snapshot.steps[step].pending.is_some();
        (is_pending || open.is_empty())
            && *size < FAR
            && next <= size
            // Each element that was started is done, lost or open.
            && done.saturating_add(*lost).saturating_add(open.len() as u32) == *next
            && open.iter().all(|open| {
                is_possible_key(open, tables)
                    && open.step.index() == step
                    && open.element.is_some_and(|element| element.index() < *next)
            })
    })
}

// The registers of machines with direct code, which keep little more than their configuration.

/// The registers that a machine with direct code has.
#[derive(Debug, Clone, Copy)]
pub struct Plain {
    /// The phase of the run.
    pub phase: Phase,
    /// The number of turns that have ended.
    pub turns: u32,
    /// Whether a turn is being walked.
    pub walking: bool,
    /// Whether the machine is in a dead end that was reported.
    pub dead: bool,
    /// The current host event.
    pub event: Option<EventId>,
}

impl Snapshot {
    /// The registers of a machine in which no state is active, with the room that the chart needs.
    pub(super) fn empty(tables: &Tables) -> Self {
        let (states, words) = (tables.states.len(), bits::words(tables.states.len()));
        let none = || vec![0; words];
        Self {
            scalars: Scalars::default(),
            bits: [none(), vec![0; words * tables.histories()], none(), none()],
            entered_at: vec![0; states],
            counters: [vec![0; states], vec![0; states], vec![0; states], vec![0; states]],
            questions: vec![None; states],
            steps: vec![StepRegister::default(); tables.steps.len()],
            walks: vec![Walk::NEW; tables.walks.len()],
            fans: vec![Fan::default(); tables.fans()],
            amounts: vec![Amounts::default(); if tables.reads_amounts { states } else { 0 }],
            deadlines: vec![u64::MAX; tables.deadlines()],
            added: Vec::new(),
            sends: Vec::new(),
        }
    }

    /// A snapshot of a machine with direct code, from its registers and its active leaves. Registers that the machine does not have get
    /// their initial values.
    pub fn plain(tables: &Tables, plain: Plain, leaves: &[StateId]) -> Self {
        let mut snapshot = Self::empty(tables);
        let [active, _, touched, unbroken] = &mut snapshot.bits;
        for leaf in leaves {
            let mut state = *leaf;
            bits::insert(active, state.index());
            while state.index() > 0 {
                state = tables.state(state).parent;
                bits::insert(active, state.index());
            }
        }
        // Between two turns the sets of a turn equal the configuration, as in the snapshots of a stepper.
        touched.clone_from(active);
        unbroken.clone_from(active);
        let Plain { phase, turns, walking, dead, event } = plain;
        snapshot.scalars = Scalars { phase, turns, event, walking, dead, ..Scalars::default() };
        snapshot
    }

    /// The registers of a machine with direct code.
    pub fn as_plain(&self) -> Plain {
        let Scalars { phase, turns, walking, dead, event, .. } = self.scalars;
        // Between two inputs no run is ending: it has ended.
        let phase = if let Phase::Ending(status) = phase { Phase::Ended(status) } else { phase };
        Plain { phase, turns, walking, dead, event }
    }

    /// The active leaves, in document order.
    pub fn leaves(&self, tables: &Tables) -> Vec<StateId> {
        let [active, ..] = &self.bits;
        let is_leaf = |state: &StateId| match tables.state(*state).kind {
            StateRowKind::Atomic | StateRowKind::Final(_) => true,
            StateRowKind::Compound(_) | StateRowKind::Parallel | StateRowKind::History { .. } => {
                false
            }
        };
        bits::iter(active).map(StateId::at).filter(is_leaf).collect()
    }
}

// Stored registers to return to, so that several inputs can be tried at one point of a run.

/// The registers of a machine in a stable configuration. Cheaper than a snapshot, and only for machines with the same tables.
#[derive(Debug, Clone)]
pub struct Registers<S> {
    scalars: Scalars,
    store: S,
    leaves: u32,
    armed: u32,
    open: u32,
}

/// Read access to the registers of a machine. Together with the program's data, they determine its future.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'m> {
    /// The registers of states, steps and deadlines.
    pub cells: Cells<'m>,
    /// The open questions in the order of their leaves.
    pub questions: &'m [Question],
    /// The waiting sent events.
    pub sends: &'m [Sent],
    /// The number of turns that have ended.
    pub turns: u32,
    /// The present time of the clock.
    pub now: Instant,
    /// The time at which the run started.
    pub started_at: Instant,
    /// Whether `error.stuck.dead` was raised and no state was entered since.
    pub dead: bool,
    /// Whether a turn is being walked.
    pub walking: bool,
    /// Whether nothing further may start in this turn.
    pub stopped: bool,
}

impl<P: Program> Stepper<P> {
    /// Read access to all registers.
    pub fn standing(&self) -> Standing<'_> {
        let Scalars { turns, now, started_at, dead, walking, stopped, .. } = self.scalars;
        Standing {
            cells: self.store.cells(),
            questions: self.questions(),
            sends: self.sends(),
            turns,
            now,
            started_at,
            dead,
            walking,
            stopped,
        }
    }

    /// A copy of the registers.
    pub(crate) fn registers(&self) -> Registers<P::Store>
    where
        P::Store: Clone,
    {
        let Self { scalars, leaves, armed, open, .. } = *self;
        Registers { scalars, store: self.store.clone(), leaves, armed, open }
    }

    /// Restores registers of a machine with the same tables.
    pub(crate) fn go_to(&mut self, registers: &Registers<P::Store>)
    where
        P::Store: Clone,
    {
        self.scalars = registers.scalars;
        self.store.clone_from(&registers.store);
        self.leaves = registers.leaves;
        self.armed = registers.armed;
        self.open = registers.open;
        self.moved = false;
    }

    /// Sets the number of turns that have ended in the run.
    pub(crate) fn set_turns(&mut self, turns: u32) {
        self.scalars.turns = turns;
    }

    /// Sets the counts that a state's limits on calls and turns read; `None` keeps a count.
    pub(crate) fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        let row = self.counts_mut(state);
        row.calls = calls.unwrap_or(row.calls);
        row.turns_in = turns.unwrap_or(row.turns_in);
    }
}
