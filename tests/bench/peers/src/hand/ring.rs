//! The ring, as one would write it: a match over state and event.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    S0,
    S1,
    S2,
    S3,
    S4,
    S5,
    S6,
    S7,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Next,
    Prev,
    Skip,
    Reset,
}

pub(crate) struct Ring {
    state: State,
    fuel: i64,
    count: i64,
}

impl Ring {
    fn burn(&mut self, target: State) -> State {
        self.fuel -= 1;
        self.count += 1;
        target
    }

    fn go(&mut self, target: State) -> State {
        self.count += 1;
        target
    }

    fn refill(&mut self, target: State) -> State {
        self.fuel = 2;
        target
    }
}

impl Machine for Ring {
    type Event = Event;

    fn new() -> Self {
        Self { state: State::S0, fuel: 2, count: 0 }
    }

    fn event(code: u8) -> Event {
        [Event::Next, Event::Prev, Event::Skip, Event::Reset][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        use Event::*;
        use State::*;
        self.state = match (self.state, *event) {
            (S0, Next) if self.fuel > 0 => self.burn(S1),
            (S0, Prev) => self.go(S7),
            (S0, Skip) => self.go(S2),
            (S0, Reset) => self.refill(S0),
            (S1, Next) if self.fuel > 0 => self.burn(S2),
            (S1, Prev) => self.go(S0),
            (S1, Skip) => self.go(S3),
            (S1, Reset) => self.refill(S1),
            (S2, Next) if self.fuel > 0 => self.burn(S3),
            (S2, Prev) => self.go(S1),
            (S2, Skip) => self.go(S4),
            (S2, Reset) => self.refill(S2),
            (S3, Next) if self.fuel > 0 => self.burn(S4),
            (S3, Prev) => self.go(S2),
            (S3, Skip) => self.go(S5),
            (S3, Reset) => self.refill(S3),
            (S4, Next) if self.fuel > 0 => self.burn(S5),
            (S4, Prev) => self.go(S3),
            (S4, Skip) => self.go(S6),
            (S4, Reset) => self.refill(S4),
            (S5, Next) if self.fuel > 0 => self.burn(S6),
            (S5, Prev) => self.go(S4),
            (S5, Skip) => self.go(S7),
            (S5, Reset) => self.refill(S5),
            (S6, Next) if self.fuel > 0 => self.burn(S7),
            (S6, Prev) => self.go(S5),
            (S6, Skip) => self.go(S0),
            (S6, Reset) => self.refill(S6),
            (S7, Next) if self.fuel > 0 => self.burn(S0),
            (S7, Prev) => self.go(S6),
            (S7, Skip) => self.go(S1),
            (S7, Reset) => self.refill(S7),
            (state, Next) => state,
        };
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: vec![self.fuel, self.count] }
    }
}
