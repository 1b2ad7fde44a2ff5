//! Every run that refutes a `check` line is played by what `chartc simulate` plays with, and is seen to refute it.

use crate::soundness::random::{self, Random};
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::Runs;
use chartc_compiler::explore::property::Verdict;
use chartc_compiler::explore::witness::Witness;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, CheckArgument, Expr, ExprKind, StepKind, Subject};
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::data::entries;
use chartc_runtime::oracle::Script;
use chartc_runtime::simulate::{Simulation, simulate};
use chartc_runtime::trace::{Line, What};
use std::fmt::Write;
use std::sync::Arc;

/// Random charts that are tried.
const CHARTS: u64 = 16;

/// What `chartc simulate` makes of the files of a witness.
fn play(chart: &Arc<Chart>, witness: &Witness) -> Result<(Simulation, Vec<What>), String> {
    let script = witness.script();
    let host = if script.is_empty() {
        Script::empty()
    } else {
        Script::parse("script", &script, Arc::new(VirtualClock::new()))
            .map_err(|why| why.to_string())?
    };
    let plan = Plan::new(chart);
    let machine =
        Interpreter::new(&plan, host, witness.params.clone()).map_err(|why| why.to_string())?;
    let entries = entries(&witness.events()).map_err(|why| why.to_string())?;
    let inputs = witness.inputs.iter().cloned().collect();
    let mut lines: Vec<Line> = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let seen = runtime
        .block_on(simulate(machine, &inputs, &entries, &mut lines))
        .map_err(|why| why.to_string())?;
    Ok((seen, lines.into_iter().map(|line| line.what).collect()))
}

fn number(expr: &Expr, witness: &Witness) -> i64 {
    match &expr.kind {
        ExprKind::Int(n) => *n,
        ExprKind::Binary(_, a, b) => number(a, witness) + number(b, witness),
        ExprKind::Variable(_) => match witness.params.first() {
            Some((_, chartc_core::expr::Value::Int(n))) => *n,
            other => panic!("{other:?} is no number"),
        },
        other => panic!("{other:?} is no bound of a test"),
    }
}

/// Whether the trace says here that the run does something that a `check` line names.
fn is_done(chart: &Chart, line: &What, subject: &Subject) -> bool {
    match (line, subject) {
        (What::Entered { state }, Subject::State(id)) => chart.state(*id).path == *state,
        (What::Note { text, .. }, Subject::Effect(id)) => {
            text.starts_with(&format!("{}(", chart.functions[id.index()].name))
        }
        (What::Called { tool, .. }, Subject::Tool(id)) => chart.tools[id.index()].name == *tool,
        (What::Started { step, .. } | What::Retried { step, .. }, Subject::Tool(id)) => {
            let row = chart.steps.iter().find(|row| row.name == *step);
            row.is_some_and(|row| matches!(row.kind, StepKind::Call(tool, _) if tool == *id))
        }
        (What::Done { step, element: None }, Subject::Step(id)) => {
            chart.steps[id.index()].name == *step
        }
        (What::Chosen { option } | What::Unasked { option }, Subject::Option(name)) => {
            option == name
        }
        (What::Taken { line, .. }, Subject::Event(id)) => {
            let event = &chart.events[id.index()].name;
            line.trigger == format!("on {event}")
                || line.trigger.starts_with(&format!("on {event}("))
        }
        _ => false,
    }
}

/// Whether what was played is against the check.
fn refutes(
    chart: &Arc<Chart>,
    nth: usize,
    witness: &Witness,
    seen: &Simulation,
    lines: &[What],
) -> bool {
    let path = |id: &chartc_core::arena::StateId| chart.state(*id).path.as_str();
    let inside = |outer: &str, inner: &str| {
        inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
    };
    let check = &chart.checks[nth];
    match (check.name.as_str(), &check.arguments[..]) {
        ("never", [CheckArgument::Unless(a, b)]) => {
            let mut first =
                lines.iter().filter(|line| [a, b].iter().any(|s| is_done(chart, line, s)));
            first.next().is_some_and(|line| is_done(chart, line, a))
        }
        ("at_most", [CheckArgument::AtMost(a, most)]) => {
            let count = lines.iter().filter(|line| is_done(chart, line, a)).count();
            count as i64 > number(most, witness)
        }
        ("no_call", [CheckArgument::State(s)]) => lines.iter().any(|line| match line {
            What::Called { state, .. } => inside(path(s), state),
            What::Started { step, state, .. } => {
                let row = chart.steps.iter().find(|row| row.name == *step);
                row.is_some_and(|row| matches!(row.kind, StepKind::Call(..)))
                    && inside(path(s), state)
            }
            _ => false,
        }),
        ("ends_within", [CheckArgument::Bound(bound, _)]) => {
            let turns = lines.iter().filter(|line| matches!(line, What::TurnEnded { .. })).count();
            turns as i64 >= number(bound, witness) && seen.status.is_none()
        }
        ("at_most", [CheckArgument::Bound(bound, _)]) => {
            let model = |step: &str| {
                let row = chart.steps.iter().find(|row| row.name == step);
                row.is_some_and(|row| matches!(row.kind, StepKind::Llm | StepKind::Ask { .. }))
            };
            let calls = lines.iter().filter(|line| match line {
                What::Started { step, .. } | What::Retried { step, .. } => model(step),
                _ => false,
            });
            calls.count() as i64 > number(bound, witness)
        }
        ("always_reaches", [CheckArgument::State(s)]) => {
            let last = seen.paths.last().expect("the start is one");
            seen.status.is_none() && !last.iter().any(|leaf| inside(path(s), leaf))
        }
        other => panic!("{other:?} has no witness"),
    }
}

