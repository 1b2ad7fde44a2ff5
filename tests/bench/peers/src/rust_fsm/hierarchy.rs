//! The hierarchy, flattened, with its actions as outputs.

use crate::machine::{End, Machine};
use rust_fsm::state_machine;

state_machine! {
    #[derive(Debug, Clone, Copy)]
    pub(crate) flat(A1)

    A1 => {
        Tick => A1 [Local],
        Next => A2,
        Switch => B1 [Cross],
        Halt => D [Leave],
    },
    A2 => {
        Tick => A2 [Count],
        Next => A3,
        Switch => B1 [Cross],
        Halt => D [Leave],
    },
    A3 => {
        Tick => A3 [Count],
        Next => A1,
        Switch => B1 [Cross],
        Halt => D [Leave],
    },
    B1 => {
        Tick => B2 [Local],
        Next => B2,
        Switch => C1 [Cross],
        Halt => D [Leave],
    },
    B2 => {
        Tick => B2 [Count],
        Next => B3,
        Switch => C1 [Cross],
        Halt => D [Leave],
    },
    B3 => {
        Tick => B3 [Count],
        Next => B1,
        Switch => C1 [Cross],
        Halt => D [Leave],
    },
    C1 => {
        Tick => C1 [Count],
        Next => B3 [Cross],
        Switch => A1 [Cross],
        Halt => D [Leave],
    },
    D => {
        Tick => D [Count],
        Next => A1 [Enter],
        Halt => D,
    }
}

pub(crate) struct Hierarchy {
    machine: flat::StateMachine,
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
}

impl Machine for Hierarchy {
    type Event = flat::Input;

    fn new() -> Self {
        Self { machine: flat::StateMachine::new(), count: 0, local: 0, entered: 1, left: 0 }
    }

    fn event(code: u8) -> flat::Input {
        use flat::Input;
        [Input::Tick, Input::Next, Input::Switch, Input::Halt][code as usize]
    }

    fn handle(&mut self, event: &flat::Input) {
        match self.machine.consume(event) {
            Ok(Some(flat::Output::Count)) => self.count += 1,
            Ok(Some(flat::Output::Local)) => self.local += 1,
            Ok(Some(flat::Output::Cross)) => {
                self.left += 1;
                self.entered += 1;
            }
            Ok(Some(flat::Output::Enter)) => self.entered += 1,
            Ok(Some(flat::Output::Leave)) => self.left += 1,
            Ok(None) | Err(_) => {}
        }
    }

    fn end(&self) -> End {
        let leaf = match self.machine.state() {
            flat::State::A1 => 0,
            flat::State::A2 => 1,
            flat::State::A3 => 2,
            flat::State::B1 => 3,
            flat::State::B2 => 4,
            flat::State::B3 => 5,
            flat::State::C1 => 6,
            flat::State::D => 7,
        };
        End { leaf, counters: vec![self.count, self.local, self.entered, self.left] }
    }
}
