//! The ring.

use crate::machine::{End, Machine};
use smlang::statemachine;

statemachine! {
    derive_states: [Debug, Clone, Copy],
    derive_events: [Debug, Clone, Copy],
    transitions: {
        *S0 + Next [fueled] / burn = S1,
        S0 + Prev / go = S7,
        S0 + Skip / go = S2,
        S0 + Reset / refill = S0,
        S1 + Next [fueled] / burn = S2,
        S1 + Prev / go = S0,
        S1 + Skip / go = S3,
        S1 + Reset / refill = S1,
        S2 + Next [fueled] / burn = S3,
        S2 + Prev / go = S1,
        S2 + Skip / go = S4,
        S2 + Reset / refill = S2,
        S3 + Next [fueled] / burn = S4,
        S3 + Prev / go = S2,
        S3 + Skip / go = S5,
        S3 + Reset / refill = S3,
        S4 + Next [fueled] / burn = S5,
        S4 + Prev / go = S3,
        S4 + Skip / go = S6,
        S4 + Reset / refill = S4,
        S5 + Next [fueled] / burn = S6,
        S5 + Prev / go = S4,
        S5 + Skip / go = S7,
        S5 + Reset / refill = S5,
        S6 + Next [fueled] / burn = S7,
        S6 + Prev / go = S5,
        S6 + Skip / go = S0,
        S6 + Reset / refill = S6,
        S7 + Next [fueled] / burn = S0,
        S7 + Prev / go = S6,
        S7 + Skip / go = S1,
        S7 + Reset / refill = S7,
    }
}

pub(crate) struct Context {
    fuel: i64,
    count: i64,
}

impl StateMachineContext for Context {
    fn fueled(&self) -> Result<bool, ()> {
        Ok(self.fuel > 0)
    }

    fn burn(&mut self) -> Result<(), ()> {
        self.fuel -= 1;
        self.count += 1;
        Ok(())
    }

    fn go(&mut self) -> Result<(), ()> {
        self.count += 1;
        Ok(())
    }

    fn refill(&mut self) -> Result<(), ()> {
        self.fuel = 2;
        Ok(())
    }
}

pub(crate) struct Ring(StateMachine<Context>);

impl Machine for Ring {
    type Event = Events;

    fn new() -> Self {
        Self(StateMachine::new(Context { fuel: 2, count: 0 }))
    }

    fn event(code: u8) -> Events {
        [Events::Next, Events::Prev, Events::Skip, Events::Reset][code as usize]
    }

    fn handle(&mut self, event: &Events) {
        // An error says that the guard was false.
        let _ = self.0.process_event(*event);
    }

    fn end(&self) -> End {
        let data = self.0.context();
        End { leaf: *self.0.state() as usize, counters: vec![data.fuel, data.count] }
    }
}
