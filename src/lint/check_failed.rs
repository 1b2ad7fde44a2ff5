//! `check` lines: properties decided on the graph.

use super::{Context, Lint, unreachable_state, words};
use crate::analysis::place::meet;
use crate::analysis::reach::is_leaf;
use crate::analysis::witness::witness;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{CheckArgument, ChoiceKind, StepKind, Trigger};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0390",
    name: "check-failed",
    severity: Severity::Error,
    page: include_str!("check_failed.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (check, span) in chart.checks.iter().zip(&map.checks) {
        let found = match (check.name.as_str(), &check.arguments[..]) {
            ("reaches", [CheckArgument::State(state)]) => reaches(context, *span, *state),
            ("always_reaches", [CheckArgument::State(state)]) => always(context, *span, *state),
            ("no_call", [CheckArgument::State(state)]) => no_call(context, *span, *state),
            _ => None,
        };
        diagnostics.extend(found);
    }
}

/// Whether `check_failed` decides checks of this name.
pub(super) fn decides(name: &str) -> bool {
    matches!(name, "reaches" | "always_reaches" | "no_call")
}

fn reaches(context: &Context<'_>, span: Span, state: StateId) -> Option<Diagnostic> {
    if context.facts.reach.enters(state) {
        return None;
    }
    let name = words::state(context.chart, state);
    let related = RULE
        .at(span, format!("this does not hold: no run enters {name}"))
        .related(context.map.state(state).name, "never entered");
    let leading = unreachable_state::leading(context.chart);
    Some(unreachable_state::explain(context, &leading, state, related))
}

fn always(context: &Context<'_>, span: Span, state: StateId) -> Option<Diagnostic> {
    let Context { chart, facts, map, .. } = context;
    if !facts.reach.enters(state) {
        return reaches(context, span, state);
    }
    let leads = facts.moves.leads_to([state]);
    let lost = facts.reach.leaves(chart).filter(|l| !leads[l.index()]);
    let (lost, way) = lost
        .filter_map(|l| witness(&facts.reach, l).map(|w| (l, w)))
        .min_by_key(|(l, w)| (w.hops.len(), *l))?;
    let (name, from) = (words::state(chart, state), words::state(chart, lost));
    let found = RULE
        .at(span, format!("this does not hold: from {from} no run leads to {name}"))
        .related(map.state(lost).name, format!("no way from here to {name}"))
        .help(format!("a run that ends here: {}", words::run(chart, &way)));
    Some(found)
}

fn no_call(context: &Context<'_>, span: Span, state: StateId) -> Option<Diagnostic> {
    let Context { chart, facts, map, .. } = context;
    let mut calls: Vec<(&crate::analysis::place::Place, Span)> = Vec::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        if let Trigger::Choice(choice) = line.trigger
            && matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..))
        {
            calls.push((facts.places.line(TransitionId::at(i)), map.lines[i].whole));
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if matches!(step.kind, StepKind::Call(..)) {
            calls.push((&facts.places.steps[i], map.steps[i].name));
        }
    }
    for (place, call) in calls {
        let Some(part) = meet(chart, &place.within, &[state]).into_iter().next() else { continue };
        let inside = if chart.contains(state, part) { part } else { state };
        let leaf = (inside.0..chart.state(inside).end.0)
            .map(StateId)
            .filter(|s| is_leaf(chart, *s) && facts.reach.enters(*s))
            .find(|s| !place.leaves_out(chart, *s));
        let Some(way) = leaf.and_then(|l| witness(&facts.reach, l)) else { continue };
        let name = words::state(chart, state);
        let found = RULE
            .at(span, format!("this does not hold: a tool can be called inside {name}"))
            .related(call, "this call")
            .help(format!("a run that gets there: {}", words::run(chart, &way)));
        return Some(found);
    }
    None
}
