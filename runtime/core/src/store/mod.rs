//! The registers of a machine: its mutable state besides the program's data, such as the configuration, deadlines and open questions.
//!
//! The problem: without an allocator, registers have to be arrays; in a process with a million agents, of which most wait, an idle agent
//! must take little memory. The idea: the step algorithm sees registers only as slices ([`Cells`], [`CellsMut`]). [`Fixed`] keeps all of
//! them in arrays. [`Dynamic`] leaves out each [`Part`] that has its initial values: a missing register is an empty slice, reads as its
//! initial value, and gets memory by [`Store::need`] before it is written. For example:
//!
//! ```text
//! the machine waits in `idle`             the configuration, times and deadlines are in one block of words; there is no more
//! `after 5m` is armed: need(Part::Due)    a heap for the deadlines of the chart
//! a step starts: need(Part::Steps)        a register for each step of the chart
//! nothing is under way any more: calm()   the heap and the registers of steps are released
//! ```

pub mod bits;
#[cfg(feature = "alloc")]
mod dynamic;
mod fixed;
mod queue;
mod register;

#[cfg(feature = "alloc")]
pub use dynamic::{Dynamic, Together};
pub use fixed::Fixed;
pub use queue::{Places, Sends};
pub use register::{Amounts, Counts, Fan, Question, Sent, StepRegister, Underway, Walk, WalkStage};

use crate::arena::{ChoiceId, EventId, StateId, StepId, TransitionId};
use crate::machine::{ErrorKind, Instant, LimitKind};
use crate::tables::Tables;

/// Something that can trigger transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// A host event, or a raised event, whose payload the program keeps in a queue.
    Event(EventId),
    /// The built-in event `turn`.
    Turn,
    /// A state completed: a final child was entered, or all regions have ended.
    StateDone(StateId),
    /// The deadline of this transition was due.
    Deadline(TransitionId),
    /// An option was chosen.
    Choice(ChoiceId),
    /// The tool that a `may call` transition permits has returned. The guard held when the call began.
    Returned(ChoiceId),
    /// A step succeeded.
    StepDone(StepId),
    /// A step failed, and no further attempt follows.
    StepError(StepId),
    /// A step's call was interrupted, and whether it took effect is unknown.
    StepDoubt(StepId),
    /// An `ask` has no usable answer, or a retry policy takes its transition.
    StepElse(StepId),
    /// An error was raised as `error.*`.
    Error(ErrorKind),
    /// A soft limit was reached, which is announced as `limit.warn.*`.
    Warn(LimitKind),
}

/// A group of registers that a store may leave out while they have their initial values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The counts of states.
    Counts,
    /// The walks of a turn.
    Walks,
    /// The tokens and costs of calls.
    Amounts,
    /// Open questions.
    Questions,
    /// The steps that are under way.
    Steps,
    /// The steps with an `each` that are under way.
    Fans,
    /// The heap of the armed deadlines of time.
    Due,
    /// The sets of states that a microstep and a turn need.
    Sets,
}

/// Storage for the registers of one machine.
pub trait Store {
    /// The room for the transitions that a microstep takes.
    type Selected: AsMut<[TransitionId]>;

    /// The registers before the start of a chart with these tables.
    fn empty(tables: &Tables) -> Self;
    /// Room for one transition for each of `leaves` active leaves: a microstep takes at most one for each.
    fn selected(leaves: usize) -> Self::Selected;
    /// Read access to all registers.
    fn cells(&self) -> Cells<'_>;
    /// Write access to all registers.
    fn cells_mut(&mut self) -> CellsMut<'_>;
    /// The time of the last entry into the active state with this place, writable. Cheaper than [`Store::cells_mut`].
    #[inline(always)]
    fn entered_mut(&mut self, place: u32) -> &mut u64 {
        &mut self.cells_mut().entered[place as usize]
    }
    /// The deadline in this slot, writable: a time or a number of turns; `u64::MAX` if it is not armed.
    #[inline(always)]
    fn deadline_mut(&mut self, slot: u32) -> &mut u64 {
        &mut self.cells_mut().deadlines[slot as usize]
    }
    /// Makes room for a group of registers that the store has left out. Called before they are written.
    #[inline(always)]
    fn need(&mut self, _part: Part, _tables: &Tables) {}
    /// Whether the store holds memory that [`Store::calm`] could release.
    #[inline(always)]
    fn is_busy(&self) -> bool {
        false
    }
    /// Releases the memory for what is under way. Called between two inputs, and only if nothing is under way.
    #[inline(always)]
    fn calm(&mut self) {}
}

/// The capacity of the internal queue of a chart with this number of states: enough for the completion of every state, and for raised
/// events. All stores have the same capacity, because charts can observe it: `raise` fails if the queue is full.
pub const fn queue_places(states: usize) -> usize {
    2 * states + 128
}

// Access to the registers of a machine, as slices.

