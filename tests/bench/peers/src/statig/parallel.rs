//! Three regions: a machine for each.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Step1,
    Step2,
    Step3,
    All,
}

macro_rules! region {
    ($region:ident, $step:ident) => {
        mod $region {
            use super::Event;
            use statig::prelude::*;

            #[derive(Default)]
            pub(crate) struct Region {
                pub(crate) count: i64,
            }

            #[state_machine(initial = "State::s0()", state(derive(Debug, Clone, Copy)))]
            impl Region {
                #[state]
                fn s0(&mut self, event: &Event) -> Outcome<State> {
                    self.on(event, State::s1())
                }

                #[state]
                fn s1(&mut self, event: &Event) -> Outcome<State> {
                    self.on(event, State::s2())
                }

                #[state]
                fn s2(&mut self, event: &Event) -> Outcome<State> {
                    self.on(event, State::s3())
                }

                #[state]
                fn s3(&mut self, event: &Event) -> Outcome<State> {
                    self.on(event, State::s0())
                }
            }

            impl Region {
                fn on(&mut self, event: &Event, target: State) -> Outcome<State> {
                    match event {
                        Event::$step | Event::All => {
                            self.count += 1;
                            Transition(target)
                        }
                        _ => Super,
                    }
                }
            }

            pub(crate) fn leaf(state: &State) -> usize {
                match state {
                    State::S0 {} => 0,
                    State::S1 {} => 1,
                    State::S2 {} => 2,
                    State::S3 {} => 3,
                }
            }
        }
    };
}

region!(p, Step1);
region!(q, Step2);
region!(r, Step3);

use statig::prelude::*;

pub(crate) struct Regions {
    p: StateMachine<p::Region>,
    q: StateMachine<q::Region>,
    r: StateMachine<r::Region>,
}

impl Machine for Regions {
    type Event = Event;

    fn new() -> Self {
        let mut made = Self {
            p: p::Region::default().state_machine(),
            q: q::Region::default().state_machine(),
            r: r::Region::default().state_machine(),
        };
        made.p.init();
        made.q.init();
        made.r.init();
        made
    }

    fn event(code: u8) -> Event {
        [Event::Step1, Event::Step2, Event::Step3, Event::All][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        self.p.handle(event);
        self.q.handle(event);
        self.r.handle(event);
    }

    fn end(&self) -> End {
        let leaf =
            16 * p::leaf(self.p.state()) + 4 * q::leaf(self.q.state()) + r::leaf(self.r.state());
        End { leaf, counters: vec![self.p.count + self.q.count + self.r.count] }
    }
}
