//! The table, as one would write it: a match over state and event, an arm for each cell.

use crate::machine::{End, Machine};

include!(concat!(env!("OUT_DIR"), "/table_hand.rs"));

pub(crate) struct Table {
    state: State,
}

impl Machine for Table {
    type Event = Event;

    fn new() -> Self {
        Self { state: State::S0 }
    }

    fn event(code: u8) -> Event {
        EVENTS[code as usize]
    }

    fn handle(&mut self, event: &Event) {
        self.state = next(self.state, *event);
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: Vec::new() }
    }
}
