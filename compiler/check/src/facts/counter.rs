//! Counters: whole-number variables that a chart counts up or down, the conditions that bound them, and the assignments that change
//! them.
use crate::facts::interval::{Range, order, turned};
use crate::facts::uses::{own_walk, reads};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, CompareOp, Expr, ExprKind, StepKind, Type,
    UnaryOp, VariableKind,
};
use std::collections::BTreeSet;

/// A comparison of a counter with an expression that no run changes: `counter op bound`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CounterBound<'e> {
    pub(crate) counter: VarId,
    pub(crate) op: CompareOp,
    pub(crate) than: &'e Expr,
}

/// The comparisons of counters that must be true for the condition to hold. Variables that are reset in each turn are included.
pub(crate) fn bounds<'e>(chart: &'e Chart, guard: &'e Expr) -> Vec<CounterBound<'e>> {
    let mut found = Vec::new();
    let mut open = vec![guard];
    while let Some(expr) = open.pop() {
        if let ExprKind::Binary(BinaryOp::And, a, b) = &expr.kind {
            open.extend([&**a, &**b]);
        }
        if let ExprKind::Predicate(id) = expr.kind {
            open.push(&chart.predicates[id.index()].expr);
        }
        let (compared, opposite) = negated(expr);
        let ExprKind::Compare(first, rest) = &compared.kind else { continue };
        let [(op, second)] = rest.as_slice() else { continue };
        for (side, other, swap) in [(&**first, second, false), (second, &**first, true)] {
            if let (ExprKind::Variable(counter), Some(op)) =
                (&side.kind, ordered(*op, swap, opposite))
                && is_counter(chart, *counter)
                && is_fixed(chart, other)
            {
                found.push(CounterBound { counter: *counter, op, than: other });
            }
        }
    }
    found
}

/// If the expression is `not e`: `e` and `true`. Otherwise: the expression itself and `false`.
fn negated(expr: &Expr) -> (&Expr, bool) {
    if let ExprKind::Unary(UnaryOp::Not, inner) = &expr.kind {
        (inner, true)
    } else {
        (expr, false)
    }
}

/// The ordering that a comparison asserts: negated if `opposite`, with its sides swapped if `swap`. `None` for `==`, `!=` and `in`.
fn ordered(op: CompareOp, swap: bool, opposite: bool) -> Option<CompareOp> {
    let op = order(op, !opposite).filter(|op| *op != CompareOp::Equal)?;
    Some(if swap { turned(op) } else { op })
}

fn is_counter(chart: &Chart, id: VarId) -> bool {
    let row = &chart.variables[id.index()];
    row.ty == Type::Int && matches!(row.kind, VariableKind::Var { .. })
}

/// Whether the variable is an Int that the chart sets and that keeps its value across turns.
pub(crate) fn is_lasting(chart: &Chart, id: VarId) -> bool {
    is_counter(chart, id) && !is_of_turn(chart, id)
}

/// Whether the variable is reset in each turn.
pub(crate) fn is_of_turn(chart: &Chart, id: VarId) -> bool {
    matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
}

/// Whether the expression consists of params, whole numbers and arithmetic only, so that its value is constant during a run.
fn is_fixed(chart: &Chart, expr: &Expr) -> bool {
    let mut fixed = true;
    own_walk(expr, &mut |e| {
        fixed &= match e.kind {
            ExprKind::Variable(id) => {
                matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
            }
            ExprKind::Int(_) | ExprKind::Binary(..) | ExprKind::Unary(..) => true,
            _ => false,
        };
    });
    fixed
}

/// The amount that the assigned value adds to the counter: `n` for `x + n` and `n + x`, `-n` for `x - n`.
pub(crate) fn step(counter: VarId, value: &Expr) -> Option<i64> {
    let own = |e: &Expr| e.kind == ExprKind::Variable(counter);
    match &value.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => added(own(a), a, own(b), b),
        ExprKind::Builtin(Builtin::JsAdd, both) => match both.as_slice() {
            [a, b] => added(own(a), a, own(b), b),
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Subtract, a, b) => match b.kind {
            ExprKind::Int(n) if own(a) => n.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

fn added(first: bool, a: &Expr, second: bool, b: &Expr) -> Option<i64> {
    match (&a.kind, &b.kind) {
        (_, ExprKind::Int(n)) if first => Some(*n),
        (ExprKind::Int(n), _) if second => Some(*n),
        _ => None,
    }
}

/// The effect of an assignment on its counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterChange {
    /// Adds this number, which is not zero.
    By(i64),
    /// Sets the counter to a value that is constant during a run: a number, or `None` if it is not a literal.
    To(Option<i64>),
    /// Any other effect.
    Other,
}

/// The owner of an action block that sets a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The actions of a transition.
    Transition(TransitionId),
    /// The `entry`, `exit` or default actions of a state.
    State(StateId),
    /// The code of a step.
    Step(StepId),
}

