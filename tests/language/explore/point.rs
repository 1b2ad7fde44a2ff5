//! A machine that goes back to a point goes on from there as it did before.

use crate::soundness::random::{self, Random};
use chartc::load::Memory;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Outcome};
use chartc_core::plan::Plan;

struct True;

impl Host for True {
    fn call(&mut self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(Value::Bool(true))
    }
}

fn inputs(machine: &mut Interpreter<True>, random: &mut Random, count: usize) {
    let mut now = machine.standing().now;
    for _ in 0..count {
        let open = machine.pending();
        let input = match random.below(5) {
            0 => Input::Turn,
            1 => {
                now += 3000;
                Input::Tick
            }
            2 if !open.is_empty() => {
                let key = open[random.below(open.len())];
                Input::Answer(key, Outcome::Failed(vec![Value::Text("down".into())]))
            }
            _ => Input::Event(EventId::at(random.below(5)), Vec::new()),
        };
        machine.handle(input, now, &mut ()).expect("it fits");
    }
}

#[test]
fn a_machine_goes_on_from_a_point_as_before() {
    let mut seen = 0;
    for seed in 1..=25 {
        let text = random::chart(&mut Random::new(seed));
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let Some(checked) = done.charts.first() else { continue };
        let plan = Plan::new(checked.chart());
        let mut machine = Interpreter::new(&plan, True, []).expect("no params");
        machine.handle(Input::Start, 0, &mut ()).expect("it starts");
        inputs(&mut machine, &mut Random::new(seed), 5);
        let (point, there) = (machine.point(), machine.save());
        inputs(&mut machine, &mut Random::new(seed + 100), 12);
        let (first, moved) = (machine.save(), machine.save() != there);
        seen += usize::from(moved);
        machine.go_to(&point);
        assert_eq!(machine.save(), there, "{text}");
        inputs(&mut machine, &mut Random::new(seed + 100), 12);
        assert_eq!(machine.save(), first, "{text}");
    }
    assert!(seen > 5, "only {seen} of the runs went anywhere");
}
