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
mod cells;
#[cfg(feature = "alloc")]
mod dynamic;
mod fixed;
#[cfg(feature = "alloc")]
mod kept;
mod queue;
mod register;
mod sends;

pub use cells::{Cells, CellsMut, Observed};
#[cfg(feature = "alloc")]
pub use dynamic::Dynamic;
#[cfg(feature = "alloc")]
pub use dynamic::Together;
pub use fixed::Fixed;
pub use queue::Places;
pub use register::{Amounts, Counts, Fan, Question, Sent, StepRegister, Underway, Walk, WalkStage};
pub use sends::Sends;

use crate::arena::{ChoiceId, EventId, StateId, StepId, TransitionId};
use crate::machine::{ErrorKind, LimitKind};
use crate::tables::Tables;

/// Something that can trigger transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    fn need(&mut self, _part: Part, _tables: &Tables<'_>) {}
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
