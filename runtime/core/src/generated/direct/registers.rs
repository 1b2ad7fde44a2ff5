//! The registers of a machine with direct code, besides its configuration.

use crate::arena::EventId;
use crate::machine::Status;
use crate::tables::Tables;

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    #[default]
    New,
    Running,
    Ending(Status),
    Ended(Status),
}

/// The registers of a machine with direct code, besides its configuration.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    pub(super) phase: Phase,
    pub(super) turns: u32,
    pub(super) walking: bool,
    pub(super) dead: bool,
    pub(super) event: Current,
}

/// The current host event in four bytes: its id, or [`Current::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Current(u32);

impl Default for Current {
    fn default() -> Self {
        Self::NONE
    }
}

impl Current {
    /// No event. No chart has as many events as would make this an id.
    pub(super) const NONE: Self = Self(u32::MAX);

    pub(super) const fn of(event: Option<EventId>) -> Self {
        match event {
            Some(id) => Self(id.0),
            None => Self::NONE,
        }
    }

    pub(super) fn get(self) -> Option<EventId> {
        (self != Self::NONE).then_some(EventId(self.0))
    }
}

impl Registers {
    /// The registers before the start.
    pub const fn new() -> Self {
        Self { phase: Phase::New, turns: 0, walking: false, dead: false, event: Current::NONE }
    }

    /// The number of turns that have ended.
    pub const fn turns(&self) -> u32 {
        self.turns
    }

    /// The name of the current host event; the empty text if there is none.
    pub fn event_name(&self, tables: &Tables<'static>) -> &'static str {
        self.event.get().map_or("", |event| tables.events[event.index()].name)
    }

    /// Notes that a final child of the root was entered, so that the run ends.
    pub const fn end(&mut self, status: Status) {
        self.phase = Phase::Ending(status);
    }

    /// Notes that a state was entered, so that a new dead end is reported.
    pub const fn revive(&mut self) {
        self.dead = false;
    }
}
