//! The bounds of whole numbers: intervals, the bounds of expressions, and what a condition says about the variables that it reads.
//!
//! **The problem.** Whether `tries < 3` can hold depends on what `tries` may be. The question arises for the whole chart
//! ([`super::ranges`]), at one point of a run ([`crate::analysis::turn::flow`]), and while conditions are compared with each other
//! ([`super::conditions`]). All of them need the same arithmetic.
//!
//! **The idea.** A [`Range`] is an interval. [`range`] computes the interval of an expression from those of its variables, and [`assume`]
//! narrows the intervals of variables, given how a condition evaluates. Who calls them decides what is known of the variables, by
//! implementing [`Bounds`]. A condition whose evaluation fails counts as false, so "it is not true" says less than "it is false"
//! ([`Outcome`]).
//!
//! **Example.** With `n` in 0..=5 and a param `most` in 1..=3, `min(n + 1, most)` is in 1..=3. If `n >= most` is true, `n` is in 1..=5. If it
//! is not true, `n` is in 0..=2.

use super::usage::assigned;
use chartc_core::arena::VarId;
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, Observable, Trigger, Type,
    TypeKind, UnaryOp, VariableKind,
};

/// The number of times that bounds grow freely.
const PATIENCE: u8 = 4;
/// The number of times that bounds grow before they become unbounded.
const GROWTHS: u8 = 24;

/// An interval from the least to the greatest value, both included. `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The least value.
    pub low: Option<i64>,
    /// The greatest value.
    pub high: Option<i64>,
}

impl Range {
    /// The interval that contains nothing.
    pub(crate) const EMPTY: Self = Self { low: Some(1), high: Some(0) };
    /// The interval of all numbers that are not negative.
    pub(crate) const COUNT: Self = Self { low: Some(0), high: None };

    pub(crate) const fn one(value: i64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    pub(crate) fn is_empty(self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > high)
    }

    /// The only value, if there is one.
    pub(crate) fn only(self) -> Option<i64> {
        self.low.filter(|low| self.high == Some(*low))
    }

    /// The smallest interval that contains both intervals.
    pub(crate) fn join(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self {
            low: self.low.zip(other.low).map(|(a, b)| a.min(b)),
            high: self.high.zip(other.high).map(|(a, b)| a.max(b)),
        }
    }

    /// The intersection.
    pub(crate) fn meet(self, other: Self) -> Self {
        let both = |a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, other) => one.or(other),
        };
        Self {
            low: both(self.low, other.low, i64::max),
            high: both(self.high, other.high, i64::min),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |(a, b): (i64, i64)| a.checked_add(b);
        Self {
            low: self.low.zip(other.low).and_then(sum),
            high: self.high.zip(other.high).and_then(sum),
        }
    }

    pub(crate) fn negated(self) -> Self {
        Self {
            low: self.high.and_then(i64::checked_neg),
            high: self.low.and_then(i64::checked_neg),
        }
    }

    /// The product. Unbounded on both sides if one of the intervals is unbounded on a side.
    fn times(self, other: Self) -> Self {
        let ends = |range: Self| range.low.zip(range.high);
        let (Some((a, b)), Some((c, d))) = (ends(self), ends(other)) else {
            return Self::default();
        };
        let corners: Option<Vec<i64>> =
            [(a, c), (a, d), (b, c), (b, d)].into_iter().map(|(x, y)| x.checked_mul(y)).collect();
        corners.map_or_else(Self::default, |corners| Self {
            low: corners.iter().copied().min(),
            high: corners.iter().copied().max(),
        })
    }

    /// The smallest (or, with `i64::max`, the greatest) of two numbers.
    fn pick(self, other: Self, pick: fn(i64, i64) -> i64) -> Self {
        let is_least = pick(0, 1) == 0;
        let both = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| pick(a, b));
        let one = |a: Option<i64>, b: Option<i64>| both(a, b).or(a).or(b);
        if is_least {
            Self { low: both(self.low, other.low), high: one(self.high, other.high) }
        } else {
            Self { low: one(self.low, other.low), high: both(self.high, other.high) }
        }
    }

    /// The bounds to continue with after they have grown from `known` for the `times`th time. After [`PATIENCE`] times they grow to the next
    /// threshold, and after [`GROWTHS`] times they become unbounded, so that the iterations end.
    pub(crate) fn grown(self, known: Self, times: u8, stops: &[i64]) -> Self {
        if times <= PATIENCE {
            return self;
        }
        self.widened(known, if times <= GROWTHS { stops } else { &[] })
    }

    /// Moves each bound that has grown since `known` outward to the next of `stops`, which are ascending. A bound beyond all of them
    /// becomes unbounded.
    pub(crate) fn widened(self, known: Self, stops: &[i64]) -> Self {
        let low = |n: i64| stops[..stops.partition_point(|s| *s <= n)].last().copied();
        let high = |n: i64| stops.get(stops.partition_point(|s| *s < n)).copied();
        Self {
            low: if self.low == known.low { self.low } else { self.low.and_then(low) },
            high: if self.high == known.high { self.high } else { self.high.and_then(high) },
        }
    }
}

