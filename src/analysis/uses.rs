//! What expressions read and lines change.

use chartc_core::arena::{StateId, VarId};
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Observable, Template, TemplatePart, Transition,
};
use std::collections::BTreeSet;

/// Calls `visit` with the expression and everything in it, outermost first; predicates are looked into.
pub fn walk<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    let mut on = |e: &'e Expr| walk(chart, e, visit);
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Variable(_)
        | ExprKind::Local(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_)
        | ExprKind::Observable(_)
        | ExprKind::Unknown(_) => {}
        ExprKind::Predicate(id) => on(&chart.predicates[id.index()].expr),
        ExprKind::Text(text) => holes(text).for_each(on),
        ExprKind::Field(e, _) | ExprKind::Unary(_, e) => on(e),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
            on(a);
            on(b);
        }
        ExprKind::Slice(e, from, to) => {
            on(e);
            from.iter().chain(to).for_each(|e| on(e));
        }
        ExprKind::Compare(first, rest) => {
            on(first);
            for (_, operand) in rest {
                on(operand);
            }
        }
        ExprKind::If(a, b, c) => {
            on(a);
            on(b);
            on(c);
        }
        ExprKind::Builtin(_, es) | ExprKind::Call(_, es) | ExprKind::List(es) => {
            es.iter().for_each(on);
        }
        ExprKind::Map(entries) => {
            for (key, value) in entries {
                on(key);
                on(value);
            }
        }
        ExprKind::Record(_, fields) => fields.iter().for_each(|(_, e)| on(e)),
        ExprKind::Comprehension { item, source, filter, .. } => {
            on(source);
            if let Some(filter) = filter {
                on(filter);
            }
            on(item);
        }
    }
}

/// The expressions of a text's placeholders.
pub fn holes(text: &Template) -> impl Iterator<Item = &Expr> {
    text.parts.iter().filter_map(|part| match part {
        TemplatePart::Hole { expr, .. } => Some(expr),
        TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
    })
}

/// Adds the variables that an expression reads; tells whether it also reads what a change of state changes.
pub fn reads(chart: &Chart, expr: &Expr, variables: &mut BTreeSet<VarId>) -> bool {
    let mut local = false;
    walk(chart, expr, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            variables.insert(id);
        }
        if let ExprKind::Observable(seen) = &e.kind {
            local |= !matches!(
                seen,
                Observable::Turns
                    | Observable::Elapsed
                    | Observable::Event
                    | Observable::LastResult
                    | Observable::Streak(_)
            );
        }
    });
    local
}

/// Whether taking a line into `leaf` may assign one of the variables: in its own actions, those of the states that it may leave and those
/// of the states that it enters.
pub fn changes(
    chart: &Chart,
    line: &Transition,
    leaf: StateId,
    variables: &BTreeSet<VarId>,
) -> bool {
    let sets = |actions: &[Action]| {
        actions.iter().any(|a| matches!(a, Action::Assign(v, _) if variables.contains(v)))
    };
    let moved = !line.targets.is_empty();
    let entered = chart.ancestors(leaf).any(|s| sets(&chart.state(s).entry));
    let left = (line.source.0..chart.state(line.source).end.0)
        .map(StateId)
        .chain(chart.ancestors(line.source))
        .any(|s| sets(&chart.state(s).exit));
    sets(&line.actions) || (moved && (entered || left))
}
