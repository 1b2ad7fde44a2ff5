//! The same charts, run by the interpreter.

use crate::generated::Quiet;
use crate::machine::{End, Machine};
use chartc::load::Memory;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine as _};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Input;
use chartc_core::model::StateKind;
use chartc_core::plan::Plan;
use std::sync::OnceLock;

/// The charts call nothing.
pub(crate) struct NoHost;

impl Host for NoHost {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no {function}"))
    }
}

/// The plan of the one chart in a text, for as long as the program runs.
pub(crate) fn plan(text: &str) -> Plan {
    let path = "machine.chart";
    let checked = chartc::check(&[path.to_owned()], &Memory::of(path, text));
    let chart = checked.charts.first().expect("the chart is sound").chart();
    Plan::new(&chart.clone())
}

macro_rules! interpreted {
    ($name:ident, $file:literal) => {
        pub(crate) struct $name(Interpreter<NoHost>);

        impl $name {
            fn plan() -> &'static Plan {
                static PLAN: OnceLock<Plan> = OnceLock::new();
                PLAN.get_or_init(|| plan(include_str!(concat!("../../charts/", $file))))
            }
        }

        impl Machine for $name {
            type Event = EventId;

            fn new() -> Self {
                let made = Interpreter::new(Self::plan(), NoHost, []);
                let Ok(mut machine) = made else { panic!("it has no params") };
                machine.handle(Input::Start, 0, &mut Quiet).expect("nothing is given");
                Self(machine)
            }

            fn event(code: u8) -> EventId {
                EventId(code.into())
            }

            fn handle(&mut self, event: &EventId) {
                let done = self.0.handle(Input::Event(*event, Vec::new()), 0, &mut Quiet);
                debug_assert!(done.is_ok(), "events have no data");
            }

            fn end(&self) -> End {
                end(Self::plan(), &self.0)
            }
        }
    };
}

interpreted!(Ring, "ring.chart");
interpreted!(Hierarchy, "hierarchy.chart");
interpreted!(Regions, "parallel.chart");
interpreted!(Table, "table.chart");

/// Leaves are counted where they stand; of several regions of four each, as the digits of a number.
fn end(plan: &Plan, machine: &Interpreter<NoHost>) -> End {
    let states = &plan.chart().states;
    let leaves: Vec<_> =
        (0..states.len()).filter(|i| matches!(states[*i].kind, StateKind::Atomic)).collect();
    let at = machine.leaves().into_iter().map(|leaf| {
        leaves.iter().position(|other| *other == leaf.index()).expect("leaves are atomic")
    });
    let at: Vec<usize> = at.collect();
    let leaf = match at.as_slice() {
        [one] => *one,
        several => several.iter().fold(0, |sum, at| 4 * sum + at % 4),
    };
    let counters = machine.variables().into_iter().map(|(name, value)| {
        let Value::Int(number) = value else { panic!("{name} is no number: {value:?}") };
        number
    });
    End { leaf, counters: counters.collect() }
}