/// The ordering that holds if a comparison by `op` has the value `wanted`: `<` for a `>=` that is false. `None` for `!=` and `in`.
pub(crate) fn order_bounds(op: CompareOp, wanted: bool) -> Option<CompareOp> {
    Some(match (op, wanted) {
        (CompareOp::Less, true) | (CompareOp::GreaterEqual, false) => CompareOp::Less,
        (CompareOp::LessEqual, true) | (CompareOp::Greater, false) => CompareOp::LessEqual,
        (CompareOp::Greater, true) | (CompareOp::LessEqual, false) => CompareOp::Greater,
        (CompareOp::GreaterEqual, true) | (CompareOp::Less, false) => CompareOp::GreaterEqual,
        (CompareOp::Equal, true) | (CompareOp::NotEqual, false) => CompareOp::Equal,
        (CompareOp::Equal, false) | (CompareOp::NotEqual, true) => CompareOp::NotEqual,
        (CompareOp::In | CompareOp::NotIn, _) => return None,
    })
}

/// The same ordering with its sides swapped.
pub(crate) fn turned(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        _ => op,
    }
}

/// The values that are in the relation `op` to some value of `other`: for `<` and 1..=5, the values up to 4.
pub(crate) fn within(op: CompareOp, other: Range) -> Range {
    match op {
        CompareOp::Less => Range { low: None, high: other.high.and_then(|n| n.checked_sub(1)) },
        CompareOp::LessEqual => Range { low: None, high: other.high },
        CompareOp::Greater => Range { low: other.low.and_then(|n| n.checked_add(1)), high: None },
        CompareOp::GreaterEqual => Range { low: other.low, high: None },
        CompareOp::Equal => other,
        CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => Range::default(),
    }
}

/// The values of `range` that are in the relation `op` to some value of `other`.
fn related(range: Range, op: CompareOp, other: Range) -> Range {
    let Some(only) = other.only().filter(|_| op == CompareOp::NotEqual) else {
        return range.meet(within(op, other));
    };
    // What differs from one number is an interval again only if the number is at an end.
    Range {
        low: if range.low == Some(only) { only.checked_add(1) } else { range.low },
        high: if range.high == Some(only) { only.checked_sub(1) } else { range.high },
    }
}

