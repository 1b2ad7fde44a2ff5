//! The ring: four events, each with its row of next states.

use super::add;
use crate::hand::ring::Event;
use crate::hand::ring::State::{self, *};
use crate::machine::{End, Machine};

static NEXT: [State; 8] = [S1, S2, S3, S4, S5, S6, S7, S0];
static PREV: [State; 8] = [S7, S0, S1, S2, S3, S4, S5, S6];
static SKIP: [State; 8] = [S2, S3, S4, S5, S6, S7, S0, S1];

pub(crate) struct Ring {
    state: State,
    fuel: i64,
    count: i64,
    faults: u32,
}

impl Machine for Ring {
    type Event = Event;

    fn new() -> Self {
        Self { state: S0, fuel: 2, count: 0, faults: 0 }
    }

    fn event(code: u8) -> Event {
        [Event::Next, Event::Prev, Event::Skip, Event::Reset][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Next => {
                if self.fuel > 0 {
                    add(&mut self.fuel, -1, &mut self.faults);
                    add(&mut self.count, 1, &mut self.faults);
                    self.state = NEXT[self.state as usize];
                }
            }
            Event::Prev => {
                add(&mut self.count, 1, &mut self.faults);
                self.state = PREV[self.state as usize];
            }
            Event::Skip => {
                add(&mut self.count, 1, &mut self.faults);
                self.state = SKIP[self.state as usize];
            }
            Event::Reset => self.fuel = 2,
        }
    }

    fn end(&self) -> End {
        assert_eq!(self.faults, 0, "nothing overflows");
        End { leaf: self.state as usize, counters: vec![self.fuel, self.count] }
    }
}
