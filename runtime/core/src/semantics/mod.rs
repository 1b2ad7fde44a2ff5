//! The step algorithm: one implementation for the interpreter, generated code and the analyses.
//!
//! The problem: an input takes a machine from one stable configuration to the next, and this must happen in the same way whether the chart
//! is interpreted, compiled or explored. The idea: a [`Stepper`] holds only registers (numbers and bit sets) and runs over [`Tables`]. It
//! calls guards and actions through [`Program`], asks the host for everything else by an [`Effect`], and reports each decision as a
//! [`Record`]. For example:
//!
//! ```text
//! state open { on pay if paid -> busy }
//! state busy { enter { raise ready }  on ready -> closed }
//! state closed {}
//!
//! input Event(pay) while `open` is active                      records
//! 1. the deadlines that are due fire: there are none           Event(pay)
//! 2. microstep of `pay`: the guard holds, `open` is exited,    Taken, Exited(open), Entered(busy)
//!    `busy` is entered; its `enter` block raises `ready`
//! 3. eventless microstep: no transition is enabled
//! 4. microstep of `ready`, from the internal queue             Taken, Exited(busy), Entered(closed)
//! 5. nothing is enabled or queued: the macrostep has ended     (the receipt is `Handled`)
//! ```
//!
//! Source: W3C SCXML 1.0, appendix D, with two corrections (a state that is already active is never entered again; `done` propagates
//! through every parallel ancestor) and the agent extensions: turns, steps, questions, limits.
//!
//! | file | subject |
//! |---|---|
//! | `input` | inputs of the host: events, time, the start, the end |
//! | `configuration` | the active leaves; legal configurations; transition domain, exit set, entry set, entry by default |
//! | `select` | the transitions that an occurrence can trigger, and those that are taken: guards, permissions, preemption |
//! | `microstep` | one microstep: exit, actions, entry; the macrostep around it; the delivery of sent events |
//! | `defer` | deferred events: when one is kept, and when it is handled again |
//! | `turn` | a turn, and the walks that visit its steps: how they fork, wait, join and end |
//! | `steps` | steps: their start on entry, their end, lists with `each`, and tools that their model calls |
//! | `question` | the enabled options, when a question is put, and tools that its model calls |
//! | `deadline` | deadlines and timeouts that fire; the heap of those that are armed |
//! | `limit` | limits and what is charged to them |
//! | `registers` | the registers that take memory only while they are used |
//! | `snapshot` | all registers as data; those of machines with direct code; stored registers to return to |
//! | `named` | conversion between registers by number and by name |
//! | `version` | registers by names in another version of the chart |
//! | `unroll` | the effects of the algorithm in one configuration, recorded as data for an emitter |

#![warn(clippy::wildcard_enum_match_arm)]

mod configuration;
mod deadline;
mod defer;
mod input;
mod limit;
pub(crate) mod microstep;
#[cfg(feature = "alloc")]
mod named;
mod question;
mod registers;
mod select;
#[cfg(feature = "alloc")]
mod snapshot;
mod steps;
mod turn;
#[cfg(feature = "alloc")]
pub mod unroll;

pub use configuration::is_legal;
#[cfg(feature = "alloc")]
pub use named::version::{Change, Comparison, Difference, Place, Timed};
#[cfg(feature = "alloc")]
pub use named::{Gone, Key, Named};
#[cfg(feature = "alloc")]
pub(crate) use named::{Numbers, key as named_key, option as named_option};
#[cfg(feature = "alloc")]
pub use snapshot::{Plain, Registers, RestoreError, Snapshot, Standing};

use crate::arena::{EventId, StateId};
use crate::machine::{Effect, Instant, Record, Sink, Status, StepKey};
use crate::program::{Program, View};
use crate::store::{Cells, Observed, Occurrence, Store, bits};
use crate::tables::Tables;
use core::ops::Range;

/// The number of microsteps after which a macrostep is stopped as a livelock, by default.
pub const MICROSTEPS: u32 = 1000;

/// The range of an empty entry set, chosen so that `min` and `max` extend it.
const NO_STATES: Range<u32> = Range { start: u32::MAX, end: 0 };

