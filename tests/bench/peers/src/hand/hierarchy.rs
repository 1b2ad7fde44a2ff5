//! The hierarchy, as one would write it: its leaves in one enum, and what is left and entered in each arm.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    A1,
    A2,
    A3,
    B1,
    B2,
    B3,
    C1,
    D,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Tick,
    Next,
    Switch,
    Halt,
}

pub(crate) struct Hierarchy {
    state: State,
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
}

impl Machine for Hierarchy {
    type Event = Event;

    fn new() -> Self {
        Self { state: State::A1, count: 0, local: 0, entered: 1, left: 0 }
    }

    fn event(code: u8) -> Event {
        [Event::Tick, Event::Next, Event::Switch, Event::Halt][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        use Event::*;
        use State::*;
        self.state = match (self.state, *event) {
            (A1, Tick) => {
                self.local += 1;
                A1
            }
            (B1, Tick) => {
                self.local += 1;
                B2
            }
            (state, Tick) => {
                self.count += 1;
                state
            }
            (A1, Next) => A2,
            (A2, Next) => A3,
            (A3, Next) => A1,
            (B1, Next) => B2,
            (B2, Next) => B3,
            (B3, Next) => B1,
            (C1, Next) => {
                self.left += 1;
                self.entered += 1;
                B3
            }
            (D, Next) => {
                self.entered += 1;
                A1
            }
            (A1 | A2 | A3, Switch) => {
                self.left += 1;
                self.entered += 1;
                B1
            }
            (B1 | B2 | B3, Switch) => {
                self.left += 1;
                self.entered += 1;
                C1
            }
            (C1, Switch) => {
                self.left += 1;
                self.entered += 1;
                A1
            }
            (A1 | A2 | A3 | B1 | B2 | B3 | C1, Halt) => {
                self.left += 1;
                D
            }
            (D, Switch | Halt) => D,
        };
    }

    fn end(&self) -> End {
        let counters = vec![self.count, self.local, self.entered, self.left];
        End { leaf: self.state as usize, counters }
    }
}
