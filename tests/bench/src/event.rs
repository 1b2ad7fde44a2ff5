//! What an event costs the interpreter in a synthetic chart.

use crate::scale::{median, timed};
use chartc::load::Memory;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Instant, Record, Sink};
use chartc_core::plan::Plan;
use std::time::Duration;

/// Events in a measurement.
const EVENTS: usize = 20_000;
const ROUNDS: usize = 7;

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no {function}"))
    }
}

struct Quiet;

impl Sink for Quiet {
    fn effect(&mut self, _: Effect) {}
    fn record(&mut self, _: Record) {}
}

/// One run, from the start of the machine to its end: what it is given, and when.
type Run = Vec<(Input<Vec<Value>>, Instant)>;

/// Nanoseconds for an event that some active state handles, or for a deadline. Those are chosen before the clock is read.
pub(crate) fn cost(text: &str) -> f64 {
    let checked = crate::emitter::checked(&Memory::of("synthetic.chart", text));
    let plan = Plan::new(checked.charts[0].chart());
    let runs = chosen(&plan);
    let count: usize = runs.iter().map(Vec::len).sum();
    let time = median((0..ROUNDS).map(|_| driven(&plan, &runs)).collect());
    time.as_secs_f64() * 1e9 / count as f64
}

fn started(plan: &Plan) -> Interpreter<NoHost> {
    let made = Interpreter::new(plan, NoHost, []);
    let Ok(mut machine) = made else { panic!("it has no params") };
    machine.handle(Input::Start, 0, &mut Quiet).expect("nothing is given");
    machine
}

/// Of the events that are enabled one after the other, and every eighth time the next deadline.
fn chosen(plan: &Plan) -> Vec<Run> {
    let fields = |event: EventId| plan.chart().events[event.index()].fields.len();
    let (mut runs, mut run, mut machine, mut now) = (Vec::new(), Run::new(), started(plan), 0);
    for turn in 0..EVENTS {
        let enabled = machine.enabled_events();
        let input = match (enabled.get(turn % enabled.len().max(1)), machine.next_deadline()) {
            (_, Some(due)) if turn % 8 == 7 => {
                now = now.max(due);
                Input::Tick
            }
            (Some(event), _) => {
                let amounts = vec![Value::Int((turn * 7 % 120) as i64); fields(*event)];
                Input::Event(*event, amounts)
            }
            (None, _) => Input::Tick,
        };
        machine.handle(input.clone(), now, &mut Quiet).expect("the data fit");
        run.push((input, now));
        if machine.ended().is_some() {
            runs.push(std::mem::take(&mut run));
            (machine, now) = (started(plan), 0);
        }
    }
    runs.push(run);
    runs
}

/// The time of all inputs, without those of starting.
fn driven(plan: &Plan, runs: &[Run]) -> Duration {
    let mut sum = Duration::ZERO;
    for run in runs {
        let mut machine = started(plan);
        let inputs = run.clone();
        let (time, ()) = timed(|| {
            for (input, now) in inputs {
                let done = machine.handle(input, now, &mut Quiet);
                debug_assert!(done.is_ok(), "they fitted before");
            }
        });
        sum += time;
    }
    sum
}