/// Plays what refutes the checks of a chart, among so many states; how many there are.
pub(super) fn check(chart: &Arc<Chart>, text: &str, states: usize) -> usize {
    let runs = Runs::new(chart, &Facts::new(chart), states);
    let mut refuted = 0;
    for (nth, verdict) in runs.checks.iter().enumerate() {
        let Verdict::Refuted(witness, _) = verdict else { continue };
        refuted += 1;
        let name = &chart.checks[nth].name;
        let told = format!("{name}\n{}\n{}\n{text}", witness.steps.join("\n"), witness.events());
        let (seen, lines) = play(chart, witness).unwrap_or_else(|why| panic!("{why}\n{told}"));
        for (step, leaves) in witness.steps.iter().zip(&seen.paths) {
            let place: Vec<String> = leaves.iter().map(|leaf| format!("`{leaf}`")).collect();
            let (_, there) = step.rsplit_once(" → ").expect("a step leads somewhere");
            let there = there.split(", ended").next().unwrap_or_default();
            assert_eq!(there, place.join(" "), "{step}\n{told}");
        }
        assert!(refutes(chart, nth, witness, &seen, &lines), "it is not seen: {lines:?}\n{told}");
    }
    refuted
}

fn sound(text: &str) -> Option<Arc<Chart>> {
    let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", text), 0);
    done.charts.first().map(|checked| checked.chart().clone())
}

#[test]
fn every_kind_of_check_is_refuted_by_a_run_that_plays() {
    let text = include_str!("refuted.chart");
    let mut refuted = 0;
    for part in text.split("\n---\n") {
        let chart = sound(part).unwrap_or_else(|| panic!("this does not compile:\n{part}"));
        let checks = chart.checks.len();
        assert_eq!(check(&chart, part, 2000), checks, "some check is not refuted:\n{part}");
        refuted += checks;
    }
    assert!(refuted > 10);
}

#[test]
fn runs_of_random_charts_play() {
    let (mut compiled, mut refuted) = (0, 0);
    for seed in 1..=CHARTS {
        let mut random = Random::new(seed);
        let text = random::chart(&mut random);
        let Some(first) = sound(&text) else { continue };
        compiled += 1;
        let mut lines = String::from("  check ends_within(2 turns)\n  check at_most(1 calls)\n");
        let states: Vec<&str> = first.states[1..]
            .iter()
            .filter(|s| !matches!(s.kind, chartc_core::model::StateKind::History { .. }))
            .map(|s| s.path.as_str())
            .collect();
        for _ in 0..3 {
            let (a, b) = (states[random.below(states.len())], states[random.below(states.len())]);
            let _ = writeln!(lines, "  check always_reaches({a})\n  check never({a} before {b})");
        }
        let text = format!("{}\n{lines}}}\n", text.trim_end().trim_end_matches('}'));
        let chart = sound(&text).unwrap_or_else(|| panic!("the checks do not compile:\n{text}"));
        refuted += check(&chart, &text, 40);
    }
    assert!(refuted > 3 && compiled > 5, "{refuted} runs of {compiled} charts");
}

#[test]
fn the_lines_that_a_run_took_are_shown_the_last_first() {
    let text = include_str!("refuted.chart").split("\n---\n").next().expect("a first one");
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", text));
    let found = done
        .diagnostics
        .iter()
        .find(|d| d.rule.code == "C0390" && d.message.contains("before"))
        .expect("`live` before `review`");
    let related: Vec<(&str, &str)> = found
        .related
        .iter()
        .map(|(span, what)| (&text[span.start as usize..span.end as usize], what.as_str()))
        .filter(|(_, what)| what.contains("taken"))
        .collect();
    assert_eq!(
        related,
        [
            ("on ready if urgent -> live", "last taken, in step 3 of the run"),
            ("on hurry(how) { urgent = how }", "taken before, in step 2 of the run"),
        ]
    );
}

#[test]
fn what_keeps_a_state_closed_is_shown_where_runs_stop() {
    let text = "chart T {\n  event a\n  var k: Int = 0\n  initial s\n  state s {\n    \
                on a if k > 0 -> t\n    on a { k = if k > 5 then 1 else 0 }\n  }\n  state t { on a -> u }\n  \
                state u { on a -> s }\n  check reaches(u)\n}\n";
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", text));
    let found = done.diagnostics.iter().find(|d| d.rule.code == "C0390").expect("it is refuted");
    let (span, what) = found.related.last().expect("a line");
    assert_eq!(&text[span.start as usize..span.end as usize], "on a if k > 0 -> t");
    assert!(what.contains("its condition does not hold"), "{what}");
}