/// The value of a literal, also a negated one or one converted to a Float.
pub(crate) fn literal(expr: &Expr) -> Option<Value> {
    let negated = |inner: &Expr| match literal(inner)? {
        Value::Int(n) => n.checked_neg().map(Value::Int),
        Value::Float(x) => Some(Value::Float(-x)),
        _ => None,
    };
    match &expr.kind {
        ExprKind::None => Some(Value::None),
        ExprKind::Bool(value) => Some(Value::Bool(*value)),
        ExprKind::Int(value) => Some(Value::Int(*value)),
        ExprKind::Float(value) => Some(Value::Float(*value)),
        ExprKind::Duration(value) => Some(Value::Duration(*value)),
        ExprKind::Text(text) => text.literal().map(|t| Value::Text(t.into())),
        ExprKind::Enum(_, name) => Some(Value::Text(name.clone())),
        ExprKind::Unary(UnaryOp::Negate, inner) => negated(inner),
        ExprKind::Builtin(Builtin::Float, items) => match items.as_slice() {
            [only] => match literal(only)? {
                Value::Int(n) => Some(Value::Float(n as f64)),
                Value::Float(x) => Some(Value::Float(x)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The declared range of a param of whole numbers, durations in milliseconds; unbounded for other variables.
pub(crate) fn declared(chart: &Chart, id: VarId) -> Range {
    let whole = |value: &Value| match value {
        Value::Int(n) => Some(*n),
        Value::Duration(n) => i64::try_from(*n).ok(),
        _ => None,
    };
    match &chart.variables[id.index()].kind {
        VariableKind::Param { range: Some((low, high)) } => {
            Range { low: whole(low), high: whole(high) }
        }
        VariableKind::Param { range: None }
        | VariableKind::Input
        | VariableKind::Var { .. }
        | VariableKind::Asked => Range::default(),
    }
}

/// The declared range of a variable; of a param without one, its default value if that is positive.
pub(crate) fn assumed(chart: &Chart, id: VarId) -> Range {
    let variable = &chart.variables[id.index()];
    match (&variable.kind, &variable.default) {
        (VariableKind::Param { range: None }, Some(default)) => match default.kind {
            // A default of 0 suggests that the host sets the actual number, so nothing is assumed.
            ExprKind::Int(n) if n > 0 => Range::one(n),
            _ => Range::default(),
        },
        _ => declared(chart, id),
    }
}

/// What the declared ranges say of the numbers that a condition reads from the event of its line and from records.
pub(crate) fn declared_of_data(
    chart: &Chart,
    trigger: Option<&Trigger>,
    condition: &Expr,
) -> Vec<Expr> {
    let mut known = Vec::new();
    condition.walk(&mut |part| {
        let field = match (&part.kind, trigger) {
            (ExprKind::Payload(nth), Some(Trigger::Event(events))) => match events[..] {
                [event] => chart.events[event.index()].fields.get(*nth as usize),
                _ => None,
            },
            (ExprKind::Field(whole, name), _) => match whole.ty {
                Type::Named(id) => match &chart.types[id.index()].kind {
                    TypeKind::Record(fields) => fields.iter().find(|field| field.name == *name),
                    TypeKind::Enum(_) => None,
                },
                _ => None,
            },
            _ => None,
        };
        let Some((low, high)) = field.and_then(|field| field.range.as_ref()) else { return };
        for (op, end) in [(CompareOp::GreaterEqual, low), (CompareOp::LessEqual, high)] {
            let kind = match *end {
                Value::Int(n) => ExprKind::Int(n),
                Value::Float(x) => ExprKind::Float(x),
                _ => continue,
            };
            let end = Expr { kind, ty: part.ty.clone() };
            let kind = ExprKind::Compare(Box::new(part.clone()), vec![(op, end)]);
            known.push(Expr { kind, ty: Type::Bool });
        }
    });
    known
}

/// The bounds of an expression, given those of variables. A duration is a number of milliseconds. Unbounded if the expression is not
/// understood, or is no whole number.
pub(crate) fn range(expr: &Expr, variable: &dyn Fn(VarId) -> Range) -> Range {
    let of = |e: &Expr| range(e, variable);
    match &expr.kind {
        ExprKind::Int(n) => Range::one(*n),
        ExprKind::Duration(n) => i64::try_from(*n).map_or(Range::COUNT, Range::one),
        ExprKind::Variable(id) => variable(*id),
        ExprKind::Observable(seen) if is_count(seen) => Range::COUNT,
        ExprKind::Unary(UnaryOp::Negate, inner) => of(inner).negated(),
        ExprKind::Binary(op, a, b) => match op {
            BinaryOp::Add => of(a).plus(of(b)),
            BinaryOp::Subtract => of(a).plus(of(b).negated()),
            BinaryOp::Multiply => of(a).times(of(b)),
            BinaryOp::Modulo => match b.kind {
                ExprKind::Int(n) if n > 0 && a.ty == Type::Int => {
                    Range { low: Some(0), high: Some(n - 1) }
                }
                _ => Range::default(),
            },
            _ => Range::default(),
        },
        ExprKind::If(_, yes, no) => of(yes).join(of(no)),
        ExprKind::Builtin(name, parts) => match (name, &parts[..]) {
            (Builtin::Len, _) => Range::COUNT,
            (Builtin::Abs, [inner]) => {
                let inner = of(inner);
                if inner.low >= Some(0) {
                    inner
                } else {
                    Range { high: inner.join(inner.negated()).high, ..Range::COUNT }
                }
            }
            (Builtin::JsAdd, [a, b]) => of(a).plus(of(b)),
            (Builtin::Within, [of_field, low, high, ..]) => {
                of(of_field).meet(Range { low: of(low).low, high: of(high).high })
            }
            (Builtin::Min | Builtin::Max, [first, rest @ ..]) if !rest.is_empty() => {
                let pick = if *name == Builtin::Min { i64::min } else { i64::max };
                rest.iter().fold(of(first), |range, part| range.pick(of(part), pick))
            }
            _ => Range::default(),
        },
        _ if expr.ty == Type::Duration => Range::COUNT,
        _ => Range::default(),
    }
}

/// Whether the property is a number that is never negative.
fn is_count(seen: &Observable) -> bool {
    !matches!(
        seen,
        Observable::State
            | Observable::In(_)
            | Observable::Health
            | Observable::Advice
            | Observable::LastResult
            | Observable::LastFailed
            | Observable::Event
            | Observable::Repeated(..)
    )
}

/// What is known of variables at one point of a run.
pub(crate) trait Bounds<'c>: Clone {
    /// The chart of the variables.
    fn chart(&self) -> &'c Chart;
    /// The bounds of a variable.
    fn variable(&self, id: VarId) -> Range;
    /// The bounds of the value that is assigned to a variable; `None` if the assignment has no effect on what is known.
    fn assigned(&self, id: VarId, value: &Expr) -> Option<Range>;
    /// Sets the bounds of a variable, which are not empty.
    fn set(&mut self, id: VarId, to: Range);
    /// Drops what is known of a variable only here.
    fn forget(&mut self, id: VarId);
    /// Adds what is possible in another case.
    fn join(&mut self, other: &Self);
}

/// Runs actions on bounds, and calls `note` with the bounds of each value that they may assign. Returns whether a run gets past them.
pub(crate) fn execute<'c, B: Bounds<'c>>(
    bounds: &mut B,
    actions: &[Action],
    note: &mut dyn FnMut(VarId, Range),
) -> bool {
    for action in actions {
        match action {
            Action::Assign(id, value) => {
                if let Some(range) = bounds.assigned(*id, value) {
                    bounds.set(*id, range);
                    note(*id, range);
                }
            }
            Action::If(condition, then, otherwise) => {
                let mut other = bounds.clone();
                let first = assume(bounds, condition, Outcome::True) && execute(bounds, then, note);
                let second = assume(&mut other, condition, Outcome::False)
                    && execute(&mut other, otherwise, note);
                // A condition that fails ends the block.
                if !either(bounds, other, (first, second)) {
                    return false;
                }
            }
            Action::For(_, _, body) => {
                // An iteration may begin after earlier ones have set these variables, and the list may be empty.
                let set = assigned(body);
                for id in &set {
                    bounds.forget(*id);
                }
                execute(bounds, body, note);
                for id in &set {
                    bounds.forget(*id);
                }
            }
            _ => {}
        }
    }
    true
}

/// How a condition evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    True,
    False,
    /// To false, or its evaluation fails.
    NotTrue,
}

/// Narrows the bounds, given how a condition evaluates. Returns `false` if that is impossible; the bounds are then meaningless.
pub(crate) fn assume<'c, B: Bounds<'c>>(
    bounds: &mut B,
    condition: &Expr,
    outcome: Outcome,
) -> bool {
    match (&condition.kind, outcome) {
        (ExprKind::Bool(value), _) => *value == (outcome == Outcome::True),
        (ExprKind::Predicate(id), _) => {
            let chart = bounds.chart();
            assume(bounds, &chart.predicates[id.index()].expr, outcome)
        }
        (ExprKind::Unary(UnaryOp::Not, inner), Outcome::True) => {
            assume(bounds, inner, Outcome::False)
        }
        (ExprKind::Unary(UnaryOp::Not, inner), Outcome::False) => {
            assume(bounds, inner, Outcome::True)
        }
        (ExprKind::Unary(UnaryOp::Not, inner), Outcome::NotTrue) => {
            may_fail(inner) || assume(bounds, inner, Outcome::True)
        }
        (ExprKind::Binary(BinaryOp::And, a, b), Outcome::True)
        | (ExprKind::Binary(BinaryOp::Or, a, b), Outcome::False) => {
            assume(bounds, a, outcome) && assume(bounds, b, outcome)
        }
        (ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b), Outcome::True | Outcome::False) => {
            let mut other = bounds.clone();
            let (first, second) = (assume(bounds, a, outcome), assume(&mut other, b, outcome));
            either(bounds, other, (first, second))
        }
        (ExprKind::Binary(BinaryOp::And, a, b), Outcome::NotTrue) => {
            let mut other = bounds.clone();
            let first = assume(bounds, a, outcome);
            let second = assume(&mut other, a, Outcome::True) && assume(&mut other, b, outcome);
            either(bounds, other, (first, second))
        }
        (ExprKind::Binary(BinaryOp::Or, a, b), Outcome::NotTrue) => {
            assume(bounds, a, outcome) && (may_fail(a) || assume(bounds, b, outcome))
        }
        (ExprKind::Compare(first, rest), _) => match &rest[..] {
            [(op, second)] => compare(bounds, (first, *op, second), outcome),
            _ => true,
        },
        _ => true,
    }
}

/// Joins the bounds of two cases, each of which may be impossible.
fn either<'c, B: Bounds<'c>>(bounds: &mut B, other: B, possible: (bool, bool)) -> bool {
    match possible {
        (true, true) => bounds.join(&other),
        (false, true) => *bounds = other,
        (_, false) => {}
    }
    possible.0 || possible.1
}

fn compare<'c, B: Bounds<'c>>(
    bounds: &mut B,
    (left, op, right): (&Expr, CompareOp, &Expr),
    outcome: Outcome,
) -> bool {
    let is_whole = |e: &Expr| matches!(e.ty, Type::Int | Type::Duration);
    let fails = outcome == Outcome::NotTrue && (may_fail(left) || may_fail(right));
    let Some(op) = order_bounds(op, outcome == Outcome::True)
        .filter(|_| !fails && is_whole(left) && is_whole(right))
    else {
        return true;
    };
    let own = |e: &Expr| range(e, &|id| bounds.variable(id));
    let (one, other) = (own(left), own(right));
    let (one, other) = (related(one, op, other), related(other, turned(op), one));
    if one.is_empty() || other.is_empty() {
        return false;
    }
    for (side, to) in [(left, one), (right, other)] {
        if let ExprKind::Variable(id) = side.kind {
            bounds.set(id, to);
        }
    }
    true
}

/// By variable: the numbers at which growing bounds stop first, because the chart compares the variable with them or computes its value
/// from them. Ascending.
pub(crate) fn thresholds(chart: &Chart) -> Vec<Vec<i64>> {
    let mut stops = vec![Vec::new(); chart.variables.len()];
    let mut note = |id: VarId, than: &Expr| {
        let range = range(than, &|id| assumed(chart, id));
        // `x < 3` is decided at 2 and 3, `x <= 3` at 3 and 4.
        let near = |n: i64| [n.saturating_sub(1), n, n.saturating_add(1)];
        stops[id.index()].extend([range.low, range.high].into_iter().flatten().flat_map(near));
    };
    chart.transitions.iter().filter_map(|t| t.guard.as_ref()).for_each(|e| compared(e, &mut note));
    chart.predicates.iter().for_each(|p| compared(&p.expr, &mut note));
    let lines = chart.tool_lines().filter_map(|line| line.guard.as_ref());
    lines.for_each(|e| compared(e, &mut note));
    for block in chart.bodies() {
        Action::walk(block, &mut |action| match action {
            Action::Assign(id, value) => value.walk(&mut |part| note(*id, part)),
            Action::If(condition, ..) => compared(condition, &mut note),
            _ => {}
        });
    }
    for stops in &mut stops {
        stops.sort_unstable();
        stops.dedup();
    }
    stops
}

/// Calls `note` with each variable in a condition that is compared, and with what it is compared with.
fn compared(condition: &Expr, note: &mut dyn FnMut(VarId, &Expr)) {
    condition.walk(&mut |part| {
        let ExprKind::Compare(first, rest) = &part.kind else { return };
        let [(_, second)] = &rest[..] else { return };
        for (side, other) in [(&**first, second), (second, &**first)] {
            if let ExprKind::Variable(id) = side.kind {
                note(id, other);
            }
        }
    });
}

/// Whether the evaluation of an expression may fail. True in cases of doubt; overflow is ignored.
pub(crate) fn may_fail(expr: &Expr) -> bool {
    expr.any(&mut |e| match &e.kind {
        ExprKind::Call(..)
        | ExprKind::Index(..)
        | ExprKind::Unknown(_)
        | ExprKind::Predicate(_) => true,
        ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, parts) => {
            parts.iter().any(|part| part.ty != Type::Int)
        }
        ExprKind::Builtin(name, _) => !matches!(
            name,
            Builtin::Len | Builtin::Str | Builtin::Bool | Builtin::Concat | Builtin::IsA
        ),
        ExprKind::Binary(op, a, _) => {
            !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Subtract)
                || a.ty == Type::Json
        }
        ExprKind::Field(inner, _) => inner.ty == Type::Json,
        ExprKind::Observable(_) | ExprKind::Payload(_) | ExprKind::Answer(_) => e.ty == Type::Json,
        _ => false,
    })
}

