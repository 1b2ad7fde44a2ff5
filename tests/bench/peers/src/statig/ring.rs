//! The ring: eight states without superstates.

use crate::machine::{End, Machine};
use statig::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Next,
    Prev,
    Skip,
    Reset,
}

pub(crate) struct Storage {
    fuel: i64,
    count: i64,
}

#[state_machine(initial = "State::s0()", state(derive(Debug, Clone, Copy)))]
impl Storage {
    #[state]
    fn s0(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s1()),
            Event::Prev => self.go(State::s7()),
            Event::Skip => self.go(State::s2()),
            Event::Reset => self.refill(State::s0()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s1(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s2()),
            Event::Prev => self.go(State::s0()),
            Event::Skip => self.go(State::s3()),
            Event::Reset => self.refill(State::s1()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s2(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s3()),
            Event::Prev => self.go(State::s1()),
            Event::Skip => self.go(State::s4()),
            Event::Reset => self.refill(State::s2()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s3(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s4()),
            Event::Prev => self.go(State::s2()),
            Event::Skip => self.go(State::s5()),
            Event::Reset => self.refill(State::s3()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s4(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s5()),
            Event::Prev => self.go(State::s3()),
            Event::Skip => self.go(State::s6()),
            Event::Reset => self.refill(State::s4()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s5(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s6()),
            Event::Prev => self.go(State::s4()),
            Event::Skip => self.go(State::s7()),
            Event::Reset => self.refill(State::s5()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s6(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s7()),
            Event::Prev => self.go(State::s5()),
            Event::Skip => self.go(State::s0()),
            Event::Reset => self.refill(State::s6()),
            Event::Next => Super,
        }
    }

    #[state]
    fn s7(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Next if self.fuel > 0 => self.burn(State::s0()),
            Event::Prev => self.go(State::s6()),
            Event::Skip => self.go(State::s1()),
            Event::Reset => self.refill(State::s7()),
            Event::Next => Super,
        }
    }
}

impl Storage {
    fn burn(&mut self, target: State) -> Outcome<State> {
        self.fuel -= 1;
        self.count += 1;
        Transition(target)
    }

    fn go(&mut self, target: State) -> Outcome<State> {
        self.count += 1;
        Transition(target)
    }

    fn refill(&mut self, target: State) -> Outcome<State> {
        self.fuel = 2;
        Transition(target)
    }
}

pub(crate) struct Ring(StateMachine<Storage>);

impl Machine for Ring {
    type Event = Event;

    fn new() -> Self {
        let mut machine = Storage { fuel: 2, count: 0 }.state_machine();
        machine.init();
        Self(machine)
    }

    fn event(code: u8) -> Event {
        [Event::Next, Event::Prev, Event::Skip, Event::Reset][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        self.0.handle(event);
    }

    fn end(&self) -> End {
        let leaf = match self.0.state() {
            State::S0 {} => 0,
            State::S1 {} => 1,
            State::S2 {} => 2,
            State::S3 {} => 3,
            State::S4 {} => 4,
            State::S5 {} => 5,
            State::S6 {} => 6,
            State::S7 {} => 7,
        };
        End { leaf, counters: vec![self.0.fuel, self.0.count] }
    }
}
