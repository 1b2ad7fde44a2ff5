//! Conditions that always hold.

use super::{Context, Lint, words};
use crate::analysis::cover::shadows;
use crate::analysis::place::{Place, scope};
use crate::analysis::uses::walk;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation::expression;
use crate::span::Span;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Expr, ExprKind, Trigger, VariableKind};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

static RULE: Rule = Rule {
    code: "C0311",
    name: "needless-guard",
    severity: Severity::Warning,
    page: include_str!("needless_guard.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    lines(context, diagnostics);
    let Context { chart, facts, map, .. } = context;
    for ((step, spans), place) in chart.steps.iter().zip(&map.steps).zip(&facts.places.steps) {
        if let Some(guard) = step.guard.as_ref().filter(|_| !place.within.is_empty())
            && always(context, guard, &Place::of(step.state))
        {
            diagnostics.push(told(context, guard, spans.guard.unwrap_or(spans.name)));
        }
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        let home = Place::of(permission.from.unwrap_or(StateId::at(0)));
        if let Some(guard) = permission.guard.as_ref().filter(|g| always(context, g, &home)) {
            diagnostics.push(told(context, guard, *span));
        }
    }
    for (component, span) in chart.components.iter().zip(&map.components) {
        for insert in &component.inserts {
            let home = Place::of(chart.steps[insert.step.index()].state);
            if let Some(guard) = insert.guard.as_ref().filter(|g| always(context, g, &home)) {
                diagnostics.push(told(context, guard, *span));
            }
        }
    }
}

fn lines(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // `each after` writes several lines in one place: it is told of once, and only if it goes for all of them.
    let mut found: BTreeMap<Span, (Vec<TransitionId>, Diagnostic)> = BTreeMap::new();
    for (i, (line, spans)) in chart.transitions.iter().zip(&map.lines).enumerate() {
        let id = TransitionId::at(i);
        let Some(guard) = &line.guard else { continue };
        let other = line.trigger == Trigger::When || !facts.reach.takes(id);
        if !other && always(context, guard, &scope(chart, line)) {
            let place = spans.guard.unwrap_or(spans.trigger);
            let entry = found.entry(spans.whole);
            entry.or_insert_with(|| (Vec::new(), told(context, guard, place))).0.push(id);
        }
    }
    if found.is_empty() {
        return;
    }
    let mut written: BTreeMap<Span, usize> = BTreeMap::new();
    for spans in map.lines.iter().filter(|spans| found.contains_key(&spans.whole)) {
        *written.entry(spans.whole).or_default() += 1;
    }
    // What comes after such a line is hidden by it, and told of there.
    let hiding: BTreeSet<TransitionId> =
        shadows(chart, facts).0.into_iter().flat_map(|shadow| shadow.by).collect();
    for (whole, (lines, told)) in found {
        let hides = lines.iter().any(|line| hiding.contains(line));
        if written.get(&whole) == Some(&lines.len()) && !hides {
            diagnostics.push(told);
        }
    }
}

/// Whether a condition holds whenever it is asked for, and was not written to do so.
fn always(context: &Context<'_>, guard: &Expr, home: &Place) -> bool {
    guard.kind != ExprKind::Bool(true) && home.is_opened_by(context.chart, guard)
}

fn told(context: &Context<'_>, guard: &Expr, span: Span) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let text = words::short(&expression(chart, guard));
    let mut found = RULE
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
