//! The registers of steps, walks, states, questions and sent events.

use crate::arena::{ChoiceId, EventId, SendId, StateId, StepId, ToolId};
use crate::machine::{Instant, Receiver, StepKey};

/// The register of a step, in the form in which a run is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepRegister {
    /// The key of the attempt that has started and not ended.
    pub pending: Option<StepKey>,
    /// The time at which the step was started.
    pub started_at: Instant,
    /// Whether the step's state was entered in this macrostep, so that the step starts when the macrostep ends.
    pub due: bool,
    /// The tool that the model is calling.
    pub calling: Option<ToolId>,
    /// The number of tool calls by the model since the step was started.
    pub called: u32,
}

impl StepRegister {
    /// Composes a register of its parts.
    pub(crate) const fn of(started_at: Instant, underway: Underway) -> Self {
        let Underway { pending, due, calling, called } = underway;
        Self { pending, started_at, due, calling, called }
    }
}

/// The part of a step's register that differs from its initial value only while the step is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of `StepRegister`")]
pub struct Underway {
    pub pending: Option<StepKey>,
    pub calling: Option<ToolId>,
    pub called: u32,
    pub due: bool,
}

impl Underway {
    /// A step that is not under way.
    pub(crate) const NEW: Self = Self { pending: None, due: false, calling: None, called: 0 };

    /// The part of a saved register that matters while the step is under way.
    #[cfg(feature = "alloc")]
    pub(crate) const fn from(register: &StepRegister) -> Self {
        let StepRegister { pending, due, calling, called, .. } = *register;
        Self { pending, calling, called, due }
    }
}

/// The register of a step with an `each`, while it is under way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fan {
    /// The number of elements.
    pub size: u32,
    /// The index of the first element that was not started yet.
    pub next: u32,
    /// The number of elements that are done.
    pub done: u32,
    /// The number of elements that failed.
    pub lost: u32,
    /// The keys of the elements that are under way, in the order of their start.
    #[cfg(feature = "alloc")]
    pub open: alloc::vec::Vec<StepKey>,
}

impl Fan {
    /// A step that is not under way.
    pub(crate) const NONE: Self = Self {
        size: 0,
        next: 0,
        done: 0,
        lost: 0,
        #[cfg(feature = "alloc")]
        open: alloc::vec::Vec::new(),
    };

    /// The elements that are under way.
    pub fn open(&self) -> &[StepKey] {
        #[cfg(feature = "alloc")]
        return &self.open;
        #[cfg(not(feature = "alloc"))]
        return &[];
    }

    /// Adds the key of an element that has started.
    pub(crate) fn add(&mut self, key: StepKey) {
        #[cfg(feature = "alloc")]
        self.open.push(key);
        #[cfg(not(feature = "alloc"))]
        let _ = key;
    }

    /// Removes this key from the elements under way, or the first one if `key` is `None`. Returns the removed key.
    #[cfg(feature = "alloc")]
    pub(crate) fn remove(&mut self, key: Option<StepKey>) -> Option<StepKey> {
        let place = self.open.iter().position(|open| key.is_none_or(|key| key == *open))?;
        Some(self.open.remove(place))
    }

    /// Without an allocator, no element is under way.
    #[cfg(not(feature = "alloc"))]
    pub(crate) fn remove(&mut self, _: Option<StepKey>) -> Option<StepKey> {
        None
    }
}

/// The register of one walk over steps: that of the chart or of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walk {
    /// The progress of the walk in this turn.
    pub stage: WalkStage,
    /// The next step to visit. Steps of inactive states are skipped; while no later step can be visited, the cursor stays before them, because
    /// their states may still be entered.
    pub cursor: u32,
    /// The step that is being visited: a step whose end is awaited, or an `ask` whose question is put in one leaf after the other.
    pub at: Option<StepId>,
    /// The leaf from which the question of the current `ask`, of this walk or an outer one, is to be put next; it was put in the leaves
    /// before.
    pub leaf: u32,
    /// The number of model steps that this walk has started.
    pub calls: u32,
    /// Whether the walk may start no further model step.
    pub spent: bool,
    /// Whether an `on turn` transition of the region was taken.
    pub turn_taken: bool,
}

impl Walk {
    /// A walk that has not begun.
    pub(crate) const NEW: Self = Self {
        stage: WalkStage::New,
        cursor: 0,
        at: None,
        leaf: 0,
        calls: 0,
        spent: false,
        turn_taken: false,
    };
}

/// The progress of a walk in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WalkStage {
    /// The walk has not begun.
    #[default]
    New,
    /// The walk has begun. It may have nothing to visit now.
    Open,
    /// The walk has ended for this turn.
    Over,
}

/// The counts of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of whole turns since the state was entered.
    pub turns_here: u32,
    /// The number of turns of the run in which the state was active.
    pub turns_in: u32,
    /// The number of tool errors, forbidden calls and unusable answers since the state was entered.
    pub fails_here: u32,
    /// The number of model calls of the run that were charged to the state.
    pub calls: u32,
}

impl Counts {
    /// Counts of zero.
    pub(crate) const NEW: Self = Self { turns_here: 0, turns_in: 0, fails_here: 0, calls: 0 };
}

/// The amounts that calls took since a state was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Amounts {
    /// The number of model calls.
    pub calls: u32,
    /// Tokens of prompts and answers together.
    pub tokens: u64,
    /// The cost in millionths of the unit of prices.
    pub cost: u64,
}

/// An open question of a leaf, and the tool call that its answer has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The key of its answer, or of the tool's result.
    pub key: StepKey,
    /// The `may call` transition's option and the tool, once the model has chosen one.
    pub calling: Option<(ChoiceId, ToolId)>,
}

impl Question {
    /// A free entry.
    pub(super) const NONE: Self = Self {
        key: StepKey { step: StepId(0), leaf: StateId(0), event: 0, attempt: 0, element: None },
        calling: None,
    };
}

/// A sent event that is not delivered yet, or a deferred one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The event.
    pub event: EventId,
    /// The time at which it is due; `Instant::MAX` for a deferred event.
    pub due: Instant,
    /// The id by which `cancel` finds the event.
    pub id: Option<SendId>,
    /// The slot in which the program keeps its payload.
    pub slot: u32,
    /// The chart that receives the event.
    pub to: Receiver,
}

impl Sent {
    /// Whether it waits until no active state defers it any more, instead of for its time.
    pub const fn is_deferred(&self) -> bool {
        self.due == Instant::MAX
    }

    /// A free entry with this payload slot.
    pub(crate) const fn free(slot: u32) -> Self {
        Self { event: EventId(0), due: 0, id: None, slot, to: Receiver::Own }
    }
}
