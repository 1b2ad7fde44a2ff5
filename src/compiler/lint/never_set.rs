//! Conditions on variables that nothing sets, and variables whose names are misspelt.

use super::data::{self, MOST, Setters, is_yaml, shown_at, step_of, thrown_away, transition_of};
use super::{Context, Lint, permissions, words};
use crate::analysis::facts::conditions::is_impossible;
use crate::analysis::facts::usage::{ExprOwner, Fixed, Usage, expressions, fixed};
use crate::analysis::turn::calls::{Value, early};
use crate::analysis::turn::flow::{Lack, Site, with_values};
use crate::explore::witness::json;
use crate::notation;
use crate::rules::{self, read_before_set};
use crate::syntax::diagnostic::{Diagnostic, is_one_off};
use crate::syntax::source::Span;
use chartc_core::arena::{StepId, TransitionId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{Action, Chart, Expr, ExprKind, Trigger, Type, VariableKind};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static NEVER_SET: Lint =
    Lint { rule: &rules::NEVER_SET, needs_whole: true, run: find_never_set };

/// The maximum number of conditions that are examined.
const MOST_CONDITIONS: usize = 200;

fn find_never_set(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
            ExprOwner::Permission(i) if is_false(chart, i) => {
                Some(permissions::refused(context, i))
            }
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
        let mut found = rules::NEVER_SET
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
        is_impossible(chart, &[(&guard, true)])
    })
}

/// Reports reads of variables that nothing sets and whose initial value is a placeholder, unless a condition on them is reported.
fn blank(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let told: BTreeSet<VarId> =
        fixed(chart, &Usage::new(chart)).into_iter().map(|f| f.variable).collect();
    for (id, site) in context
        .flow()
        .blank()
        .into_iter()
        .filter(|(id, _)| !told.contains(id))
        .take(MOST_CONDITIONS)
    {
        let row = &chart.variables[id.index()];
        let (span, what) = data::place(context, site);
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
        let mut found = match data::thrown_away(chart, id) {
            Some(step) => {
                let step_name = words::step(chart, step);
                let message = format!(
                    "{empty}: nothing ever sets it, and the answer of {step_name} is thrown away"
                );
                rules::NEVER_SET
                    .at(span, message)
                    .help(format!("keep the answer of {step_name}: `into {}`", row.name))
                    .related(map.step(step).name, "nothing keeps or reads this answer")
            }
            None => rules::NEVER_SET
                .at(span, format!("{empty}: nothing ever sets it"))
                .help("set it before, or leave it out here"),
        };
        found = found.related(map.variables[id.index()], format!("it stays {is}"));
        diagnostics.push(found);
    }
}

