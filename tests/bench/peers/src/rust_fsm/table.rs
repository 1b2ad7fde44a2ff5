//! The table: a line for each cell.

use crate::machine::{End, Machine};
use rust_fsm::state_machine;

include!(concat!(env!("OUT_DIR"), "/table_rust_fsm.rs"));

pub(crate) struct Table(table::StateMachine);

impl Machine for Table {
    type Event = table::Input;

    fn new() -> Self {
        Self(table::StateMachine::new())
    }

    fn event(code: u8) -> table::Input {
        EVENTS[code as usize]
    }

    fn handle(&mut self, event: &table::Input) {
        let _ = self.0.consume(event);
    }

    fn end(&self) -> End {
        let name = format!("{:?}", self.0.state());
        let leaf = name.trim_start_matches('S').parse().expect("states are S and a number");
        End { leaf, counters: Vec::new() }
    }
}