/// An assignment to a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The owner of the block with the assignment.
    pub owner: Owner,
    /// The index of this assignment among the owner's assignments to this counter.
    pub nth: usize,
    pub(crate) change: CounterChange,
    /// Whether a `for` in the block assigns the counter, so that it may change several times.
    pub(crate) is_repeated: bool,
}

/// Every assignment to the counter; `None` if the answer of a step or the result of a tool call sets it as well.
pub(crate) fn writers(chart: &Chart, counter: VarId) -> Option<Vec<Writer>> {
    let answered = chart.steps.iter().any(|s| s.into == Some(counter))
        || chart
            .choices
            .iter()
            .any(|c| matches!(c.kind, ChoiceKind::Call(_, Some(id)) if id == counter));
    if answered {
        return None;
    }
    let mut found: Vec<Writer> = Vec::new();
    let mut look = |owner: Owner, block: &[Action]| {
        let mut is_repeated = false;
        Action::walk(block, &mut |action| {
            is_repeated |= matches!(action, Action::For(_, _, body) if sets(body, counter));
        });
        Action::walk(block, &mut |action| {
            if let Action::Assign(id, value) = action
                && *id == counter
            {
                let nth = found.iter().rev().take_while(|w| w.owner == owner).count();
                let change = change(chart, counter, value);
                found.push(Writer { owner, nth, change, is_repeated });
            }
        });
    };
    for (i, state) in chart.states.iter().enumerate() {
        for block in state.entry.iter().chain([&state.default_actions]).chain(&state.exit) {
            look(Owner::State(StateId::at(i)), block);
        }
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        look(Owner::Transition(TransitionId::at(i)), &transition.actions);
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if let StepKind::Code(block) = &step.kind {
            look(Owner::Step(StepId::at(i)), block);
        }
    }
    Some(found)
}

fn change(chart: &Chart, counter: VarId, value: &Expr) -> CounterChange {
    match step(counter, value) {
        Some(by) if by != 0 => return CounterChange::By(by),
        // Adding zero is neither progress nor a reset.
        Some(_) => return CounterChange::Other,
        None => {}
    }
    let mut read = BTreeSet::new();
    let local = reads(chart, value, &mut read);
    let is_param =
        |id: &VarId| matches!(chart.variables[id.index()].kind, VariableKind::Param { .. });
    if local || !read.iter().all(is_param) || !is_fixed(chart, value) {
        return CounterChange::Other;
    }
    CounterChange::To(if let ExprKind::Int(n) = value.kind { Some(n) } else { None })
}

/// Whether the value is constant during a run, so that the assignment resets the counter.
pub(crate) fn is_reset(chart: &Chart, counter: VarId, value: &Expr) -> bool {
    matches!(change(chart, counter, value), CounterChange::To(_))
}

/// Whether the actions assign the counter, also inside `if` and `for`.
pub(crate) fn sets(actions: &[Action], counter: VarId) -> bool {
    let mut sets = false;
    Action::walk(actions, &mut |a| sets |= matches!(a, Action::Assign(id, _) if *id == counter));
    sets
}

/// The bounds of an expression while the counter is within `range`. Assumes that a param without a declared range has its default
/// value, if that is positive.
pub(crate) fn value(chart: &Chart, expr: &Expr, counter: VarId, range: Range) -> Range {
    let of = |e: &Expr| value(chart, e, counter, range);
    match &expr.kind {
        ExprKind::Int(n) => Range::one(*n),
        ExprKind::Variable(id) if *id == counter => range,
        ExprKind::Variable(id) => {
            let variable = &chart.variables[id.index()];
            match (&variable.kind, &variable.default) {
                (VariableKind::Param { range: Some((Value::Int(low), Value::Int(high))) }, _) => {
                    Range { low: Some(*low), high: Some(*high) }
                }
                (VariableKind::Param { range: None }, Some(default)) => match default.kind {
                    // A default of 0 suggests that the host sets the actual number, so nothing is assumed.
                    ExprKind::Int(n) if n > 0 => Range::one(n),
                    _ => Range::default(),
                },
                _ => Range::default(),
            }
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => of(inner).negated(),
        ExprKind::Binary(BinaryOp::Add, a, b) => of(a).plus(of(b)),
        ExprKind::Binary(BinaryOp::Subtract, a, b) => of(a).plus(of(b).negated()),
        ExprKind::Builtin(Builtin::JsAdd, both) => match both.as_slice() {
            [a, b] => of(a).plus(of(b)),
            _ => Range::default(),
        },
        ExprKind::If(_, yes, no) => of(yes).join(of(no)),
        _ => Range::default(),
    }
}