/// All registers, as slices. Each field names its length: `W` words of a set of states, `S` states, `T` the maximum number of states that
/// are active together, `V` the maximum number of leaves that are active together, `K` steps, `D` deadlines, `H` history states, `N` sent
/// events, `L` walks. A register that a store leaves out is an empty slice and reads as its initial value.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'c> {
    /// W. The active states, root included.
    pub configuration: &'c [u64],
    /// V. The active leaves in document order; the engine knows their number.
    pub leaves: &'c [StateId],
    /// H × W. For each history, the states that it has recorded; all zero if it has recorded none.
    pub history: &'c [u64],
    /// W, or empty while no turn is walked. The states that were active at any moment of this turn.
    pub touched: &'c [u64],
    /// W, or empty while no turn is walked. The states that have been active without a break since this turn began.
    pub unbroken: &'c [u64],
    /// W. The leaves that were active when the current event for questions occurred, and that have not been exited since.
    pub found: &'c [u64],
    /// T, indexed by `StateRow::place`. The time of the last entry into the active state with this place.
    pub entered: &'c [Instant],
    /// S, or empty while nothing was counted.
    pub counts: &'c [Counts],
    /// V, or empty while none is open. The open questions in the order of their leaves; the engine knows their number.
    pub questions: &'c [Question],
    /// K. The time at which the step was last started.
    pub started: &'c [Instant],
    /// K, or empty while no step is under way.
    pub steps: &'c [Underway],
    /// L, or empty before the first turn. The walks of the current turn.
    pub walks: &'c [Walk],
    /// One for each step with an `each`; empty while none is under way, and always in a store of arrays.
    pub fans: &'c [Fan],
    /// S. What calls took while the state was active. Empty before the first call, if the chart does not read it, and in a store of arrays.
    pub amounts: &'c [Amounts],
    /// D. The due time or number of turns of each deadline; `u64::MAX` if it is not armed.
    pub deadlines: &'c [u64],
    /// The waiting sent events by due time, then by order of sending; behind them the free entries. Each payload slot occurs exactly once.
    pub sends: &'c [Sent],
    /// W. The entry set of the microstep.
    pub entry: &'c [u64],
    /// W. The domains of the transitions that the microstep takes, if they are computed.
    pub domains: &'c [u64],
    /// D, or empty while no deadline is armed. A heap of the transitions with armed deadlines of time; the engine knows their number.
    pub due: &'c [TransitionId],
}

impl Cells<'_> {
    /// The counts of a state.
    #[inline]
    pub fn counts(&self, state: StateId) -> Counts {
        self.counts.get(state.index()).copied().unwrap_or(Counts::NEW)
    }

    /// The time of the last entry into an active state; 0 if the state is not active.
    pub fn entered_at(&self, state: StateId, tables: &Tables) -> Instant {
        let place = tables.states[state.index()].place as usize;
        if bits::has(self.configuration, state.index()) { self.entered[place] } else { 0 }
    }

    /// The register of a step, with the part that is kept while it is under way.
    pub fn step(&self, index: usize) -> StepRegister {
        StepRegister::of(self.started[index], self.underway(index))
    }

    /// The part of a step's register that matters while the step is under way.
    #[inline]
    pub fn underway(&self, index: usize) -> Underway {
        self.steps.get(index).copied().unwrap_or(Underway::NEW)
    }

    /// The walk with this number in `Tables::walks`.
    #[inline]
    pub fn walk(&self, nth: usize) -> Walk {
        self.walks.get(nth).copied().unwrap_or(Walk::NEW)
    }
}

/// The registers that guards and actions may read.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of `Cells`")]
pub struct Observed<'c> {
    pub configuration: &'c [u64],
    pub entered: &'c [Instant],
    pub counts: &'c [Counts],
    pub amounts: &'c [Amounts],
}

impl Observed<'_> {
    /// The counts of a state.
    #[inline]
    pub fn counts(&self, state: StateId) -> Counts {
        self.counts.get(state.index()).copied().unwrap_or(Counts::NEW)
    }
}

/// Write access to all [`Cells`], and to the scratch space of a microstep.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are those of `Cells`")]
pub struct CellsMut<'c> {
    pub configuration: &'c mut [u64],
    pub leaves: &'c mut [StateId],
    pub history: &'c mut [u64],
    pub touched: &'c mut [u64],
    pub unbroken: &'c mut [u64],
    /// As [`Cells::found`].
    pub found: &'c mut [u64],
    pub entered: &'c mut [Instant],
    pub counts: &'c mut [Counts],
    pub questions: &'c mut [Question],
    pub started: &'c mut [Instant],
    pub steps: &'c mut [Underway],
    pub walks: &'c mut [Walk],
    pub fans: &'c mut [Fan],
    pub amounts: &'c mut [Amounts],
    pub deadlines: &'c mut [u64],
    pub sends: Sends<'c>,
    pub entry: &'c mut [u64],
    pub due: &'c mut [TransitionId],
    /// D, or empty while no deadline is armed. The index in `due` of each armed deadline.
    pub places: &'c mut [u32],
    pub domains: &'c mut [u64],
    /// W. The compound states that the microstep enters by an `initial` with actions, and the histories that it enters by a default with
    /// actions. All zero between microsteps.
    pub defaults: &'c mut [u64],
    /// The internal queue.
    pub queue: Places<'c>,
}
