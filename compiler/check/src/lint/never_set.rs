//! Conditions on variables that nothing sets.

use super::reading::{self, Setters, is_yaml};
use super::{Context, Lint, moving, words};
use crate::explore::witness::json;
use crate::facts::guard::{Verdict, decide};
use crate::facts::usage::{ExprOwner, Fixed, Usage, fixed};
use crate::facts::uses::written;
use crate::notation;
use crate::turn::dataflow::Value;
use crate::turn::flow::{Flow, Site, with_values};
use chartc_core::arena::{TransitionId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{Action, Chart, ExprKind, Trigger, Type, VariableKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::NEVER_SET;
use chartc_text::span::Span;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &NEVER_SET, needs_whole: true, run };

/// The maximum number of conditions that are examined.
const MOST: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    for Fixed { variable, spot } in fixed(chart, &Usage::new(chart)) {
        let row = &chart.variables[variable.index()];
        let place = match spot {
            ExprOwner::Transition(id) => {
                map.transition(id).guard.unwrap_or(map.transition(id).whole)
            }
            ExprOwner::Step(id) => map.step(id).guard.unwrap_or(map.step(id).name),
            ExprOwner::Predicate(i) => map.predicates[i],
            ExprOwner::Permission(i) => map.permissions[i],
            ExprOwner::Value(_) | ExprOwner::Other => continue,
        };
        let is = row.default.as_ref().map(|e| notation::expression(chart, e)).unwrap_or_default();
        let refused = match spot {
            ExprOwner::Permission(i) if is_false(chart, i) => Some(moving::refused(context, i)),
            ExprOwner::Permission(_)
            | ExprOwner::Transition(_)
            | ExprOwner::Step(_)
            | ExprOwner::Predicate(_) => None,
            ExprOwner::Value(_) | ExprOwner::Other => None,
        };
        let never = format!("nothing ever sets `{}`", row.name);
        let message = match &refused {
            Some(refused) => format!("{}: {never}", refused.so),
            None => format!("this always has the same result: {never}"),
        };
        let mut found = NEVER_SET
            .at(place, message)
            .help("set it in an action or a `code` step; a constant is a `param`");
        found = found.related(map.variables[variable.index()], format!("it stays `{is}`"));
        diagnostics
            .push(refused.iter().fold(found, |found, refused| refused.related(context, found)));
    }
}

/// Whether the condition of a permission never holds while the variables that nothing sets keep their initial values.
fn is_false(chart: &Chart, row: usize) -> bool {
    let usage = Usage::new(chart);
    let begins = |id: VarId| {
        let variable = &chart.variables[id.index()];
        let var = matches!(variable.kind, VariableKind::Var { .. });
        variable.default.clone().filter(|_| var && !usage.set[id.index()])
    };
    let guard = chart.permissions[row].guard.as_ref();
    guard.is_some_and(|guard| {
        let guard = with_values(chart, guard, &begins);
        decide(chart, &[(&guard, true)]) == Verdict::Never
    })
}

/// Reports reads of variables that nothing sets and whose initial value is a placeholder, unless a condition on them is reported.
pub(super) fn blank(context: &Context<'_>, flow: &Flow<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let told: BTreeSet<VarId> =
        fixed(chart, &Usage::new(chart)).into_iter().map(|f| f.variable).collect();
    for (id, site) in flow.blank().into_iter().filter(|(id, _)| !told.contains(id)).take(MOST) {
        let row = &chart.variables[id.index()];
        let (span, what) = reading::place(context, site);
        let default = row.default.as_ref();
        let is_number = default.is_some_and(|e| {
            matches!(row.ty, Type::Bool | Type::Int | Type::Float | Type::Duration)
                && e.kind != ExprKind::None
        });
        let is = match default.filter(|_| is_number) {
            Some(default) => format!("`{}`", notation::expression(chart, default)),
            None => "empty".to_owned(),
        };
        let empty = format!("`{}` is always {is} in {what}", row.name);
        let mut found = match reading::thrown_away(chart, id) {
            Some(step) => {
                let step_name = words::step(chart, step);
                let message = format!(
                    "{empty}: nothing ever sets it, and the answer of {step_name} is thrown away"
                );
                NEVER_SET
                    .at(span, message)
                    .help(format!("keep the answer of {step_name}: `into {}`", row.name))
                    .related(map.step(step).name, "nothing keeps or reads this answer")
            }
            None => NEVER_SET
                .at(span, format!("{empty}: nothing ever sets it"))
                .help("set it before, or leave it out here"),
        };
        found = found.related(map.variables[id.index()], format!("it stays {is}"));
        diagnostics.push(found);
    }
}

