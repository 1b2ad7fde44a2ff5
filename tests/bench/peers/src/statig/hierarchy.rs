//! The hierarchy: superstates with entry and exit actions.

use crate::machine::{End, Machine};
use statig::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Tick,
    Next,
    Switch,
    Halt,
}

#[derive(Default)]
pub(crate) struct Storage {
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
}

#[state_machine(initial = "State::a1()", state(derive(Debug, Clone, Copy)))]
impl Storage {
    #[superstate]
    fn r(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Tick => {
                self.count += 1;
                Handled
            }
            Event::Halt => Transition(State::d()),
            Event::Next | Event::Switch => Super,
        }
    }

    #[action]
    fn enter(&mut self) {
        self.entered += 1;
    }

    #[action]
    fn leave(&mut self) {
        self.left += 1;
    }

    #[superstate(superstate = "r", entry_action = "enter", exit_action = "leave")]
    fn a(event: &Event) -> Outcome<State> {
        match event {
            Event::Switch => Transition(State::b1()),
            Event::Tick | Event::Next | Event::Halt => Super,
        }
    }

    #[superstate(superstate = "r", entry_action = "enter", exit_action = "leave")]
    fn b(event: &Event) -> Outcome<State> {
        match event {
            Event::Switch => Transition(State::c1()),
            Event::Tick | Event::Next | Event::Halt => Super,
        }
    }

    #[superstate(superstate = "r", entry_action = "enter", exit_action = "leave")]
    fn c(event: &Event) -> Outcome<State> {
        match event {
            Event::Switch => Transition(State::a1()),
            Event::Tick | Event::Next | Event::Halt => Super,
        }
    }

    #[state(superstate = "a")]
    fn a1(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Tick => {
                self.local += 1;
                Handled
            }
            Event::Next => Transition(State::a2()),
            Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "a")]
    fn a2(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::a3()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "a")]
    fn a3(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::a1()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "b")]
    fn b1(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Tick => {
                self.local += 1;
                Transition(State::b2())
            }
            Event::Next => Transition(State::b2()),
            Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "b")]
    fn b2(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::b3()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "b")]
    fn b3(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::b1()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "c")]
    fn c1(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::b3()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }

    #[state(superstate = "r")]
    fn d(event: &Event) -> Outcome<State> {
        match event {
            Event::Next => Transition(State::a1()),
            Event::Tick | Event::Switch | Event::Halt => Super,
        }
    }
}

pub(crate) struct Hierarchy(StateMachine<Storage>);

impl Machine for Hierarchy {
    type Event = Event;

    fn new() -> Self {
        let mut machine = Storage::default().state_machine();
        machine.init();
        Self(machine)
    }

    fn event(code: u8) -> Event {
        [Event::Tick, Event::Next, Event::Switch, Event::Halt][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        self.0.handle(event);
    }

    fn end(&self) -> End {
        let leaf = match self.0.state() {
            State::A1 {} => 0,
            State::A2 {} => 1,
            State::A3 {} => 2,
            State::B1 {} => 3,
            State::B2 {} => 4,
            State::B3 {} => 5,
            State::C1 {} => 6,
            State::D {} => 7,
        };
        let data = self.0.inner();
        End { leaf, counters: vec![data.count, data.local, data.entered, data.left] }
    }
}
