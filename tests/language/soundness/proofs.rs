//! What structure and limits prove of random charts holds in their runs.

use super::options;
use super::random::{self, Random};
use super::recorder::{Recorder, with_effects};
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::cost::{cost, last_turn};
use chartc_compiler::explore::property::{Properties, Verdict};
use chartc_core::arena::{EventId, FunctionId, StateId, StepId, ToolId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Record, StepKey};
use chartc_core::model::{
    Chart, Check, CheckArgument, Expr, ExprKind, FunctionKind, StepKind, Subject, Type,
};
use chartc_core::plan::Plan;
use std::sync::Arc;

/// Charts that are tried; `CHARTC_CASES` says otherwise.
const CHARTS: u64 = 200;
/// The runs of each chart, and their inputs.
const RUNS: usize = 4;
const INPUTS: usize = 40;
/// The pairs of what runs do that are tried.
const PAIRS: usize = 60;
/// The greatest bound that is tried.
const MOST_TIMES: usize = 3;

/// What is proved of a chart.
struct Proved {
    /// What runs do, with what every run does before.
    before: Vec<(Subject, Subject)>,
    /// What runs do, with how often at most.
    most: Vec<(Subject, usize)>,
    /// States in which no tool is called.
    quiet: Vec<StateId>,
    turns: Option<u64>,
    calls: Option<u64>,
}

impl Proved {
    fn of(chart: &Arc<Chart>, random: &mut Random) -> Self {
        let facts = Facts::new(chart);
        let mut properties = Properties::new(chart, &facts, 0);
        let mut holds = |name: &str, argument| {
            let check = Check { name: name.into(), arguments: vec![argument], given: Vec::new() };
            matches!(properties.decide(&check), Verdict::Holds)
        };
        let states = || chart.state_ids().skip(1);
        let all = subjects(chart);
        let pairs: Vec<_> =
            (0..PAIRS).map(|_| (random.pick(&all).clone(), random.pick(&all).clone())).collect();
        let unless = |(a, b): &(Subject, Subject)| CheckArgument::Unless(a.clone(), b.clone());
        let before = pairs.into_iter().filter(|pair| holds("never", unless(pair))).collect();
        // Effects are called in several places, so several times.
        let effects = all.iter().filter(|what| matches!(what, Subject::Effect(_)));
        let effects = std::iter::repeat_n(effects.cloned().collect::<Vec<_>>(), all.len());
        let counted: Vec<Subject> = effects.flatten().chain(all.clone()).collect();
        let counts: Vec<_> = (0..PAIRS / 2)
            .map(|_| (random.pick(&counted).clone(), random.below(MOST_TIMES + 1)))
            .collect();
        let bound = |n: usize| Expr { kind: ExprKind::Int(n as i64), ty: Type::Int };
        let at_most = |(what, n): &(Subject, usize)| CheckArgument::AtMost(what.clone(), bound(*n));
        let most = counts.into_iter().filter(|row| holds("at_most", at_most(row))).collect();
        let quiet = states().filter(|s| holds("no_call", CheckArgument::State(*s))).collect();
        let calls = cost(chart, &facts).run.worst.calls();
        Self { before, most, quiet, turns: last_turn(chart, &facts), calls }
    }
}

/// Everything of the chart that `check` lines may name, without the event that questions wait for.
fn subjects(chart: &Chart) -> Vec<Subject> {
    let states = chart.state_ids().skip(1).map(Subject::State);
    let effects = chart.functions.iter().enumerate();
    let effects = effects.filter(|(_, row)| row.kind == FunctionKind::Effect);
    let effects = effects.map(|(i, _)| Subject::Effect(FunctionId::at(i)));
    let tools = (0..chart.tools.len()).map(|i| Subject::Tool(ToolId::at(i)));
    let steps = chart.steps.iter().enumerate();
    let steps = steps.filter(|(_, step)| !matches!(step.kind, StepKind::Ask { .. }));
    let steps = steps.map(|(i, _)| Subject::Step(StepId::at(i)));
    let options = chart.choices.iter().map(|choice| Subject::Option(choice.name.clone()));
    let events = chart.events.iter().enumerate().filter(|(_, event)| event.name != "c");
    let events = events.map(|(i, _)| Subject::Event(EventId::at(i)));
    states.chain(effects).chain(tools).chain(steps).chain(options).chain(events).collect()
}

