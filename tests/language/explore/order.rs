//! Lines about the order and the number of what runs do: what is proved of random charts with effects is what trying everything shows, and
//! what is refuted is refuted there, too.

use super::brute::{inputs, plain};
use super::{finite, witness};
use crate::soundness::random::Random;
use crate::soundness::recorder::{Recorder, with_effects};
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Input;
use chartc_core::model::{
    Chart, CheckArgument, ChoiceKind, ExprKind, StateKind, StepKind, Subject,
};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Charts that are tried; `CHARTC_CASES` says otherwise.
const CHARTS: u64 = 24;

/// Points beyond which a chart is left out.
const MOST: usize = 120;

/// The lines of each chart.
const LINES: usize = 12;

/// A step of a run: from a point, or from the start with this `lim`, to another; and what it did.
struct Step {
    from: Result<usize, i64>,
    to: usize,
    done: Vec<Subject>,
}

/// Every step of every run in which the effects of one input all succeed or all fail. `None` where that is too much.
fn all(chart: &Arc<Chart>) -> Option<Vec<Step>> {
    let plan = Plan::new(chart);
    let mut host = Recorder::new(chart);
    let mut steps = Vec::new();
    let mut points: Vec<(Saved, bool)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut put = |machine: &Interpreter<Recorder>, points: &mut Vec<(Saved, bool)>| {
        let snapshot = machine.save().expect("it can be saved");
        *known.entry(plain(&plan, &snapshot)).or_insert_with(|| {
            points.push((snapshot, machine.ended().is_some()));
            points.len() - 1
        })
    };
    for works in [true, false] {
        host.works.set(works);
        for lim in 1..=2 {
            let given = [("lim".to_owned(), Value::Int(lim))];
            let mut machine = Interpreter::new(&plan, host.clone(), given).expect("in its range");
            machine.handle(Input::Start, 0, &mut host).expect("it starts");
            let to = put(&machine, &mut points);
            steps.push(Step { from: Err(lim), to, done: host.done.take() });
        }
    }
    let mut at = 0;
    while at < points.len() {
        if points.len() > MOST {
            return None;
        }
        let (snapshot, ended) = points[at].clone();
        let again = || Interpreter::resume(&plan, [], host.clone(), &snapshot).expect("it was one");
        let count = if ended { 0 } else { inputs(chart, &mut again()).len() };
        for nth in 0..2 * count {
            let mut machine = again();
            let (input, now) = inputs(chart, &mut machine).swap_remove(nth / 2);
            host.works.set(nth % 2 == 0);
            host.done.take();
            machine.handle(input, now, &mut host.clone()).expect("it fits");
            let to = put(&machine, &mut points);
            steps.push(Step { from: Ok(at), to, done: host.done.take() });
        }
        at += 1;
    }
    Some(steps)
}

/// Whether some run is against the line.
fn is_refuted(steps: &[Step], argument: &CheckArgument) -> bool {
    let (what, until) = match argument {
        CheckArgument::Unless(what, until) => (what, Some(until)),
        CheckArgument::AtMost(what, _) => (what, None),
        other => panic!("{other:?} is no line of these"),
    };
    let allowed = |lim: i64| match argument {
        CheckArgument::AtMost(_, most) => match &most.kind {
            ExprKind::Int(n) => *n,
            _ => lim,
        },
        _ => 0,
    };
    let mut from: BTreeMap<usize, Vec<&Step>> = BTreeMap::new();
    for step in steps {
        if let Ok(point) = step.from {
            from.entry(point).or_default().push(step);
        }
    }
    let starts = steps.iter().filter_map(|step| Some((step, allowed(step.from.err()?))));
    let mut open: Vec<(&Step, i64)> = starts.collect();
    let mut known: BTreeSet<(usize, i64)> = BTreeSet::new();
    while let Some((step, mut left)) = open.pop() {
        let mut is_over = false;
        for done in &step.done {
            if done == what {
                left -= 1;
                if left < 0 {
                    return true;
                }
            } else if Some(done) == until {
                is_over = true;
                break;
            }
        }
        if !is_over && known.insert((step.to, left)) {
            open.extend(from.get(&step.to).into_iter().flatten().map(|next| (*next, left)));
        }
    }
    false
}

