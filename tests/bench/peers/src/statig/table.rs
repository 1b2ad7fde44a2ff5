//! The table: 64 states, in each a match over 16 events.

use crate::machine::{End, Machine};
use statig::prelude::*;

include!(concat!(env!("OUT_DIR"), "/table_statig.rs"));

pub(crate) struct Machine64(StateMachine<Table>);

impl Machine for Machine64 {
    type Event = Event;

    fn new() -> Self {
        let mut machine = Table.state_machine();
        machine.init();
        Self(machine)
    }

    fn event(code: u8) -> Event {
        EVENTS[code as usize]
    }

    fn handle(&mut self, event: &Event) {
        self.0.handle(event);
    }

    fn end(&self) -> End {
        // Its enum has no numbers that are said to stay: the name has one.
        let name = format!("{:?}", self.0.state());
        let leaf = name.trim_start_matches('S').parse().expect("states are S and a number");
        End { leaf, counters: Vec::new() }
    }
}
