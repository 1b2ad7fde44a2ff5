//! Findings about the properties that `check` items state.

use super::{Context, Lint, reachable, words};
use crate::explore::property::Verdict;
use crate::explore::witness::{Witness, json};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::Span;
use crate::{notation, rules};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Check, CheckArgument, Step, StepKind, Subject};

pub(super) static CHECK_FAILED: Lint =
    Lint { rule: &rules::CHECK_FAILED, needs_whole: true, run: find_check_failed };

/// The maximum number of steps of a run in the message; a longer run is cut in the middle.
const TOLD: usize = 16;

/// The maximum number of transitions of a run that are shown.
const LINES: usize = 3;

fn find_check_failed(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (nth, verdict) in context.runs.checks.iter().enumerate() {
        let (check, span) = (&chart.checks[nth], map.checks[nth]);
        match verdict {
            Verdict::NeverEntered(state) => diagnostics.push(never(context, span, *state)),
            Verdict::Refuted(witness, leaves) => {
                diagnostics.push(refuted(context, nth, check, span, witness, leaves));
            }
            Verdict::Holds | Verdict::Open(..) | Verdict::Unknown => {}
        }
    }
}

fn never(context: &Context<'_>, span: Span, state: StateId) -> Diagnostic {
    let name = words::state(context.chart, state);
    let found = rules::CHECK_FAILED
        .at(span, format!("this does not hold: no run enters {name}"))
        .related(context.map.state(state).name, "never entered");
    let leading = reachable::leading(context.chart);
    if context.facts.reach.can_enter(state) {
        let first = reachable::first_closed(context, &leading, state);
        let found = reachable::closed_by_values(context, &leading, first, found);
        return found.help(format!(
            "every run was tried, with all values: let a line that leads to {name} be taken"
        ));
    }
    reachable::explain(context, &leading, state, found)
}

fn refuted(
    context: &Context<'_>,
    nth: usize,
    check: &Check,
    span: Span,
    witness: &Witness,
    leaves: &[StateId],
) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let state = |id: &StateId| words::state(chart, *id);
    let at = words::states(chart, leaves);
    let why = match &check.arguments[..] {
        [CheckArgument::State(s)] if check.name == "no_call" => {
            format!("a tool can be called inside {}", state(s))
        }
        [CheckArgument::State(s)] => format!("from {at} no run leads to {}", state(s)),
        [CheckArgument::Unless(Subject::State(a), Subject::State(b))] => {
            format!("{} can be entered before {}", state(a), state(b))
        }
        [CheckArgument::Unless(a, b)] => {
            format!(
                "{} before {}",
                words::happens(chart, a, "can be"),
                words::happens(chart, b, "is")
            )
        }
        [CheckArgument::AtMost(of, most)] => {
            let most = match notation::expression(chart, most).as_str() {
                "1" => "once".to_owned(),
                most => format!("`{most}` times"),
            };
            format!("{} more than {most}", words::happens(chart, of, "can be"))
        }
        [CheckArgument::Bound(bound, unit)] if unit == "turns" => {
            let bound = notation::expression(chart, bound);
            format!("a run can go on after `{bound}` turns, in {at}")
        }
        [CheckArgument::Bound(bound, _)] => {
            format!("a run can make more than `{}` calls", notation::expression(chart, bound))
        }
        _ => "a run is otherwise".into(),
    };
    let mut found = rules::CHECK_FAILED.at(span, format!("this does not hold: {why}"));
    if let [leaf, ..] = leaves {
        found = found.related(map.state(*leaf).name, "where that run stands");
    }
    // The faulty transition is usually among the last.
    let mut transitions: Vec<TransitionId> = Vec::new();
    for (step, transition) in witness.taken.iter().rev() {
        if transitions.len() == LINES {
            break;
        }
        if !transitions.contains(transition) {
            let when = if transitions.is_empty() { "last taken" } else { "taken before" };
            found = found.related(
                map.transition(*transition).whole,
                format!("{when}, in step {step} of the run"),
            );
            transitions.push(*transition);
        }
    }
    // Such a run has taken few transitions, so its initial state matters.
    if transitions.len() < LINES
        && let Some(initial) = map.states.first().and_then(|root| root.initial)
    {
        found = found.related(initial, "the run begins here");
    }
    // File names are built from the name of the chart, which may contain any character.
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = chart.name.chars().map(plain).collect();
    let base = format!("{name}.{}.{}", check.name, nth + 1);
    found.witness.push((format!("{base}.events.jsonl"), witness.events()));
    let mut flags = format!("--events {base}.events.jsonl");
    let script = witness.script();
    if !script.is_empty() {
        flags.push_str(&format!(" --functions {base}.functions.yaml"));
        found.witness.push((format!("{base}.functions.yaml"), script));
    }
    for (kind, rows) in [("param", &witness.params), ("input", &witness.inputs)] {
        for (name, value) in rows {
            flags.push_str(&format!(" --{kind} '{name}={}'", json(value)));
        }
    }
    found.help(format!(
        "a run that shows it: {}; `chartc check --witness DIR` writes it, and `chartc simulate FILE {flags}` plays it",
        told(&witness.steps)
    ))
}

/// Lists the steps of a run with their numbers, at most [`TOLD`] of them.
pub(super) fn told(steps: &[String]) -> String {
    let number = |(i, step): (usize, &String)| format!("({}) {step}", i + 1);
    let all = steps.iter().enumerate();
    if steps.len() <= TOLD {
        return all.map(number).collect::<Vec<_>>().join(" ");
    }
    let last = steps.len() - TOLD / 2;
    let first = all.clone().take(TOLD / 2).map(number).collect::<Vec<_>>().join(" ");
    let end = all.skip(last).map(number).collect::<Vec<_>>().join(" ");
    format!("{first} … {end}")
}

// Properties that are neither proved nor refuted within the bounds of the exploration.

pub(super) static UNDECIDED_CHECK: Lint =
    Lint { rule: &rules::UNDECIDED_CHECK, needs_whole: true, run: find_undecided_check };

fn find_undecided_check(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_run = |step: &Step| matches!(step.kind, StepKind::Run(_));
    let runs = context.chart.steps.iter().any(is_run);
    for (verdict, span) in context.runs.checks.iter().zip(&context.map.checks) {
        let found = match verdict {
            Verdict::Open(_, why) if runs => rules::UNDECIDED_CHECK
                .at(*span, format!("neither refuted nor proved, as not every run can be tried: {}", why.join(", ")))
                .help("a chart that is run is not tried together with the one that runs it: put `check` lines into that chart, and try this one with `chartc explore`, which lets the other end in each of its ways"),
            Verdict::Open(0, why) => rules::UNDECIDED_CHECK
                .at(*span, format!("neither refuted nor proved, as not every run can be tried: {}", why.join(", ")))
                .help("what is unbounded is tried with some values only: a Bool, an enum or an Int that is compared with constants can be tried whole"),
            Verdict::Open(states, why) => rules::UNDECIDED_CHECK
                .at(
                    *span,
                    format!("not refuted within {states} states, and not proved: {}", why.join(", ")),
                )
                .help("`chartc check --explore N` looks at more states; what is unbounded is tried with some values only"),
            Verdict::Unknown => rules::UNDECIDED_CHECK.at(*span, "there is no such property").help(
                "the properties are `reaches(s)`, `always_reaches(s)`, `never(a unless b)`, `a before b`, `a at most n`, `no_call(s)`, `ends_within(n turns)`, `at_most(n calls)`",
            ),
            Verdict::Holds | Verdict::NeverEntered(_) | Verdict::Refuted(..) => continue,
        };
        diagnostics.push(found);
    }
}
