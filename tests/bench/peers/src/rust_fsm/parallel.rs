//! Three regions: a machine for each.

use crate::machine::{End, Machine};
use rust_fsm::state_machine;

state_machine! {
    #[derive(Debug, Clone, Copy)]
    pub(crate) region(S0)

    S0(Step) => S1 [Count],
    S1(Step) => S2 [Count],
    S2(Step) => S3 [Count],
    S3(Step) => S0 [Count],
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Step1,
    Step2,
    Step3,
    All,
}

pub(crate) struct Regions {
    p: region::StateMachine,
    q: region::StateMachine,
    r: region::StateMachine,
    count: i64,
}

fn step(machine: &mut region::StateMachine, count: &mut i64) {
    match machine.consume(&region::Input::Step) {
        Ok(Some(region::Output::Count)) => *count += 1,
        Ok(None) | Err(_) => {}
    }
}

impl Machine for Regions {
    type Event = Event;

    fn new() -> Self {
        Self {
            p: region::StateMachine::new(),
            q: region::StateMachine::new(),
            r: region::StateMachine::new(),
            count: 0,
        }
    }

    fn event(code: u8) -> Event {
        [Event::Step1, Event::Step2, Event::Step3, Event::All][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Step1 => step(&mut self.p, &mut self.count),
            Event::Step2 => step(&mut self.q, &mut self.count),
            Event::Step3 => step(&mut self.r, &mut self.count),
            Event::All => {
                step(&mut self.p, &mut self.count);
                step(&mut self.q, &mut self.count);
                step(&mut self.r, &mut self.count);
            }
        }
    }

    fn end(&self) -> End {
        let leaf = 16 * leaf(&self.p) + 4 * leaf(&self.q) + leaf(&self.r);
        End { leaf, counters: vec![self.count] }
    }
}

fn leaf(machine: &region::StateMachine) -> usize {
    match machine.state() {
        region::State::S0 => 0,
        region::State::S1 => 1,
        region::State::S2 => 2,
        region::State::S3 => 3,
    }
}
