//! Where a machine's registers live: arrays for generated code without alloc, memory that grows with what they hold for the rest.

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

/// An occurrence: something that can trigger transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Occurrence {
    /// A host event, or a raised one (whose payload is dequeued).
    Event(EventId),
    /// The built-in event.
    Turn,
    /// Completion of a state.
    StateDone(StateId),
    /// A deadline was due.
    Deadline(TransitionId),
    /// An option was chosen.
    Choice(ChoiceId),
    /// The tool that a `may call` transition permitted has returned. The guard held when the call began.
    Returned(ChoiceId),
    /// A step ended well.
    StepDone(StepId),
    /// A step failed for good.
    StepError(StepId),
    /// Whether a step's call took effect is unknown.
    StepDoubt(StepId),
    /// An `ask` has no usable answer, or a policy takes its transition.
    StepElse(StepId),
    /// `error.*`.
    Error(ErrorKind),
    /// `limit.warn.*`.
    Warn(LimitKind),
}

/// Registers that a store may leave out while all of them are as at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What is counted of states.
    Counts,
    /// The walks of a turn.
    Walks,
    /// What calls took.
    Amounts,
    /// Open questions.
    Questions,
    /// Steps under way.
    Steps,
    /// Steps with an `each` under way.
    Fans,
    /// The armed deadlines of time in their order.
    Due,
    /// The sets of a microstep and of a turn.
    Sets,
}

/// Storage for the registers of one machine.
pub trait Store {
    /// The transitions that a microstep takes.
    type Selected: AsMut<[TransitionId]>;

    /// Room for as many transitions as there are active leaves.
    fn selected(leaves: usize) -> Self::Selected;
    /// Read access.
    fn cells(&self) -> Cells<'_>;
    /// Write access.
    fn cells_mut(&mut self) -> CellsMut<'_>;
    /// The time of the last entry of the state that is active at a place.
    #[inline(always)]
    fn entered_mut(&mut self, place: u32) -> &mut u64 {
        &mut self.cells_mut().entered[place as usize]
    }
    /// The deadline of a slot.
    #[inline(always)]
    fn deadline_mut(&mut self, slot: u32) -> &mut u64 {
        &mut self.cells_mut().deadlines[slot as usize]
    }
    /// Makes room for registers that are left out. Called before they are written.
    #[inline(always)]
    fn need(&mut self, _part: Part, _tables: &Tables<'_>) {}
    /// Whether there is room that [`Store::calm`] could give up.
    #[inline(always)]
    fn is_busy(&self) -> bool {
        false
    }
    /// Gives up the room for what is under way. Called between two inputs when nothing is.
    #[inline(always)]
    fn calm(&mut self) {}
}

/// The capacity of the internal queue of a chart with this number of states: completions of all of them, and raised events. It is the same
/// for every store, because charts can observe it: `raise` fails when the queue is full.
pub const fn queue_places(states: usize) -> usize {
    2 * states + 128
}
