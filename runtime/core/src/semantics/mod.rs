//! The step algorithm: SCXML appendix D with the fixes and the agent extensions.

use crate::arena::{ChoiceId, EventId, StateId};
use crate::machine::{Input, Instant, Receipt, Sink, StepKey};
use crate::program::Program;
use crate::tables::Tables;

/// One machine: tables, registers and a program.
pub struct Engine<'t, P: Program> {
    tables: Tables<'t>,
    store: P::Store,
    /// Guards, actions, data.
    pub program: P,
}

impl<'t, P: Program> Engine<'t, P> {
    /// Not started yet.
    pub fn new(tables: Tables<'t>, store: P::Store, program: P) -> Self {
        Self { tables, store, program }
    }

    /// The chart's tables.
    pub fn tables(&self) -> Tables<'t> {
        self.tables
    }

    /// Handles one input; effects and records go to `sink` in the order they happen.
    pub fn handle(
        &mut self,
        _input: Input<P::Payload>,
        _now: Instant,
        _sink: &mut dyn Sink,
    ) -> Receipt {
        let _ = &self.store;
        Receipt::Closed
    }

    /// Whether a state is active.
    pub fn is_active(&self, _state: StateId) -> bool {
        false
    }

    /// Host events that some active state would handle now, ascending.
    pub fn enabled_events(&mut self, _each: &mut dyn FnMut(EventId)) {}

    /// The options enabled now for the question's leaf.
    pub fn options(&mut self, _key: StepKey, _each: &mut dyn FnMut(ChoiceId)) {}

    /// The earliest time at which a tick would do something.
    pub fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether a turn is being walked.
    pub fn is_walking(&self) -> bool {
        false
    }

    /// What guards and prompts of `key`'s step can see.
    pub fn with_view<R>(
        &mut self,
        _leaf: StateId,
        _read: impl FnOnce(&mut P, &crate::program::View<'_>) -> R,
    ) -> Option<R> {
        None
    }
}
