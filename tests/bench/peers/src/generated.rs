//! What chartc generates from the charts in `tests/bench/charts`, driven as a host drives it.

use crate::machine::{End, Machine};
use chartc_core::machine::{Effect, Record, Sink};

chartc_core::include_chart!(mod ring);
chartc_core::include_chart!(mod hierarchy);
chartc_core::include_chart!(mod parallel);
chartc_core::include_chart!(mod table);

/// A host that wants to know nothing.
pub(crate) struct Quiet;

impl Sink for Quiet {
    fn effect(&mut self, _: Effect) {}
    fn record(&mut self, _: Record) {}
}

macro_rules! generated {
    ($name:ident: $module:ident, [$($event:ident)*], [$($variable:ident)*], $leaf:expr) => {
        pub(crate) struct $name($module::Machine<()>);

        impl Machine for $name {
            type Event = $module::Event;

            fn new() -> Self {
                let made = $module::Machine::new($module::Params::new(), ());
                let Ok(mut machine) = made else { panic!("it has no params") };
                machine.start(0, &mut Quiet);
                Self(machine)
            }

            fn event(code: u8) -> $module::Event {
                [$($module::Event::$event),*][code as usize].clone()
            }

            fn handle(&mut self, event: &$module::Event) {
                self.0.send(event.clone(), 0, &mut Quiet);
            }

            fn end(&self) -> End {
                let leaf: fn(&$module::Machine<()>) -> usize = $leaf;
                End { leaf: leaf(&self.0), counters: vec![$(self.0.data().$variable),*] }
            }
        }
    };
}

generated!(Ring: ring, [Next Prev Skip Reset], [fuel count], |machine| {
    active(&ring::State::ALL, |state| machine.is_in(state))
});
generated!(
    Hierarchy: hierarchy,
    [Tick Next Switch Halt],
    [count local entered left],
    |machine| {
        use hierarchy::State::{RAA1, RAA2, RAA3, RBB1, RBB2, RBB3, RCC1, RD};
        active(&[RAA1, RAA2, RAA3, RBB1, RBB2, RBB3, RCC1, RD], |state| machine.is_in(state))
    }
);
generated!(Regions: parallel, [Step1 Step2 Step3 All], [count], |machine| {
    use parallel::State::*;
    let p = active(&[MPP0, MPP1, MPP2, MPP3], |state| machine.is_in(state));
    let q = active(&[MQQ0, MQQ1, MQQ2, MQQ3], |state| machine.is_in(state));
    let r = active(&[MRR0, MRR1, MRR2, MRR3], |state| machine.is_in(state));
    16 * p + 4 * q + r
});
generated!(
    Table: table,
    [E0 E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14 E15],
    [],
    |machine| active(&table::State::ALL, |state| machine.is_in(state))
);

/// The number of the one that is.
fn active<S: Copy>(states: &[S], is_in: impl Fn(S) -> bool) -> usize {
    states.iter().position(|state| is_in(*state)).expect("a leaf is active")
}