/// The names of what runs may do, as `check` lines name it.
fn names(chart: &Chart) -> Vec<String> {
    let states = chart.states[1..].iter();
    let states = states.filter(|state| !matches!(state.kind, StateKind::History { .. }));
    let steps = chart.steps.iter().filter(|step| !matches!(step.kind, StepKind::Ask { .. }));
    let options = chart.choices.iter().filter(|c| matches!(c.kind, ChoiceKind::Option(_)));
    let mut names: Vec<String> = states.map(|state| state.path.clone()).collect();
    names.extend(steps.map(|step| step.name.clone()));
    names.extend(options.map(|choice| choice.name.clone()));
    names.extend(["event a", "event b", "event d", "look"].map(str::to_owned));
    // What the lines are for.
    names.extend(std::iter::repeat_n(["pay", "note"].map(str::to_owned), 4).flatten());
    names
}

#[test]
fn lines_are_decided_as_trying_everything_shows() {
    let charts = test_support::project::cases(CHARTS);
    // Proved by structure, proved by search, refuted; of lines with `unless` and with `at most`.
    let (mut tried, mut claims) = (0, [[0; 3]; 2]);
    for seed in 1..=charts {
        let mut random = Random::new(seed.wrapping_mul(7_919));
        let text = finite::chart(&mut random);
        let text = with_effects(&mut random, &text);
        let compile = |text: &str| {
            let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", text), 0);
            let found = done.diagnostics.iter().map(|d| format!("{} {}", d.rule.code, d.message));
            let first = done.charts.first().map(|checked| checked.chart().clone());
            first.ok_or_else(|| found.collect::<Vec<_>>().join("\n"))
        };
        let first = compile(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let names = names(&first);
        let mut lines = String::new();
        for _ in 0..LINES {
            let (what, until) = (random.pick(&names), random.pick(&names));
            let _ = match random.below(3) {
                0 => writeln!(
                    lines,
                    "  check {what} at most {}",
                    random.pick(&["0", "1", "2", "lim"])
                ),
                1 => writeln!(lines, "  check {until} before {what}"),
                _ => writeln!(lines, "  check never({what} unless {until})"),
            };
        }
        let text = format!("{}\n{lines}}}\n", text.trim_end().trim_end_matches('}'));
        let chart = compile(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let Some(steps) = all(&chart) else { continue };
        tried += 1;
        let facts = Facts::new(&chart);
        let (verdicts, _) = Properties::new(&chart, &facts, 500).decide_all();
        for (check, verdict) in chart.checks.iter().zip(&verdicts) {
            let argument = &check.arguments[0];
            let case = || format!("seed {seed}: {argument:?}: {verdict:?}\n{text}");
            let is_refuted = is_refuted(&steps, argument);
            let by_structure = Properties::new(&chart, &facts, 0).decide(check);
            let row = &mut claims[usize::from(matches!(argument, CheckArgument::AtMost(..)))];
            if matches!(by_structure, Verdict::Holds) {
                assert!(!is_refuted, "by structure, {}", case());
                row[0] += 1;
            } else if matches!(verdict, Verdict::Holds) {
                assert!(!is_refuted, "{}", case());
                row[1] += 1;
            }
            if matches!(verdict, Verdict::Refuted(..)) {
                row[2] += 1;
            }
        }
        witness::check(&chart, &text, 500);
    }
    println!("{tried} of {charts} charts; by structure, by search, refuted: {claims:?}");
    assert!(claims.iter().flatten().all(|n| *n > 5), "too little is decided: {claims:?}");
}