/// The engine of one machine: tables, registers and a program.
pub struct Stepper<P: Program> {
    tables: P::Tables,
    store: P::Store,
    scalars: Scalars,
    /// The number of deliveries within this input at the present time of the clock. It stops a chart that sends to itself without delay
    /// forever.
    delivered: u32,
    /// Whether a state was entered or a question ended since the deferred events were last tried. Means nothing while none is kept.
    moved: bool,
    /// The number of active leaves.
    leaves: u32,
    /// The number of armed deadlines of time.
    armed: u32,
    /// The number of open questions.
    open: u32,
    /// A range that contains all states of the entry set; empty between microsteps.
    entry: Range<u32>,
    /// The guards, actions and data of the chart.
    pub program: P,
}

/// The registers of the machine as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Whether a turn is being walked.
    walking: bool,
    /// Whether nothing further may start in this turn.
    stopped: bool,
    /// Whether `error.stuck.dead` was raised and no state was entered since.
    dead: bool,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// It has not started.
    #[default]
    New,
    /// It has started, and not ended.
    Running,
    /// A final child of the root was entered in this microstep.
    Ending(Status),
    /// It has ended.
    Ended(Status),
}

impl<P: Program> Stepper<P> {
    /// A machine that has not started. `store` must be made for the same tables.
    pub const fn new(tables: P::Tables, store: P::Store, program: P) -> Self {
        Self {
            delivered: 0,
            moved: false,
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
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The registers.
    pub fn cells(&self) -> crate::store::Cells<'_> {
        self.store.cells()
    }

    /// Whether a state is active. After the end of the run: whether it is in the last configuration.
    pub fn is_active(&self, state: StateId) -> bool {
        bits::has(self.store.cells().configuration, state.index())
    }

    /// Whether the run has started.
    pub fn has_started(&self) -> bool {
        !matches!(self.scalars.phase, Phase::New)
    }

    /// The status with which the run ended; `None` while it has not.
    pub fn ended(&self) -> Option<Status> {
        match self.scalars.phase {
            Phase::Ended(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ending(_) => None,
        }
    }

    /// The number of turns that have ended.
    pub fn turns(&self) -> u32 {
        self.scalars.turns
    }

    /// Whether a turn is being walked.
    pub fn is_walking(&self) -> bool {
        self.scalars.walking
    }

    /// Calls `each` with the key of every step, element and question that waits for an answer of the host. The step of a model whose tool call a person has not approved yet does not.
    pub fn pending(&self, each: &mut dyn FnMut(StepKey)) {
        let cells = self.store.cells();
        for (register, row) in cells.steps.iter().zip(&self.tables.steps) {
            match (register.pending, row.each) {
                (Some(_), Some(fan)) => {
                    self.fan(fan).open().iter().for_each(|key| each(*key));
                }
                // The model waits until a person approves its tool call.
                (Some(key), None) if self.approval(key.step).is_some() => {}
                (Some(key), None) => each(key),
                (None, _) => {}
            }
        }
        for question in self.questions() {
            each(question.key);
        }
    }

    /// Calls `read` with the program and the view of the machine that a guard or prompt has in `leaf`.
    pub fn with_view<R>(&mut self, leaf: StateId, read: impl FnOnce(&mut P, &View<'_>) -> R) -> R {
        self.program.refuel();
        self.in_view(leaf, read)
    }

    /// Like [`Stepper::with_view`], but within an input, so that the budget of evaluations is not refilled.
    fn in_view<R>(&mut self, leaf: StateId, read: impl FnOnce(&mut P, &View<'_>) -> R) -> R {
        // Only fields are borrowed, so that `read` gets the program mutable beside the view.
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

    /// Appends an occurrence to the internal queue. Returns false if the queue is full.
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

    /// Empties the internal queue, together with the payloads of its raised events.
    fn give_up_queue(&mut self) {
        while let Some(occurrence) = self.dequeue() {
            // Other occurrences have no payload.
            if matches!(occurrence, Occurrence::Event(_)) {
                self.program.dequeue();
            }
        }
    }

    /// Ends the run. Every active state runs its `exit`, and nothing is pending any more. The configuration remains readable.
    fn finish(&mut self, status: Status, sink: &mut dyn Sink) {
        // The phase stops macrosteps that an `exit` block or a cancellation would start.
        self.scalars.phase = Phase::Ending(status);
        // Reverse document order exits descendants before their ancestors.
        for index in (0..self.tables.states.len()).rev() {
            let state = StateId::at(index);
            if self.is_active(state) {
                self.leave(state, sink);
            }
        }
        self.give_up_queue();
        self.drop_deferred(sink);
        self.scalars.sends = 0;
        // A turn that the end of the run interrupts counts as ended.
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
