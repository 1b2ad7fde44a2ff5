//! Conditions on variables that nothing sets.

use super::reading::{self, Setters, is_yaml};
use super::{Context, Lint, moving, words};
use crate::diagnostic::Diagnostic;
use crate::explore::witness::json;
use crate::facts::guard::{Verdict, decide};
use crate::facts::usage::{Fixed, Spot, Usage, fixed};
use crate::facts::uses::written;
use crate::notation;
use crate::rules::never_set::RULE;
use crate::span::Span;
use crate::turn::dataflow::Value;
use crate::turn::flow::{Flow, Site, with_values};
use chartc_core::arena::{TransitionId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{Action, Chart, ExprKind, Trigger, Type, VariableKind};
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// Conditions that are looked at; a chart with more is built by a program.
const MOST: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    for Fixed { variable, spot } in fixed(chart, &Usage::of(chart)) {
        let row = &chart.variables[variable.index()];
        let place = match spot {
            Spot::Line(id) => map.line(id).guard.unwrap_or(map.line(id).whole),
            Spot::Step(id) => map.step(id).guard.unwrap_or(map.step(id).name),
            Spot::Predicate(i) => map.predicates[i],
            Spot::Permission(i) => map.permissions[i],
            Spot::Value(_) | Spot::Other => continue,
        };
        let is = row.default.as_ref().map(|e| notation::expression(chart, e)).unwrap_or_default();
        let refused = match spot {
            Spot::Permission(i) if is_false(chart, i) => Some(moving::refused(context, i)),
            Spot::Permission(_) | Spot::Line(_) | Spot::Step(_) | Spot::Predicate(_) => None,
            Spot::Value(_) | Spot::Other => None,
        };
        let never = format!("nothing ever sets `{}`", row.name);
        let message = match &refused {
            Some(refused) => format!("{}: {never}", refused.so),
            None => format!("this always comes out alike: {never}"),
        };
        let mut found = RULE
            .at(place, message)
            .help("set it in an action or a `code` step; a constant is a `param`");
        found = found.related(map.variables[variable.index()], format!("it stays `{is}`"));
        diagnostics
            .push(refused.iter().fold(found, |found, refused| refused.related(context, found)));
    }
}

/// Whether the condition of a row of the table never holds, whatever else it reads, as long as variables stay what they begin with.
fn is_false(chart: &Chart, row: usize) -> bool {
    let usage = Usage::of(chart);
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

/// Reads of variables that nothing sets and whose initial value is a placeholder, unless a finding about a condition on them exists.
pub(super) fn blank(context: &Context<'_>, flow: &Flow<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let told: BTreeSet<VarId> =
        fixed(chart, &Usage::of(chart)).into_iter().map(|f| f.variable).collect();
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
                RULE.at(span, message)
                    .help(format!("keep the answer of {step_name}: `into {}`", row.name))
                    .related(map.step(step).name, "nothing keeps or reads this answer")
            }
            None => RULE
                .at(span, format!("{empty}: nothing ever sets it"))
                .help("set it before, or leave it out here"),
        };
        found = found.related(map.variables[id.index()], format!("it stays {is}"));
        diagnostics.push(found);
    }
}

/// Conditions on variables that something sets, though never on the way to where they are asked for.
pub(super) fn always_alike(
    context: &Context<'_>,
    flow: &Flow<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Context { chart, map, .. } = context;
    let mut setters = None;
    for fixed in flow.fixed().into_iter().take(MOST) {
        let line = reading::line_of(fixed.site);
        // Every run was tried: what is never taken is told of with what the runs do there.
        let tried = context.runs.seen.is_some() && !fixed.holds && line.is_some();
        let row = if let Site::Permission(row, _) = fixed.site { Some(row) } else { None };
        let row = row.filter(|_| !fixed.holds);
        // Code may keep a place for what is to be computed; where it keeps a step from running or moving, that is worth knowing.
        let stops = row.is_some() || !fixed.holds && matches!(fixed.site, Site::Guard(_));
        let fresh = |id: VarId| {
            let kind = &chart.variables[id.index()].kind;
            matches!(kind, VariableKind::Var { per_turn: true }) && !stops
        };
        // `when` lines that always hold are told of as circles.
        let when = line.is_some_and(|l| matches!(chart.transition(l).trigger, Trigger::When));
        let (span, what) = reading::place(context, fixed.site);
        if tried
            || line.is_some_and(|l| fixed.holds && hides(context, l))
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
        let mut found = RULE
            .at(span, format!("{so}: {}", shown(chart, &fixed.values)))
            .help("set it on the way that leads here, or remove the condition");
        found = refused.iter().fold(found, |found, refused| refused.related(context, found));
        for (id, _) in fixed.values.iter().take(1) {
            let setters = setters.get_or_insert_with(|| Setters::of(context));
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

/// The value, in Python, of the only assignment to a variable of an agent's code.
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

/// Rows of the table of moves that no value of their variables lets hold, wherever they are asked for.
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
        let found = RULE
            .at(span, format!("{}: {}", refused.so, shown(chart, &values)))
            .help("set it to what the row asks for, or take the row out");
        diagnostics.push(refused.related(context, found).about(span));
    }
}

/// Whether a finding is about this place already.
fn is_told(diagnostics: &[Diagnostic], span: Span) -> bool {
    diagnostics
        .iter()
        .any(|d| d.span.file == span.file && d.span.start < span.end && span.start < d.span.end)
}

/// Variables with the only values that they have.
fn shown(chart: &Chart, values: &[(VarId, Vec<Data>)]) -> String {
    let one = |(id, values): &(VarId, Vec<Data>)| {
        // That a turn begins without a value goes without saying.
        let some = values.iter().any(|v| *v != Data::None);
        let shown = values.iter().filter(|v| !some || **v != Data::None);
        let shown: Vec<String> = shown.map(|v| format!("`{}`", json(v))).collect();
        format!("`{}` is always {} here", chart.variables[id.index()].name, shown.join(" or "))
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the states that a later line of the same trigger leads to are never entered, which is told of there.
fn hides(context: &Context<'_>, line: TransitionId) -> bool {
    let Context { chart, facts, .. } = context;
    let row = chart.transition(line);
    let later = chart.state(row.source).transitions.iter().filter(|l| **l > line);
    let goals = later
        .map(|l| chart.transition(*l))
        .filter(|other| other.trigger == row.trigger)
        .flat_map(|other| &other.targets);
    goals.into_iter().any(|t| !context.enters(t.state) && facts.reach.enters(t.state))
}
