//! Three regions: a machine for each.

use crate::machine::{End, Machine};

macro_rules! region {
    ($region:ident, $step:ident) => {
        mod $region {
            use smlang::statemachine;

            statemachine! {
                derive_states: [Debug, Clone, Copy],
                derive_events: [Debug, Clone, Copy],
                transitions: {
                    *S0 + $step / count = S1,
                    S1 + $step / count = S2,
                    S2 + $step / count = S3,
                    S3 + $step / count = S0,
                    S0 + All / count = S1,
                    S1 + All / count = S2,
                    S2 + All / count = S3,
                    S3 + All / count = S0,
                }
            }

            #[derive(Default)]
            pub(crate) struct Context {
                pub(crate) count: i64,
            }

            impl StateMachineContext for Context {
                fn count(&mut self) -> Result<(), ()> {
                    self.count += 1;
                    Ok(())
                }
            }

            pub(crate) fn leaf(state: States) -> usize {
                match state {
                    States::S0 => 0,
                    States::S1 => 1,
                    States::S2 => 2,
                    States::S3 => 3,
                }
            }
        }
    };
}

region!(p, Step1);
region!(q, Step2);
region!(r, Step3);

/// What each of the machines knows of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Step1,
    Step2,
    Step3,
    All,
}

pub(crate) struct Regions {
    p: p::StateMachine<p::Context>,
    q: q::StateMachine<q::Context>,
    r: r::StateMachine<r::Context>,
}

impl Machine for Regions {
    type Event = Event;

    fn new() -> Self {
        Self {
            p: p::StateMachine::new(p::Context::default()),
            q: q::StateMachine::new(q::Context::default()),
            r: r::StateMachine::new(r::Context::default()),
        }
    }

    fn event(code: u8) -> Event {
        [Event::Step1, Event::Step2, Event::Step3, Event::All][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        // A machine's events are those of its own lines.
        match event {
            Event::Step1 => drop(self.p.process_event(p::Events::Step1)),
            Event::Step2 => drop(self.q.process_event(q::Events::Step2)),
            Event::Step3 => drop(self.r.process_event(r::Events::Step3)),
            Event::All => {
                let _ = self.p.process_event(p::Events::All);
                let _ = self.q.process_event(q::Events::All);
                let _ = self.r.process_event(r::Events::All);
            }
        }
    }

    fn end(&self) -> End {
        let leaf =
            16 * p::leaf(*self.p.state()) + 4 * q::leaf(*self.q.state()) + r::leaf(*self.r.state());
        let count = self.p.context().count + self.q.context().count + self.r.context().count;
        End { leaf, counters: vec![count] }
    }
}
