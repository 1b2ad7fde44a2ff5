//! The table: a line for each cell.

use crate::machine::{End, Machine};
use smlang::statemachine;

include!(concat!(env!("OUT_DIR"), "/table_smlang.rs"));

pub(crate) struct Context;

impl StateMachineContext for Context {}

pub(crate) struct Table(StateMachine<Context>);

impl Machine for Table {
    type Event = Events;

    fn new() -> Self {
        Self(StateMachine::new(Context))
    }

    fn event(code: u8) -> Events {
        EVENTS[code as usize]
    }

    fn handle(&mut self, event: &Events) {
        let _ = self.0.process_event(*event);
    }

    fn end(&self) -> End {
        // The macro sorts its states: the name has the number.
        let name = format!("{:?}", self.0.state());
        let leaf = name.trim_start_matches('S').parse().expect("states are S and a number");
        End { leaf, counters: Vec::new() }
    }
}