/// Runs a chart, and returns what contradicts a proof; `met` counts what was done behind what comes before, and what was done as often as
/// is permitted.
fn play(
    chart: &Arc<Chart>,
    proved: &Proved,
    random: &mut Random,
    met: &mut [usize; 4],
) -> Option<String> {
    let plan = Plan::new(chart);
    let mut told = Recorder::new(chart);
    let mut machine = Interpreter::new(&plan, told.clone(), []).expect("no params");
    let mut open: Vec<StepKey> = Vec::new();
    // What was done, with how often.
    let mut done: Vec<(Subject, usize)> = Vec::new();
    let (mut now, mut calls) = (0, 0);
    for nth in 0..INPUTS {
        for name in ["x", "y"] {
            machine.set_input(name, Value::Bool(random.below(2) == 0)).expect("a declared input");
        }
        machine.set_input("n", Value::Int(random.below(8) as i64)).expect("a declared input");
        told.works.set(random.below(2) == 0);
        let input = match (nth, random.below(10)) {
            (0, _) => Input::Start,
            (_, 0..=4) if !open.is_empty() => {
                let key = open.remove(random.below(open.len()));
                let ask = matches!(chart.steps[key.step.index()].kind, StepKind::Ask { .. });
                let tools: Vec<_> = machine.step_tools(key).into_iter().collect();
                let outcome = match random.below(5) {
                    0 => Outcome::Failed(vec![Value::Text("down".into())]),
                    _ if ask => options(&mut machine, key, random),
                    1 | 2 if !tools.is_empty() => Outcome::Call(*random.pick(&tools), Vec::new()),
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
        let is_accepted = machine.handle(input, now, &mut told).is_ok();
        let log = told.log.take();
        let news = told.done.take();
        if !is_accepted {
            continue;
        }
        for new in &news {
            let nth = done.iter().position(|(one, _)| one == new);
            // A livelock does the same things thousands of times.
            if nth.is_some_and(|nth| done[nth].1 > MOST_TIMES) {
                continue;
            }
            for (_, then) in proved.before.iter().filter(|(first, _)| first == new) {
                if !done.iter().any(|(one, _)| one == then) {
                    return Some(format!("{new:?} before {then:?}\n{:?}\n{news:?}", log.records));
                }
                met[0] += 1;
            }
            let nth = nth.unwrap_or_else(|| {
                done.push((new.clone(), 0));
                done.len() - 1
            });
            done[nth].1 += 1;
            let times = done[nth].1;
            for (_, most) in proved.most.iter().filter(|(what, _)| what == new) {
                if times > *most {
                    return Some(format!("{new:?} more than {most} times\n{news:?}"));
                }
                met[3] += usize::from(times == *most && !matches!(new, Subject::State(_)));
            }
        }
        for effect in &log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => open.push(*key),
                Effect::Cancel(key) => open.retain(|k| k != key),
                Effect::Ended(_) => {}
            }
        }
        for record in &log.records {
            match record {
                Record::Called(key, ..) => {
                    let quiet = proved.quiet.iter().find(|s| chart.contains(**s, key.leaf));
                    if let Some(quiet) = quiet {
                        return Some(format!("a call in {quiet:?}\n{:?}", log.records));
                    }
                }
                Record::Started(key) => {
                    let kind = &chart.steps[key.step.index()].kind;
                    calls += u64::from(matches!(kind, StepKind::Llm | StepKind::Ask { .. }));
                    met[1] += usize::from(proved.calls == Some(calls));
                    if proved.calls.is_some_and(|most| calls > most) {
                        return Some(format!("{calls} calls, at most {:?}", proved.calls));
                    }
                }
                _ => {}
            }
        }
        let turns = u64::from(machine.standing().turns);
        let over = machine.ended().is_some();
        met[2] += usize::from(over && proved.turns == Some(turns));
        if !over && proved.turns.is_some_and(|most| turns >= most) {
            return Some(format!("it goes on after {turns} turns"));
        }
        if over {
            break;
        }
    }
    None
}

#[test]
fn no_run_contradicts_a_proof() {
    let (mut compiled, mut met) = (0, [0; 4]);
    for seed in 1..=test_support::project::cases(CHARTS) {
        let mut random = Random::new(seed.wrapping_mul(104_729));
        let mut text = random::chart(&mut random);
        let limits = match random.below(4) {
            0 => "  limits { turns 3 }\n  event a ",
            1 => "  limits { calls 2 }\n  event a ",
            2 => {
                "  limits { turns 2 calls 3 }\n  on limit.turns -> s1\n  on limit.calls -> s1\n  event a "
            }
            _ => "  event a ",
        };
        text = with_effects(&mut random, &text);
        text = text.replacen("  event a ", limits, 1);
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let Some(checked) = done.charts.first() else { continue };
        compiled += 1;
        let proved = Proved::of(checked.chart(), &mut random);
        for _ in 0..RUNS {
            if let Some(fault) = play(checked.chart(), &proved, &mut random, &mut met) {
                panic!("seed {seed}: {fault}\n{text}");
            }
        }
    }
    println!("{compiled} charts; done behind another, most calls, last turn, most times: {met:?}");
    assert!(compiled >= 60, "only {compiled} charts compile");
    assert!(met.iter().all(|n| *n > 3), "proofs that runs come to: {met:?}");
}
