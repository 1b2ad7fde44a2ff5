//! Precomputed columns, which make the cost of an event independent of the size of the chart. [`crate::plan`] derives them from the other
//! columns.

use super::Span;
use crate::arena::{EventId, StateId, TransitionId};

/// The kinds of occurrences that a state reacts to, and other features that few states have: a bit set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reacts(pub u16);

impl Reacts {
    /// No kind.
    pub const NOTHING: Self = Self(0);
    /// Host events.
    pub const EVENT: Self = Self(1);
    /// Eventless transitions.
    pub const WHEN: Self = Self(1 << 1);
    /// The built-in event `turn`.
    pub const TURN: Self = Self(1 << 2);
    /// The completion of a state.
    pub const DONE: Self = Self(1 << 3);
    /// Deadlines, including timeouts of steps.
    pub const DEADLINE: Self = Self(1 << 4);
    /// The choice of an option, and the result of a tool.
    pub const CHOICE: Self = Self(1 << 5);
    /// The outcome of a step.
    pub const STEP: Self = Self(1 << 6);
    /// `error.*`.
    pub const ERROR: Self = Self(1 << 7);
    /// `limit.warn.*`.
    pub const WARN: Self = Self(1 << 8);
    /// Something outside the machine can trigger it: it has a step, or a transition that the host, its data or the clock can trigger.
    pub const ALIVE: Self = Self(1 << 9);
    /// An `ask` on host events.
    pub const ASK: Self = Self(1 << 10);
    /// A limit on the time in the state.
    pub const TIME: Self = Self(1 << 11);

    /// The occurrences that can trigger an `on **` transition.
    pub const VISIBLE: Self = Self::EVENT
        .with(Self::TURN)
        .with(Self::DONE)
        .with(Self::STEP)
        .with(Self::ERROR)
        .with(Self::WARN);

    /// The union of two sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether two sets have a kind in common.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// An event, and one of the transitions that it makes candidates. Sorted by event, so that a state's transitions for an event are found by
/// binary search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dispatch {
    /// The event, or [`Dispatch::ANY`].
    pub event: EventId,
    /// A transition of the state.
    pub line: TransitionId,
}

impl Dispatch {
    /// Stands for every event. Sorted behind all declared events.
    pub const ANY: EventId = EventId(u32::MAX);
}

/// The exit and entry sets of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Both sets are empty, because the transition has no target.
    Stay,
    /// Both sets are the same whenever the transition is taken.
    Known {
        /// The state whose active descendants are exited.
        domain: StateId,
        /// The entry set in document order, in `state_pool`.
        entry: Span,
    },
    /// The sets depend on what histories have recorded, or are too long to be stored.
    Computed,
}
