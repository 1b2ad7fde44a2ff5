//! The hierarchy, flattened.

use crate::machine::{End, Machine};
use smlang::statemachine;

statemachine! {
    derive_states: [Debug, Clone, Copy],
    derive_events: [Debug, Clone, Copy],
    transitions: {
        *A1 + Tick / local = A1,
        A2 + Tick / count = A2,
        A3 + Tick / count = A3,
        B1 + Tick / local = B2,
        B2 + Tick / count = B2,
        B3 + Tick / count = B3,
        C1 + Tick / count = C1,
        D + Tick / count = D,
        A1 + Next = A2,
        A2 + Next = A3,
        A3 + Next = A1,
        B1 + Next = B2,
        B2 + Next = B3,
        B3 + Next = B1,
        C1 + Next / cross = B3,
        D + Next / enter = A1,
        A1 | A2 | A3 + Switch / cross = B1,
        B1 | B2 | B3 + Switch / cross = C1,
        C1 + Switch / cross = A1,
        A1 | A2 | A3 | B1 | B2 | B3 | C1 + Halt / leave = D,
        D + Halt = D,
    }
}

pub(crate) struct Context {
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
}

impl StateMachineContext for Context {
    fn count(&mut self) -> Result<(), ()> {
        self.count += 1;
        Ok(())
    }

    fn local(&mut self) -> Result<(), ()> {
        self.local += 1;
        Ok(())
    }

    fn cross(&mut self) -> Result<(), ()> {
        self.left += 1;
        self.entered += 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), ()> {
        self.entered += 1;
        Ok(())
    }

    fn leave(&mut self) -> Result<(), ()> {
        self.left += 1;
        Ok(())
    }
}

pub(crate) struct Hierarchy(StateMachine<Context>);

impl Machine for Hierarchy {
    type Event = Events;

    fn new() -> Self {
        Self(StateMachine::new(Context { count: 0, local: 0, entered: 1, left: 0 }))
    }

    fn event(code: u8) -> Events {
        [Events::Tick, Events::Next, Events::Switch, Events::Halt][code as usize]
    }

    fn handle(&mut self, event: &Events) {
        // An error says that the state has no line for it.
        let _ = self.0.process_event(*event);
    }

    fn end(&self) -> End {
        let data = self.0.context();
        let leaf = match self.0.state() {
            States::A1 => 0,
            States::A2 => 1,
            States::A3 => 2,
            States::B1 => 3,
            States::B2 => 4,
            States::B3 => 5,
            States::C1 => 6,
            States::D => 7,
        };
        End { leaf, counters: vec![data.count, data.local, data.entered, data.left] }
    }
}