/// Reports conditions on variables that are set, but never on a path to the condition.
pub(super) fn always_alike(
    context: &Context<'_>,
    flow: &Flow<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Context { chart, map, .. } = context;
    let mut setters = None;
    for fixed in flow.fixed().into_iter().take(MOST) {
        let transition = reading::transition_of(fixed.site);
        // If all runs have been explored, C0330 reports the transition, with the values that the runs have there.
        let tried = context.runs.seen.is_some() && !fixed.holds && transition.is_some();
        let row = if let Site::Permission(row, _) = fixed.site { Some(row) } else { None };
        let row = row.filter(|_| !fixed.holds);
        // Code may declare a per-turn variable in advance. A condition on it is reported only if it keeps a step from running or moving.
        let stops = row.is_some() || !fixed.holds && matches!(fixed.site, Site::Guard(_));
        let fresh = |id: VarId| {
            let kind = &chart.variables[id.index()].kind;
            matches!(kind, VariableKind::Var { per_turn: true }) && !stops
        };
        // A `when` transition that always holds is reported as a cycle.
        let when = transition.is_some_and(|l| matches!(chart.transition(l).trigger, Trigger::When));
        let (span, what) = reading::place(context, fixed.site);
        if tried
            || transition.is_some_and(|l| fixed.holds && hides(context, l))
            || fixed.values.is_empty()
            || fixed.values.iter().any(|(id, _)| fresh(*id))
            || when && fixed.holds
            || is_told(diagnostics, span)
        {
            continue;
        }
        let verb = if fixed.holds { "always holds" } else { "never holds" };
        let refused = row.map(|row| moving::refused(context, row));
        let so = refused.as_ref().map_or_else(|| format!("{what} {verb}"), |r| r.so.clone());
        let mut found = NEVER_SET
            .at(span, format!("{so}: {}", shown(chart, &fixed.values)))
            .help("set it on the way that leads here, or remove the condition");
        found = refused.iter().fold(found, |found, refused| refused.related(context, found));
        for (id, _) in fixed.values.iter().take(1) {
            let setters = setters.get_or_insert_with(|| Setters::new(context));
            // Python declares a variable where it is first set.
            if let Some(value) = constant(context, *id) {
                found = found.related(map.variables[id.index()], format!("set to `{value}` here"));
                continue;
            }
            found = found.related(map.variables[id.index()], "it begins here");
            for place in setters.places(context, Value::Variable(*id)).into_iter().take(2) {
                found = found.related(place, "set here");
            }
        }
        diagnostics.push(found.about(span));
    }
}

/// The value of the only assignment to a variable in an agent's code, in Python syntax, if it is a literal.
fn constant(context: &Context<'_>, id: VarId) -> Option<String> {
    let chart = context.chart;
    if !is_yaml(context) {
        return None;
    }
    let mut values = Vec::new();
    for actions in written(chart) {
        Action::walk(actions, &mut |action| {
            if let Action::Assign(of, value) = action
                && *of == id
            {
                values.push(value);
            }
        });
    }
    let [value] = values[..] else { return None };
    if let ExprKind::Bool(holds) = value.kind {
        return Some(if holds { "True" } else { "False" }.to_owned());
    }
    let is_literal =
        matches!(value.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_));
    is_literal.then(|| notation::expression(chart, value))
}

/// Reports permissions whose conditions no value of their variables satisfies where they are evaluated.
pub(super) fn never_permits(
    context: &Context<'_>,
    flow: &Flow<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Context { chart, map, .. } = context;
    for (row, values) in flow.never_permits().into_iter().take(MOST) {
        let span = map.permissions[row];
        if values.is_empty() || is_told(diagnostics, span) {
            continue;
        }
        let refused = moving::refused(context, row);
        let found = NEVER_SET
            .at(span, format!("{}: {}", refused.so, shown(chart, &values)))
            .help("set it to what the row asks for, or take the row out");
        diagnostics.push(refused.related(context, found).about(span));
    }
}

/// Whether a finding overlaps this span.
fn is_told(diagnostics: &[Diagnostic], span: Span) -> bool {
    diagnostics
        .iter()
        .any(|d| d.span.file == span.file && d.span.start < span.end && span.start < d.span.end)
}

/// Describes the variables with all their possible values.
fn shown(chart: &Chart, values: &[(VarId, Vec<Data>)]) -> String {
    let one = |(id, values): &(VarId, Vec<Data>)| {
        // `None` at the start of a turn is not worth showing.
        let some = values.iter().any(|v| *v != Data::None);
        let shown = values.iter().filter(|v| !some || **v != Data::None);
        let shown: Vec<String> = shown.map(|v| format!("`{}`", json(v))).collect();
        format!("`{}` is always {} here", chart.variables[id.index()].name, shown.join(" or "))
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether a later transition with the same trigger leads to a state that is never entered, which is reported there.
fn hides(context: &Context<'_>, transition: TransitionId) -> bool {
    let Context { chart, facts, .. } = context;
    let row = chart.transition(transition);
    let later = chart.state(row.source).transitions.iter().filter(|l| **l > transition);
    let goals = later
        .map(|l| chart.transition(*l))
        .filter(|other| other.trigger == row.trigger)
        .flat_map(|other| &other.targets);
    goals.into_iter().any(|t| !context.enters(t.state) && facts.reach.can_enter(t.state))
}
