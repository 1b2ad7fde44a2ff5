//! Visitors of expressions and actions: the variables that they read and set.

use chartc_core::arena::{StateId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, Expr, ExprKind, Observable, Since, StepKind, Transition,
};
use std::collections::BTreeSet;

/// Whether a condition only tests for active states, so that the scope condition of its transition or step describes it fully.
pub fn is_where(guard: &Expr) -> bool {
    if let ExprKind::Binary(BinaryOp::Or, a, b) = &guard.kind {
        is_where(a) && is_where(b)
    } else {
        matches!(guard.kind, ExprKind::Observable(Observable::In(_)))
    }
}

/// Every action block of the chart, and the statements of its `code` steps.
pub fn written(chart: &Chart) -> impl Iterator<Item = &Vec<Action>> {
    let code = chart.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Code(actions) => Some(actions),
        _ => None,
    });
    chart.blocks().chain(code)
}

/// Calls `visit` with the direct parts of an expression, in the order of evaluation. The part of a predicate is its definition.
fn each_part<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    if let ExprKind::Predicate(id) = expr.kind {
        visit(&chart.predicates[id.index()].expr);
    }
    expr.each_part(visit);
}

/// Calls `visit` with the expression and all of its parts, outermost first; follows predicates.
pub fn walk<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    each_part(chart, expr, &mut |part| walk(chart, part, visit));
}

/// Like [`walk`], but without the definitions of predicates. Uses a list instead of recursion, so that deep expressions need no stack.
pub fn own_walk<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    let mut open = Vec::new();
    expr.each_part(&mut |part| open.push(part));
    open.reverse();
    while let Some(expr) = open.pop() {
        visit(expr);
        let from = open.len();
        expr.each_part(&mut |part| open.push(part));
        open[from..].reverse();
    }
}

/// Like [`walk`], but skips the left side of `??`, whose value may be missing by design.
pub fn early_reads<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    let mut known = matches!(expr.kind, ExprKind::Default(..));
    each_part(chart, expr, &mut |part| {
        if !std::mem::take(&mut known) {
            early_reads(chart, part, visit);
        }
    });
}

/// Adds the variables that an expression reads. Returns whether the expression also reads something that depends on the active states.
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
                    | Observable::Calls(Since::Start)
                    | Observable::Tokens(Since::Start)
                    | Observable::Cost(Since::Start)
                    | Observable::LastResult
                    | Observable::Streak(_)
                    | Observable::Repeated(..)
            );
        }
    });
    local
}

/// The variables that the actions set, also inside `if` and `for`.
pub fn assigned(actions: &[Action]) -> BTreeSet<VarId> {
    let mut variables = BTreeSet::new();
    Action::walk(actions, &mut |action| {
        if let Action::Assign(variable, _) = action {
            variables.insert(*variable);
        }
    });
    variables
}

/// The variables that a `code` step reads, except those on the left side of `??`.
pub fn code_reads(chart: &Chart, actions: &[Action]) -> BTreeSet<VarId> {
    let mut variables = BTreeSet::new();
    let mut read = |expr| {
        early_reads(chart, expr, &mut |e| {
            if let ExprKind::Variable(id) = e.kind {
                variables.insert(id);
            }
        });
    };
    Action::walk(actions, &mut |action| match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => read(e),
        // A `code` step contains only assignments, `if` and `for`.
        _ => {}
    });
    variables
}

/// Whether a transition into `leaf` may assign one of the variables: in its own actions, or in those of states that it may exit or
/// enter.
pub fn changes(
    chart: &Chart,
    transition: &Transition,
    leaf: StateId,
    variables: &BTreeSet<VarId>,
) -> bool {
    let sets = |actions: &[Action]| !assigned(actions).is_disjoint(variables);
    let moved = !transition.targets.is_empty();
    let entered = chart.ancestors(leaf).any(|s| chart.state(s).entry.iter().any(|b| sets(b)));
    let left = (transition.source.0..chart.state(transition.source).end.0)
        .map(StateId)
        .chain(chart.ancestors(transition.source))
        .any(|s| chart.state(s).exit.iter().any(|b| sets(b)));
    // Which `initial` and history actions run depends on the histories, so all of them count.
    let defaulted = || chart.states.iter().any(|s| sets(&s.default_actions));
    sets(&transition.actions) || (moved && (entered || left || defaulted()))
}

/// Whether a transition reads the data of its trigger, in its guard, its arguments or its actions.
pub fn takes_payload(transition: &Transition) -> bool {
    let mut takes = false;
    let mut look = |expr| {
        own_walk(expr, &mut |e| takes |= matches!(e.kind, ExprKind::Payload(_)));
    };
    transition.guard.iter().for_each(&mut look);
    transition.targets.iter().flat_map(|t| &t.arguments).for_each(&mut look);
    Action::walk(&transition.actions, &mut |action| {
        own_expressions(action).into_iter().for_each(&mut look);
    });
    takes
}

/// The expressions of an action, without those of the actions nested in it.
pub fn own_expressions(action: &Action) -> Vec<&Expr> {
    match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => vec![e],
        Action::Do(_, es) | Action::Raise(_, es) | Action::Result(_, es) => es.iter().collect(),
        Action::Send { arguments, after, element, .. } => {
            arguments.iter().chain(after).chain(element.as_deref()).collect()
        }
        Action::Cancel(_) => Vec::new(),
        Action::Log(text) => text.holes().collect(),
    }
}
