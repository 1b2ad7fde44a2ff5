//! What is worked out ahead of a run, so that an event costs the same in a chart of any size. All of it follows from the other
//! columns; [`crate::plan`] computes it.

use super::Span;
use crate::arena::{EventId, StateId, TransitionId};

/// What a state reacts to: a set of kinds of occurrences, and of other things that few states have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reacts(pub u16);

impl Reacts {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// Host events.
    pub const EVENT: Self = Self(1);
    /// Eventless lines.
    pub const WHEN: Self = Self(1 << 1);
    /// The built-in event.
    pub const TURN: Self = Self(1 << 2);
    /// Completion of a state.
    pub const DONE: Self = Self(1 << 3);
    /// Deadlines.
    pub const DEADLINE: Self = Self(1 << 4);
    /// Options, and tools that have returned.
    pub const CHOICE: Self = Self(1 << 5);
    /// Outcomes of steps.
    pub const STEP: Self = Self(1 << 6);
    /// `error.*`.
    pub const ERROR: Self = Self(1 << 7);
    /// `limit.warn.*`.
    pub const WARN: Self = Self(1 << 8);
    /// Something outside the machine can move it: a step, or a line that the host, its data or the clock can trigger.
    pub const ALIVE: Self = Self(1 << 9);
    /// An `ask` on host events.
    pub const ASK: Self = Self(1 << 10);
    /// A bound on its time.
    pub const TIME: Self = Self(1 << 11);

    /// What an `on **` line is taken on.
    pub const VISIBLE: Self = Self::EVENT
        .with(Self::TURN)
        .with(Self::DONE)
        .with(Self::STEP)
        .with(Self::ERROR)
        .with(Self::WARN);

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether they have any in common.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A line that an event makes a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dispatch {
    /// The event, or [`Dispatch::ANY`].
    pub event: EventId,
    /// The line.
    pub line: TransitionId,
}

impl Dispatch {
    /// Stands for every event.
    pub const ANY: EventId = EventId(u32::MAX);
}

/// What a line leaves and enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Nothing: it has no target.
    Stay,
    /// The same whenever it is taken.
    Known {
        /// Its active descendants are exited.
        domain: StateId,
        /// In `state_pool`: what is entered, in document order.
        entry: Span,
    },
    /// Depends on what histories have recorded, or is too long to be written down.
    Computed,
}
