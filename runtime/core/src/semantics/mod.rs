//! The step algorithm, one implementation for the interpreter, generated code and the analyses.
//!
//! Source: W3C SCXML 1.0, appendix D, with two corrections (a state that is already active is never entered again; `done` propagates
//! through every parallel ancestor) and the agent extensions: turns, steps, questions, limits.
//!
//! | file | what it decides |
//! |---|---|
//! | `input` | inputs of the host: events, time, the start, the end |
//! | `configuration` | which leaves are active, whether a configuration is legal |
//! | `candidates` | which lines an occurrence can trigger |
//! | `select` | which lines are taken |
//! | `sets` | transition domain, exit set, entry set |
//! | `default` | the actions of entry by default |
//! | `macrostep` | when a macrostep is over: the loop around microsteps |
//! | `microstep` | which lines a microstep takes |
//! | `take` | exit, actions, entry |
//! | `turn` | a turn and the steps that its walks visit |
//! | `walk` | where walks fork, wait, join and end |
//! | `entry` | steps that start on entry |
//! | `answer` | the end of a step |
//! | `each` | a step for each element of a list |
//! | `tool` | tools that the model calls |
//! | `question` | which options are enabled, when a question is put |
//! | `deadline` | what is due |
//! | `sending` | when sent events are delivered |
//! | `due` | the armed deadlines in the order they are due |
//! | `limit` | limits and what is charged to them |
//! | `registers` | which registers take memory |
//! | `snapshot` | all registers as data |
//! | `named`, `number` | conversion between registers by number and by name |
//! | `version`, `fits`, `rearm` | registers by names in another version of the chart |
//! | `plain` | the registers of machines with direct code |
//! | `point` | stored registers to return to |
//! | `unroll` | nothing: it records the effects of the others as data for an emitter |

mod answer;
mod candidates;
mod configuration;
mod deadline;
mod default;
mod due;
mod each;
mod entry;
#[cfg(feature = "alloc")]
mod fits;
mod input;
mod limit;
pub(crate) mod macrostep;
mod microstep;
#[cfg(feature = "alloc")]
mod named;
#[cfg(feature = "alloc")]
mod number;
#[cfg(feature = "alloc")]
mod plain;
#[cfg(feature = "alloc")]
mod point;
mod question;
#[cfg(feature = "alloc")]
mod rearm;
mod registers;
mod select;
mod sending;
mod sets;
#[cfg(feature = "alloc")]
mod snapshot;
mod step_tool;
mod take;
mod tool;
mod turn;
#[cfg(feature = "alloc")]
pub mod unroll;
#[cfg(feature = "alloc")]
mod version;
mod walk;

pub use configuration::is_legal;
#[cfg(feature = "alloc")]
pub use named::{Gone, Key, Named};
#[cfg(feature = "alloc")]
pub(crate) use named::{key as named_key, option as named_option};
#[cfg(feature = "alloc")]
pub(crate) use number::Numbers;
#[cfg(feature = "alloc")]
pub use plain::Plain;
#[cfg(feature = "alloc")]
pub use point::{Registers, Standing};
#[cfg(feature = "alloc")]
pub use snapshot::{RestoreError, Snapshot};
#[cfg(feature = "alloc")]
pub use version::{Change, Comparison, Difference, Place, Timed};

use crate::arena::{EventId, StateId};
use crate::machine::{Effect, Instant, Record, Sink, Status, StepKey};
use crate::program::{Program, View};
use crate::store::{Cells, Observed, Occurrence, Store, bits};
use crate::tables::Tables;
use core::ops::Range;

/// The default bound on microsteps in a macrostep.
pub const MICROSTEPS: u32 = 1000;

/// The bounds of an empty entry set.
const NO_STATES: Range<u32> = Range { start: u32::MAX, end: 0 };

/// One machine: tables, registers and a program.
pub struct Stepper<'t, P: Program> {
    tables: P::Tables<'t>,
    store: P::Store,
    scalars: Scalars,
    /// The number of deliveries at this moment of the clock within this input. It stops a chart that keeps sending to itself without delay.
    delivered: u32,
    /// The number of active leaves.
    leaves: u32,
    /// The number of armed deadlines of time.
    armed: u32,
    /// The number of open questions.
    open: u32,
    /// All states of the entry set are in this range; empty between microsteps.
    entry: Range<u32>,
    /// Guards, actions, data.
    pub program: P,
}

/// Registers other than those of states, steps and deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Scalars {
    phase: Phase,
    turns: u32,
    /// The number of host events so far, including turns.
    events: u32,
    now: Instant,
    started_at: Instant,
    /// The current host event.
    event: Option<EventId>,
    queue_head: u32,
    queue_len: u32,
    /// The number of waiting sent events.
    sends: u32,
    /// Whether a turn is walked.
    walking: bool,
    /// Whether nothing further starts in this turn.
    stopped: bool,
    /// Whether `error.stuck.dead` was raised and nothing was entered since.
    dead: bool,
}

/// The phase of a machine's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    New,
    Running,
    /// A final child of the root was entered in this microstep.
    Ending(Status),
    Ended(Status),
}