/// Reports conditions on variables that are set, but never on a path to the condition.
fn always_alike(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut setters = None;
    for fixed in context.flow().fixed().into_iter().take(MOST_CONDITIONS) {
        let transition = data::transition_of(fixed.site);
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
        let (span, what) = data::place(context, fixed.site);
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
        let refused = row.map(|row| permissions::refused(context, row));
        let so = refused.as_ref().map_or_else(|| format!("{what} {verb}"), |r| r.so.clone());
        let mut found = rules::NEVER_SET
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
    for actions in chart.bodies() {
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
fn never_permits(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (row, values) in context.flow().never_permits().into_iter().take(MOST_CONDITIONS) {
        let span = map.permissions[row];
        if values.is_empty() || is_told(diagnostics, span) {
            continue;
        }
        let refused = permissions::refused(context, row);
        let found = rules::NEVER_SET
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

// Variables that are set but never read, and whose name is one letter away from one that is read.

pub(super) static MISSPELT_VARIABLE: Lint =
    Lint { rule: &rules::MISSPELT_VARIABLE, needs_whole: true, run: find_misspelt_variable };

/// The length in bytes of the shortest name that is compared: short ones are similar by chance.
const SHORTEST: usize = 4;
/// The maximum number of variables of a chart that is examined, because they are compared in pairs.
const MOST_VARIABLES: usize = 500;

fn find_misspelt_variable(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    for (set, read) in slips(chart, &Usage::new(chart)) {
        let name = |id: VarId| &chart.variables[id.index()].name;
        let (own, meant) = (name(set), name(read));
        let message = format!("`{own}` is set and never read: did you mean `{meant}`?");
        let place = map.variables[set.index()];
        let help = if is_yaml(context) {
            format!("write `{meant}` in both places, or remove `{own}`")
        } else {
            format!("set `{meant}`, and remove `{own}`")
        };
        let found = rules::MISSPELT_VARIABLE.at(place, message).help(help);
        diagnostics.push(found.related(map.variables[read.index()], "this one is read"));
    }
}

/// Maps each variable that is set and never read to the one that was probably meant.
pub(super) fn slips(chart: &Chart, usage: &Usage) -> BTreeMap<VarId, VarId> {
    let ids = || (0..chart.variables.len()).map(VarId::at);
    let unread = |id: &VarId| {
        let var = matches!(chart.variables[id.index()].kind, VariableKind::Var { .. });
        var && usage.set[id.index()] && !usage.read[id.index()]
    };
    let mut found = BTreeMap::new();
    if chart.variables.len() > MOST_VARIABLES {
        return found;
    }
    for id in ids().filter(unread) {
        let slip = |other: &VarId| usage.read[other.index()] && is_slip(chart, usage, id, *other);
        // A variable that is computed from the other is distinct, unless the other never gets a value.
        let apart = |other: &VarId| {
            let blank = chart.variables[other.index()].default.as_ref().is_some_and(is_blank);
            blank && is_lost(chart, usage, *other) || !is_set_from(chart, id, *other)
        };
        let meant = ids().find(|other| slip(other) && apart(other));
        found.extend(meant.map(|other| (id, other)));
    }
    found
}

fn is_slip(chart: &Chart, usage: &Usage, id: VarId, other: VarId) -> bool {
    let (one, two) = (&chart.variables[id.index()], &chart.variables[other.index()]);
    let (a, b) = (&one.name, &two.name);
    let near = a.len().abs_diff(b.len()) <= 1 && a.len().min(b.len()) >= SHORTEST;
    if !near || !is_one_off(a, b) {
        return false;
    }
    let vague = |ty: &Type| matches!(ty, Type::Json | Type::Optional(_));
    let alike = one.ty == two.ty || vague(&one.ty) || vague(&two.ty);
    // Pairs such as `item_1` and `item_2`, or `plan` and `plans`, are deliberate, unless nothing gives the other a value.
    let digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "0");
    let family = digits(a) == digits(b) || *a == format!("{b}s") || *b == format!("{a}s");
    alike && (!family || is_lost(chart, usage, other))
}

/// Whether nothing ever gives the variable a value.
fn is_lost(chart: &Chart, usage: &Usage, id: VarId) -> bool {
    matches!(chart.variables[id.index()].kind, VariableKind::Var { .. }) && !usage.set[id.index()]
}

/// Whether a default is a placeholder: zero, `false` or empty.
fn is_blank(default: &Expr) -> bool {
    let kind = &default.kind;
    matches!(kind, ExprKind::Bool(false) | ExprKind::Int(0) | ExprKind::None)
        || matches!(kind, ExprKind::Float(number) if *number == 0.0)
        || matches!(kind, ExprKind::Text(text) if text.parts.is_empty())
        || matches!(kind, ExprKind::List(items) if items.is_empty())
}

/// Whether the first variable is computed from the other.
fn is_set_from(chart: &Chart, id: VarId, other: VarId) -> bool {
    let mut from = false;
    expressions(chart, &mut |spot, expr| {
        if spot == ExprOwner::Value(id) {
            expr.walk(&mut |e| from |= e.kind == ExprKind::Variable(other));
        }
    });
    from
}

fn find_maybe_unset(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    let agent = is_yaml(context);
    // A per-turn variable of an agent is inferred from its code.
    let inferred = |id: VarId| {
        agent && matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
    };
    // These findings of C0412 need the same data flow.
    always_alike(context, diagnostics);
    never_permits(context, diagnostics);
    blank(context, diagnostics);
    let flow = context.flow();
    let mut unset = flow.unset(facts, &inferred);
    if context.full_prompts {
        unset.extend(flow.empty_prompts(facts));
    }
    if unset.is_empty() {
        return;
    }
    // `read_before_set` reports the reads that `early` finds.
    let mut told: BTreeSet<(Option<StepId>, Option<TransitionId>, Value)> =
        early(chart, facts).into_iter().map(|e| (Some(e.step), None, e.value)).collect();
    let setters = Setters::new(context);
    for found in unset.into_iter().take(MOST) {
        let transition = transition_of(found.site);
        if !told.insert((step_of(chart, found.site), transition, found.value)) {
            continue;
        }
        let (mut span, what) = super::data::place(context, found.site);
        if let (Site::Arguments(step), Value::Variable(id), Lack::Empty) =
            (found.site, found.value, found.lack)
        {
            span = shown_at(context, step, id);
        }
        let name = super::data::name(chart, found.value);
        let setters = setters.places(context, found.value);
        // An answer of the same type that nothing keeps may be the missing value.
        let lost = match found.value {
            Value::Variable(id) if found.way.is_none() && found.lack == Lack::Empty => {
                thrown_away(chart, id)
            }
            Value::Variable(_) | Value::Answer(_) => None,
        };
        let message = match (&found.way, found.lack) {
            (Some(_), Lack::Empty) => {
                format!("{what} may show nothing: {name} is still empty when it is first asked")
            }
            (Some(_), Lack::Missing | Lack::Default) => {
                format!("{name} may not be there when {what} reads it")
            }
            (None, Lack::Missing) => format!("{name} is never there when {what} reads it"),
            (None, Lack::Empty) => {
                let so = format!("{name} is always empty when {what} reads it");
                match lost {
                    Some(step) => {
                        format!("{so}: the answer of {} is thrown away", words::step(chart, step))
                    }
                    None => so,
                }
            }
            (None, Lack::Default) => format!("{name} is never set when {what} reads it"),
        };
        let lasts = match found.value {
            Value::Answer(_) => {
                "; an answer lasts until its turn ends, keep it in a variable".into()
            }
            Value::Variable(id) if inferred(id) => {
                format!("; {}", read_before_set::keep(&chart.variables[id.index()].name))
            }
            Value::Variable(id)
                if matches!(
                    chart.variables[id.index()].kind,
                    VariableKind::Var { per_turn: true }
                ) =>
            {
                "; what a turn sets is gone when it ends".into()
            }
            Value::Variable(_) => String::new(),
        };
        let help = match &found.way {
            None => format!("set it before, or leave it out here{lasts}"),
            Some(way) => {
                let cure = match found.lack {
                    Lack::Empty => {
                        "ask only after something sets it, or show other words until then"
                    }
                    Lack::Missing | Lack::Default => "set it on every way, or ask for it before",
                };
                let way = super::data::way(chart, found.value, way);
                format!("a run that gets there: {way}; {cure}{lasts}")
            }
        };
        let rule = if found.way.is_none() { &rules::READ_BEFORE_SET } else { &rules::MAYBE_UNSET };
        let mut one = rule.at(span, message).help(help);
        let past = found.way.iter().find_map(|way| super::data::past(context, found.value, way));
        if let Some((place, why)) = past {
            one = one.related(place, why);
        }
        if let Some(step) = lost {
            one = one.related(context.map.step(step).name, "nothing keeps or reads this answer");
        }
        for place in setters.iter().take(2) {
            if past.is_none_or(|(p, _)| p != *place) {
                one = one.related(*place, "set here");
            }
        }
        diagnostics.push(one);
    }
}

pub(super) static MAYBE_UNSET: Lint =
    Lint { rule: &rules::MAYBE_UNSET, needs_whole: true, run: find_maybe_unset };
