//! A machine with direct code for hosts that know it by names: its inputs as values, and its registers as those of the step algorithm.

use super::super::chart::{Named, Payload, Reason};
use super::super::{Name, String, by_value, no_row};
use super::{Current, Direct, Machine, Registers, event_of};
use crate::arena::{EventId, StateId};
use crate::expr::{Map, Value};
use crate::host::{self, Mismatch, Note, Offer, ToolCall};
use crate::machine::{Fault, Input, Instant, Receipt, Sink, StepKey};
use crate::saved::{Saved, Unfit};
use crate::semantics::{Phase, Plain, RestoreError, Snapshot};
use crate::tables::Tables;
use alloc::vec::Vec;

impl<P: Direct> Machine<P> {
    fn snapshot(&self) -> Snapshot {
        let Registers { phase, turns, walking, dead, event } = self.program.registers().clone();
        let leaves = if phase == Phase::New { &[] } else { self.program.leaves() };
        let event = event.get();
        Snapshot::plain(P::TABLES, Plain { phase, turns, walking, dead, event }, leaves)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        let Plain { phase, turns, walking, dead, event } = snapshot.as_plain();
        if phase != Phase::New && !self.program.go_to(&snapshot.leaves(P::TABLES)) {
            return Err(RestoreError::IllegalConfiguration);
        }
        *self.program.registers_mut() =
            Registers { phase, turns, walking, dead, event: Current::of(event) };
        Ok(())
    }
}

impl<P: Direct + Named> host::Machine for Machine<P> {
    fn tables(&self) -> &Tables {
        P::TABLES
    }

    fn handle(
        &mut self,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Result<Receipt, Mismatch> {
        Ok(match input {
            Input::Start => {
                self.begin().map_err(Reason::mismatch)?;
                self.enter(sink)
            }
            Input::Event(id, values) => {
                let payload = Payload::Event(by_value::event::<P>(id, values)?);
                let Some(event) = event_of::<P>(id) else { return Err(no_row("event", id.0)) };
                self.take(event, payload, sink)
            }
            Input::Turn => self.turn(now, sink),
            Input::Tick => self.tick(now, sink),
            Input::Stop => self.stop(now, sink),
            // A chart with steps has no direct code.
            Input::Answer(key, _) => return Err(no_row("open step", key.step.0)),
            Input::Exhausted(..) | Input::Unmade(_) | Input::Warn(_) | Input::Charge(..)
                if self.is_over() =>
            {
                Receipt::Closed
            }
            // Nor has one with limits, so these inputs have no meaning here.
            _ => Receipt::Refused,
        })
    }

    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch> {
        by_value::set_input::<P>(self.program.data_mut(), name, value)
    }

    fn prompt(&mut self, _: StepKey) -> Result<String, Fault> {
        Ok(String::new())
    }

    fn options(&mut self, _: StepKey) -> Vec<Offer> {
        Vec::new()
    }

    fn call(&mut self, _: StepKey) -> Result<ToolCall, Fault> {
        Err(Fault)
    }

    fn is_active(&self, state: StateId) -> bool {
        Self::is_active(self, state)
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        let mut enabled = Vec::new();
        self.each_enabled(&mut |id| enabled.push(id));
        enabled
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    fn is_walking(&self) -> bool {
        Self::is_walking(self)
    }

    fn variables(&self) -> Vec<(String, Value)> {
        by_value::variables::<P>(self.program.data())
    }

    fn result(&self) -> Vec<(String, Value)> {
        self.ending().map_or_else(Vec::new, P::result)
    }

    fn take_notes(&mut self) -> Vec<Note> {
        Self::take_notes(self)
    }

    fn save(&self) -> Option<Saved> {
        let mut data = by_value::saved::<P>(self.program.data(), self.has_started());
        self.program.save(&mut data, &[]);
        Some(Saved::of(P::TABLES, &self.snapshot(), &data))
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Unfit> {
        let (registers, mut given) = saved.parts(P::TABLES)?;
        let data = by_value::loaded::<P>(saved, &mut given)?;
        self.restore(&registers)?;
        *self.program.data_mut() = data;
        self.program.load(given, &[])?;
        self.program.bind(None);
        Ok(())
    }
}

impl<P: Direct + Named> host::Typed for Machine<P> {
    type State = P::State;
    type Event = P::Event;
    const STATES: &'static [P::State] = P::State::NAMES;

    fn row_of(state: P::State) -> StateId {
        StateId(state.row())
    }

    fn data_of(event: P::Event) -> (&'static str, Map) {
        by_value::data_of::<P>(event)
    }
}