/// Whether an action may fail, which ends its block.
pub(crate) fn fails(action: &Action) -> bool {
    match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => may_fail(e),
        Action::Log(_) | Action::Result(..) => action.expressions().into_iter().any(may_fail),
        Action::Do(..) | Action::Raise(..) | Action::Send { .. } => true,
        Action::Cancel(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: i64, high: i64) -> Range {
        Range { low: Some(low), high: Some(high) }
    }

    #[test]
    fn intervals_are_joined_met_and_computed_with() {
        let (a, b) = (between(-2, 3), between(1, 5));
        assert_eq!(a.join(b), between(-2, 5));
        assert_eq!(a.meet(b), between(1, 3));
        assert_eq!(a.plus(b), between(-1, 8));
        assert_eq!(a.times(b), between(-10, 15));
        assert_eq!(a.negated(), between(-3, 2));
        assert_eq!(a.pick(b, i64::min), between(-2, 3));
        assert_eq!(a.pick(b, i64::max), between(1, 5));
        assert_eq!(Range::COUNT.pick(b, i64::min), between(0, 5));
        assert!(between(1, 0).is_empty() && Range::EMPTY.join(a) == a);
        let far = Range::one(i64::MAX);
        assert_eq!((far.plus(b), far.times(b)), (Range::default(), Range::default()));
    }

    #[test]
    fn growing_bounds_stop_at_the_numbers_that_matter() {
        let stops = [2, 3, 9];
        assert_eq!(between(0, 4).widened(between(0, 3), &stops), between(0, 9));
        assert_eq!(between(0, 10).widened(between(0, 9), &stops), Range::COUNT);
        assert_eq!(between(0, 3).widened(between(0, 3), &stops), between(0, 3));
    }

    #[test]
    fn comparisons_narrow_both_sides() {
        let (n, most) = (between(0, 5), between(1, 3));
        assert_eq!(related(n, CompareOp::GreaterEqual, most), between(1, 5));
        assert_eq!(related(n, CompareOp::Less, most), between(0, 2));
        assert_eq!(related(n, CompareOp::NotEqual, Range::one(5)), between(0, 4));
        assert_eq!(related(n, CompareOp::NotEqual, Range::one(3)), n);
        assert!(related(n, CompareOp::Greater, Range::one(5)).is_empty());
    }
}
