//! Conditions that always hold.

use super::{Context, Lint, words};
use crate::facts::cover::shadows;
use crate::facts::scope::{ScopeCondition, scope};
use crate::facts::uses::walk;
use crate::notation;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Expr, ExprKind, Trigger, VariableKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::NEEDLESS_GUARD;
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &NEEDLESS_GUARD, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    transitions(context, diagnostics);
    let Context { chart, facts, map, .. } = context;
    for ((step, spans), place) in chart.steps.iter().zip(&map.steps).zip(&facts.scopes.steps) {
        if let Some(guard) = step.guard.as_ref().filter(|_| !place.within.is_empty())
            && always(context, guard, &ScopeCondition::in_state(step.state))
        {
            diagnostics.push(told(
                context,
                guard,
                &notation::expression(chart, guard),
                spans.guard.unwrap_or(spans.name),
            ));
        }
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        let home = ScopeCondition::in_state(permission.from.unwrap_or(StateId::at(0)));
        if let Some(guard) = permission.guard.as_ref().filter(|g| always(context, g, &home)) {
            diagnostics.push(told(context, guard, &notation::expression(chart, guard), *span));
        }
    }
    for (component, span) in chart.components.iter().zip(&map.components) {
        for insert in &component.inserts {
            let home = ScopeCondition::in_state(chart.steps[insert.step.index()].state);
            if let Some(guard) = insert.guard.as_ref().filter(|g| always(context, g, &home)) {
                diagnostics.push(told(context, guard, &notation::expression(chart, guard), *span));
            }
        }
    }
}

fn transitions(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // `each after` expands to several transitions with the same span: reported once, and only if all of their guards always hold.
    let mut found: BTreeMap<Span, (Vec<TransitionId>, Diagnostic)> = BTreeMap::new();
    for i in 0..chart.transitions.len() {
        let id = TransitionId::at(i);
        if !is_told(context, id) {
            continue;
        }
        let (transition, spans) = (chart.transition(id), map.transition(id));
        if let Some(guard) = &transition.guard {
            let text = notation::expression_in(chart, guard, &notation::payload(transition));
            let place = spans.guard.unwrap_or(spans.trigger);
            let entry = found.entry(spans.whole);
            entry.or_insert_with(|| (Vec::new(), told(context, guard, &text, place))).0.push(id);
        }
    }
    if found.is_empty() {
        return;
    }
    let mut written: BTreeMap<Span, usize> = BTreeMap::new();
    for spans in map.transitions.iter().filter(|spans| found.contains_key(&spans.whole)) {
        *written.entry(spans.whole).or_default() += 1;
    }
    let hidden = shadows(chart, facts).0;
    for (whole, (transitions, mut told)) in found {
        let by =
            |all: &[TransitionId]| transitions.iter().any(|transition| all.contains(transition));
        let mut hidden = hidden.iter().filter(|shadow| by(&shadow.by));
        // C0302 reports a transition that several others shadow together.
        if written.get(&whole) != Some(&transitions.len()) || hidden.clone().any(|s| s.by.len() > 1)
        {
            continue;
        }
        if let Some(first) = hidden.next() {
            told = told.related(
                map.transition(first.transition).whole,
                "never taken: the line above always is",
            );
        }
        diagnostics.push(told);
    }
}

/// Whether C0311 reports the guard of a transition.
pub(super) fn is_told(context: &Context<'_>, id: TransitionId) -> bool {
    let Context { chart, facts, .. } = context;
    let transition = chart.transition(id);
    let other = transition.trigger == Trigger::When || !facts.reach.can_take(id);
    !other
        && transition.guard.as_ref().is_some_and(|g| always(context, g, &scope(chart, transition)))
}

/// Whether a condition always holds when it is evaluated, and is not a literal `true`.
fn always(context: &Context<'_>, guard: &Expr, home: &ScopeCondition) -> bool {
    guard.kind != ExprKind::Bool(true) && home.is_opened_by(context.chart, guard)
}

fn told(context: &Context<'_>, guard: &Expr, text: &str, span: Span) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let text = words::short(text);
    let mut found = NEEDLESS_GUARD
        .at(span, format!("`{text}` always holds, so this condition does nothing"))
        .help("correct the condition, or remove it");
    let mut ranges = BTreeSet::new();
    walk(chart, guard, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            ranges.insert(id);
        }
    });
    for id in ranges {
        let ranged =
            matches!(chart.variables[id.index()].kind, VariableKind::Param { range: Some(_) });
        if ranged {
            found = found.related(map.variables[id.index()], "its range");
        }
    }
    found
}
