//! The model calls of random charts stay within the bounds of the cost analysis.

use super::random::{self, Random};
use super::{Told, options, talks};
use crate::interpreter::Log;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::cost::{CallBound, Cost, cost};
use chartc_core::arena::{EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Status;
use chartc_core::machine::{Effect, Input, Outcome, Record, StepKey};
use chartc_core::model::{Chart, StepKind};
use chartc_core::plan::Plan;
use std::sync::Arc;

/// The number of generated charts; about every second one compiles.
const CHARTS: u64 = 450;
/// The number of those about questions.
const TALKS: u64 = 300;
/// The number of inputs for each chart.
const INPUTS: usize = 60;

/// The record of the current turn.
struct Turn {
    began: Vec<StateId>,
    calls: u64,
    /// An error occurred, or the run ended: the lower bound does not apply.
    broken: bool,
}

/// Whether the step calls a model during the walk of a turn.
fn in_turn(chart: &Arc<Chart>, key: StepKey) -> bool {
    let step = &chart.steps[key.step.index()];
    step.is_walked() && matches!(step.kind, StepKind::Llm | StepKind::Ask { .. })
}

/// Compares a turn with the bounds of its leaf, and describes a violation.
fn refuted(chart: &Arc<Chart>, found: &Cost, turn: &Turn, ended: bool) -> Option<String> {
    let of = |leaf: &StateId| found.turns.iter().find(|t| t.leaf == *leaf);
    for cost in turn.began.iter().filter_map(of) {
        let path = &chart.state(cost.leaf).path;
        if turn.calls > cost.worst {
            return Some(format!("{} calls from {path}, worst {}", turn.calls, cost.worst));
        }
        if ended && !turn.broken && turn.calls < cost.least {
            return Some(format!("{} calls from {path}, least {}", turn.calls, cost.least));
        }
    }
    None
}

/// Runs the chart; returns the first violation, and counts the turns that reached their upper and lower bounds.
fn play(
    chart: &Arc<Chart>,
    found: &Cost,
    random: &mut Random,
    met: &mut [usize; 3],
) -> Option<String> {
    let plan = Plan::new(chart);
    let told = Told::default();
    let mut machine = Interpreter::new(&plan, told.clone(), []).expect("no params");
    let mut open: Vec<StepKey> = Vec::new();
    let mut turn: Option<Turn> = None;
    let (mut now, mut all) = (0, 0);
    for step in 0..INPUTS {
        for name in ["x", "y"] {
            machine.set_input(name, Value::Bool(random.below(2) == 0)).expect("a declared input");
        }
        machine.set_input("n", Value::Int(random.below(8) as i64)).expect("a declared input");
        told.0.set(random.below(2) == 0);
        let input = match (step, random.below(10)) {
            (0, _) => Input::Start,
            (_, 0..=4) if !open.is_empty() => {
                let key = open.remove(random.below(open.len()));
                let ask = matches!(chart.steps[key.step.index()].kind, StepKind::Ask { .. });
                let outcome = match random.below(4) {
                    0 => Outcome::Failed(vec![Value::Text("down".into())]),
                    _ if ask => options(&mut machine, key, random),
                    _ => Outcome::Done(vec![Value::Text("fine".into())]),
                };
                Input::Answer(key, outcome)
            }
            (_, 0..=6) => Input::Turn,
            (_, 7) => {
                now += 4000;
                Input::Tick
            }
            _ => Input::Event(EventId::at(random.below(chart.events.len())), Vec::new()),
        };
        let before: Vec<StateId> = chart.state_ids().filter(|s| machine.is_active(*s)).collect();
        let begins = matches!(input, Input::Turn);
        let mut log = Log::default();
        if machine.handle(input, now, &mut log).is_err() {
            continue;
        }
        if begins && log.records.iter().any(|r| matches!(r, Record::Turn(_))) {
            turn = Some(Turn { began: before, calls: 0, broken: false });
        }
        for effect in &log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) => {
                    open.push(*key);
                    let turns = in_turn(chart, *key);
                    all += u64::from(turns || matches!(effect, Effect::Ask(_)));
                    turn.iter_mut().filter(|_| turns).for_each(|t| t.calls += 1);
                }
                Effect::Call(key, _) => open.push(*key),
                Effect::Cancel(key) => open.retain(|k| k != key),
                Effect::Ended(_) => {}
            }
        }
        let wrong = |r: &Record| {
            matches!(r, Record::Error(_) | Record::Failed(_) | Record::Ended(_) | Record::Lost(..))
        };
        let broken = log.records.iter().any(wrong);
        if let Some(t) = &mut turn {
            t.broken |= broken;
        }
        let ended = log.records.iter().any(|r| matches!(r, Record::TurnEnded(_)));
        if let Some(t) = &turn {
            if let Some(fault) = refuted(chart, found, t, ended) {
                return Some(format!("{fault}\n{:?}", log.records));
            }
            let of = |leaf: &StateId| found.turns.iter().find(|c| c.leaf == *leaf);
            if ended && let Some(cost) = t.began.iter().find_map(of) {
                met[0] += usize::from(cost.worst > 0 && t.calls == cost.worst);
                met[1] += usize::from(cost.least > 0 && !t.broken && t.calls == cost.least);
            }
        }
        turn = turn.filter(|_| !ended);
        let ok = log.records.contains(&Record::Ended(Status::Ok));
        if ok {
            met[2] += 1;
            let least = found.run.least.as_ref().map(|(calls, _)| *calls);
            if least.is_none_or(|least| all < least) {
                return Some(format!("a run ended ok after {all} calls, least {least:?}"));
            }
        }
        if log.effects.iter().any(|e| matches!(e, Effect::Ended(_))) {
            if found.run.worst == CallBound::NoCalls && all > 0 {
                return Some(format!("{all} calls of a run without any"));
            }
            break;
        }
    }
    None
}

/// Plays charts of a kind; returns how many compile, and how often bounds were met.
fn played(charts: u64, of: fn(&mut Random) -> String) -> (usize, [usize; 3]) {
    let (mut compiled, mut met) = (0, [0; 3]);
    for seed in 1..=charts {
        let mut random = Random::new(seed.wrapping_mul(7919));
        let text = of(&mut random);
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
        let Some(checked) = done.charts.first() else { continue };
        compiled += 1;
        let chart = checked.chart();
        let found = cost(chart, &Facts::new(chart));
        for _ in 0..2 {
            if let Some(fault) = play(chart, &found, &mut random, &mut met) {
                panic!("seed {seed}: {fault}\n{text}");
            }
        }
    }
    (compiled, met)
}

#[test]
fn turns_and_runs_cost_what_is_said() {
    let (compiled, met) = played(test_support::project::cases(CHARTS), random::chart);
    assert!(compiled >= 200, "only {compiled} charts compile");
    assert!(met.iter().all(|n| *n > 5), "bounds that are met: {met:?}");
}

#[test]
fn questions_that_are_put_again_cost_what_is_said() {
    let (compiled, met) = played(test_support::project::cases(TALKS), talks::chart);
    assert!(compiled >= 200, "only {compiled} charts compile");
    assert!(met[0] > 50, "upper bounds that are met: {met:?}");
}
