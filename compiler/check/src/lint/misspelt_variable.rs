//! Variables that are set but never read, and whose name is one letter away from one that is read.

use super::reading::is_yaml;
use super::{Context, Lint};
use crate::facts::usage::{ExprOwner, Usage, expressions};
use crate::facts::uses::own_walk;
use chartc_core::arena::VarId;
use chartc_core::model::{Chart, Expr, ExprKind, Type, VariableKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::MISSPELT_VARIABLE;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &MISSPELT_VARIABLE, needs_whole: true, run };

/// The length in bytes of the shortest name that is compared: short ones are similar by chance.
const SHORTEST: usize = 4;
/// The maximum number of variables of a chart that is examined, because they are compared in pairs.
const MOST: usize = 500;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        let found = MISSPELT_VARIABLE.at(place, message).help(help);
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
    if chart.variables.len() > MOST {
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
    if !near || strsim::osa_distance(a, b) != 1 {
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
            own_walk(expr, &mut |e| from |= e.kind == ExprKind::Variable(other));
        }
    });
    from
}
