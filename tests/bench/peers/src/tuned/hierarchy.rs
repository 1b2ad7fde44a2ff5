//! The hierarchy: of each event first the actions, for leaves with equal ones together, then the next leaf.

use super::add;
use crate::hand::hierarchy::Event;
use crate::hand::hierarchy::State::{self, *};
use crate::machine::{End, Machine};

static TICK: [State; 8] = [A1, A2, A3, B2, B2, B3, C1, D];
static NEXT: [State; 8] = [A2, A3, A1, B2, B3, B1, B3, A1];
static SWITCH: [State; 8] = [B1, B1, B1, C1, C1, C1, A1, D];

pub(crate) struct Hierarchy {
    state: State,
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
    faults: u32,
}

impl Machine for Hierarchy {
    type Event = Event;

    fn new() -> Self {
        Self { state: A1, count: 0, local: 0, entered: 1, left: 0, faults: 0 }
    }

    fn event(code: u8) -> Event {
        [Event::Tick, Event::Next, Event::Switch, Event::Halt][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        let from = self.state;
        match event {
            Event::Tick => {
                match from {
                    A1 | B1 => add(&mut self.local, 1, &mut self.faults),
                    A2 | A3 | B2 | B3 | C1 | D => add(&mut self.count, 1, &mut self.faults),
                }
                self.state = TICK[from as usize];
            }
            Event::Next => {
                match from {
                    C1 => {
                        add(&mut self.left, 1, &mut self.faults);
                        add(&mut self.entered, 1, &mut self.faults);
                    }
                    D => add(&mut self.entered, 1, &mut self.faults),
                    A1 | A2 | A3 | B1 | B2 | B3 => {}
                }
                self.state = NEXT[from as usize];
            }
            Event::Switch => {
                match from {
                    A1 | A2 | A3 | B1 | B2 | B3 | C1 => {
                        add(&mut self.left, 1, &mut self.faults);
                        add(&mut self.entered, 1, &mut self.faults);
                    }
                    D => {}
                }
                self.state = SWITCH[from as usize];
            }
            Event::Halt => {
                match from {
                    A1 | A2 | A3 | B1 | B2 | B3 | C1 => add(&mut self.left, 1, &mut self.faults),
                    D => {}
                }
                self.state = D;
            }
        }
    }

    fn end(&self) -> End {
        assert_eq!(self.faults, 0, "nothing overflows");
        let counters = vec![self.count, self.local, self.entered, self.left];
        End { leaf: self.state as usize, counters }
    }
}
