//! Precomputed columns, which make the cost of an event independent of the size of the chart. They follow from the other columns;
//! [`crate::plan`] computes them.

use super::Span;
use crate::arena::{EventId, StateId, TransitionId};

/// What a state reacts to: a set of kinds of occurrences and of other features that few states have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reacts(pub u16);

impl Reacts {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// Host events.
    pub const EVENT: Self = Self(1);
    /// Eventless transitions.
    pub const WHEN: Self = Self(1 << 1);
    /// The built-in event.
    pub const TURN: Self = Self(1 << 2);
    /// Completion of a state.
    pub const DONE: Self = Self(1 << 3);
    /// Deadlines.
    pub const DEADLINE: Self = Self(1 << 4);
    /// Choices of options, and results of tools.
    pub const CHOICE: Self = Self(1 << 5);
    /// Outcomes of steps.
    pub const STEP: Self = Self(1 << 6);
    /// `error.*`.
    pub const ERROR: Self = Self(1 << 7);
    /// `limit.warn.*`.
    pub const WARN: Self = Self(1 << 8);
    /// Something outside the machine can trigger it: a step, or a transition that the host, its data or the clock can trigger.
    pub const ALIVE: Self = Self(1 << 9);
    /// An `ask` on host events.
    pub const ASK: Self = Self(1 << 10);
    /// A limit on time.
    pub const TIME: Self = Self(1 << 11);

    /// The occurrences that can trigger an `on **` transition.
    pub const VISIBLE: Self = Self::EVENT
        .with(Self::TURN)
        .with(Self::DONE)
        .with(Self::STEP)
        .with(Self::ERROR)
        .with(Self::WARN);

    /// The union of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether both intersect.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A transition that an event makes a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dispatch {
    /// The event, or [`Dispatch::ANY`].
    pub event: EventId,
    /// The transition.
    pub line: TransitionId,
}

impl Dispatch {
    /// Every event.
    pub const ANY: EventId = EventId(u32::MAX);
}

/// The exit and entry sets of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Both are empty: it has no target.
    Stay,
    /// Both are the same whenever it is taken.
    Known {
        /// Its active descendants are exited.
        domain: StateId,
        /// In `state_pool`: the entry set in document order.
        entry: Span,
    },
    /// They depend on what histories have recorded, or are too long to be stored.
    Computed,
}