impl<'t, P: Program> Stepper<'t, P> {
    /// A machine that has not started. `store` must be made for the same tables.
    pub const fn new(tables: P::Tables<'t>, store: P::Store, program: P) -> Self {
        Self {
            delivered: 0,
            leaves: 0,
            armed: 0,
            open: 0,
            entry: NO_STATES,
            tables,
            store,
            scalars: Scalars {
                phase: Phase::New,
                turns: 0,
                events: 0,
                now: 0,
                started_at: 0,
                event: None,
                queue_head: 0,
                queue_len: 0,
                sends: 0,
                walking: false,
                stopped: false,
                dead: false,
            },
            program,
        }
    }

    /// The chart's tables.
    pub fn tables(&self) -> &Tables<'t> {
        &self.tables
    }

    /// The registers.
    pub fn cells(&self) -> crate::store::Cells<'_> {
        self.store.cells()
    }

    /// Whether a state is active. After the end of the run: whether it was in the last configuration.
    pub fn is_active(&self, state: StateId) -> bool {
        bits::has(self.store.cells().configuration, state.index())
    }

    /// Whether the run has started.
    pub fn has_started(&self) -> bool {
        !matches!(self.scalars.phase, Phase::New)
    }

    /// The status of a run that has ended.
    pub fn ended(&self) -> Option<Status> {
        match self.scalars.phase {
            Phase::Ended(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ending(_) => None,
        }
    }

    /// The number of turns ended.
    pub fn turns(&self) -> u32 {
        self.scalars.turns
    }

    /// Whether a turn is being walked.
    pub fn is_walking(&self) -> bool {
        self.scalars.walking
    }

    /// Calls `each` with every step and question that waits for an answer of the host.
    pub fn pending(&self, each: &mut dyn FnMut(StepKey)) {
        let cells = self.store.cells();
        for (register, row) in cells.steps.iter().zip(self.tables.steps) {
            match (register.pending, row.each) {
                (Some(_), Some(fan)) => {
                    self.fan(fan).open().iter().for_each(|key| each(*key));
                }
                (Some(key), None) => each(key),
                (None, _) => {}
            }
        }
        for question in self.questions() {
            each(question.key);
        }
    }

    /// Calls `read` with the view of the machine that a guard or prompt has in `leaf`.
    pub fn with_view<R>(&mut self, leaf: StateId, read: impl FnOnce(&mut P, &View<'_>) -> R) -> R {
        self.program.refuel();
        self.in_view(leaf, read)
    }

    /// Like [`Stepper::with_view`], while an input is handled.
    fn in_view<R>(&mut self, leaf: StateId, read: impl FnOnce(&mut P, &View<'_>) -> R) -> R {
        let view = View {
            tables: &self.tables,
            cells: observed(&self.store.cells()),
            turns: self.scalars.turns,
            now: self.scalars.now,
            started_at: self.scalars.started_at,
            leaf,
            event: self.scalars.event,
        };
        read(&mut self.program, &view)
    }

    fn is_over(&self) -> bool {
        !matches!(self.scalars.phase, Phase::Running)
    }

    /// Puts an occurrence into the internal queue; false if it is full.
    fn enqueue(&mut self, occurrence: Occurrence) -> bool {
        let Scalars { queue_head, queue_len, .. } = &mut self.scalars;
        self.store.cells_mut().queue.push(queue_head, queue_len, occurrence)
    }

    fn dequeue(&mut self) -> Option<Occurrence> {
        if self.scalars.queue_len == 0 {
            return None;
        }
        let queue = self.store.cells_mut().queue;
        let occurrence = queue.at(self.scalars.queue_head);
        self.scalars.queue_head = queue.after(self.scalars.queue_head);
        self.scalars.queue_len -= 1;
        Some(occurrence)
    }

    /// Empties the internal queue and the program's data for the raised events in it.
    fn give_up_queue(&mut self) {
        while let Some(occurrence) = self.dequeue() {
            if matches!(occurrence, Occurrence::Event(_)) {
                self.program.dequeue();
            }
        }
    }

    /// Ends the run: every active state runs its `exit`, and nothing is pending any more. The configuration remains readable.
    fn finish(&mut self, status: Status, sink: &mut dyn Sink) {
        self.scalars.phase = Phase::Ending(status);
        for index in (0..self.tables.states.len()).rev() {
            let state = StateId::at(index);
            if self.is_active(state) {
                self.leave(state, sink);
            }
        }
        self.give_up_queue();
        self.scalars.sends = 0;
        if core::mem::take(&mut self.scalars.walking) {
            self.scalars.turns += 1;
        }
        self.disarm_all();
        self.scalars.phase = Phase::Ended(status);
        sink.record(Record::Ended(status));
        sink.effect(Effect::Ended(status));
    }
}

#[inline]
fn observed<'c>(cells: &Cells<'c>) -> Observed<'c> {
    let Cells { configuration, entered, counts, amounts, .. } = *cells;
    Observed { configuration, entered, counts, amounts }
}
