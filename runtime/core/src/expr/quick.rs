//! Compiled conditions and assignments over Bool, Int, Float and enums, of which most transitions consist.
//!
//! This is only an optimization. In a case that the compiled form does not cover (a variable without a value, a value of another kind, an
//! overflow) it returns nothing; then the evaluator evaluates the expression, and reports errors. Compiled expressions are so small that
//! the evaluator never runs out of fuel on them. For example, with `n` as variable 0:
//!
//! ```text
//! `n < 10`       Bool::Near(Less, Variable(0), 10)       true if `n` is 3; nothing if `n` has no value
//! `n = n + 1`    Act::Step(0, 1)                         `n` becomes 4; nothing if that overflows
//! `len(xs) > 2`  is not compiled
//! ```

use super::Value;
use crate::arena::{EventId, StateId, TransitionId};
use crate::model::{Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, Observable, Type, UnaryOp};
use crate::ops;
use crate::store::bits;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

/// The data that compiled expressions read.
#[derive(Clone, Copy)]
pub(crate) struct Scalars<'a> {
    /// The variables, by id.
    pub(crate) variables: &'a [Option<Value>],
    /// The values of the current event, choice or answer.
    pub(crate) payload: &'a [Value],
    /// The active states, as a bit set.
    pub(crate) configuration: &'a [u64],
}

/// The place of a scalar.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    Variable(u32),
    Payload(u32),
}

impl Source {
    #[inline]
    fn of<'a>(self, scalars: &Scalars<'a>) -> Option<&'a Value> {
        match self {
            Self::Variable(nth) => scalars.variables.get(nth as usize)?.as_ref(),
            Self::Payload(nth) => scalars.payload.get(nth as usize),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Int {
    Is(i64),
    At(Source),
    Negate(Box<Self>),
    Apply(Arithmetic, Box<(Self, Self)>),
    If(Box<(Bool, Self, Self)>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Modulo,
}

#[derive(Debug, Clone)]
pub(crate) enum Float {
    Is(f64),
    At(Source),
    Negate(Box<Self>),
    Apply(FloatArithmetic, Box<(Self, Self)>),
    If(Box<(Bool, Self, Self)>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum FloatArithmetic {
    Add,
    Subtract,
    Multiply,
}

/// A condition.
#[derive(Debug, Clone)]
pub(crate) enum Bool {
    Is(bool),
    At(Source),
    In(StateId),
    Not(Box<Self>),
    And(Box<(Self, Self)>),
    Or(Box<(Self, Self)>),
    If(Box<(Self, Self, Self)>),
    /// The comparison of a scalar Int with a literal.
    Near(CompareOp, Source, i64),
    Ints(CompareOp, Box<(Int, Int)>),
    Floats(CompareOp, Box<(Float, Float)>),
    /// Whether an enum has this value.
    Named(Source, String),
}

/// An action.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// `n = n + by`, without evaluating an expression.
    Step(u32, i64),
    Int(u32, Int),
    Float(u32, Float),
    Bool(u32, Bool),
    /// Raises an event that has no data.
    Raise(EventId),
}

impl Int {
    #[inline]
    pub(crate) fn value(&self, scalars: &Scalars<'_>) -> Option<i64> {
        if let Self::Is(i) = self { Some(*i) } else { self.computed(scalars) }
    }

    fn computed(&self, scalars: &Scalars<'_>) -> Option<i64> {
        match self {
            Self::Is(i) => Some(*i),
            Self::At(place) => {
                let Value::Int(i) = place.of(scalars)? else { return None };
                Some(*i)
            }
            Self::Negate(of) => of.value(scalars)?.checked_neg(),
            Self::Apply(op, both) => {
                let (a, b) = (both.0.value(scalars)?, both.1.value(scalars)?);
                match op {
                    Arithmetic::Add => a.checked_add(b),
                    Arithmetic::Subtract => a.checked_sub(b),
                    Arithmetic::Multiply => a.checked_mul(b),
                    Arithmetic::FloorDivide => ops::floor_div(a, b).ok(),
                    Arithmetic::Modulo => ops::modulo(a, b).ok(),
                }
            }
            Self::If(parts) => {
                if parts.0.holds(scalars)? { &parts.1 } else { &parts.2 }.value(scalars)
            }
        }
    }
}

impl Float {
    pub(crate) fn value(&self, scalars: &Scalars<'_>) -> Option<f64> {
        match self {
            Self::Is(x) => Some(*x),
            Self::At(place) => {
                let Value::Float(x) = place.of(scalars)? else { return None };
                Some(*x)
            }
            Self::Negate(of) => Some(-of.value(scalars)?),
            Self::Apply(op, both) => {
                let (a, b) = (both.0.value(scalars)?, both.1.value(scalars)?);
                let result = match op {
                    FloatArithmetic::Add => a + b,
                    FloatArithmetic::Subtract => a - b,
                    FloatArithmetic::Multiply => a * b,
                };
                // An infinite result may be an error, which only the evaluator reports.
                result.is_finite().then_some(result)
            }
            Self::If(parts) => {
                if parts.0.holds(scalars)? { &parts.1 } else { &parts.2 }.value(scalars)
            }
        }
    }
}

impl Bool {
    /// Whether the condition holds; `None` if the evaluator must decide.
    #[inline]
    pub(crate) fn holds(&self, scalars: &Scalars<'_>) -> Option<bool> {
        if let Self::Near(op, place, to) = self {
            let Value::Int(i) = place.of(scalars)? else { return None };
            return ordered(*op, Some(i.cmp(to)));
        }
        self.holds_otherwise(scalars)
    }

    fn holds_otherwise(&self, scalars: &Scalars<'_>) -> Option<bool> {
        match self {
            Self::Is(b) => Some(*b),
            Self::At(place) => {
                let Value::Bool(b) = place.of(scalars)? else { return None };
                Some(*b)
            }
            Self::In(state) => Some(bits::has(scalars.configuration, state.index())),
            Self::Not(of) => Some(!of.holds(scalars)?),
            Self::And(both) => Some(both.0.holds(scalars)? && both.1.holds(scalars)?),
            Self::Or(both) => Some(both.0.holds(scalars)? || both.1.holds(scalars)?),
            Self::If(parts) => {
                if parts.0.holds(scalars)? { &parts.1 } else { &parts.2 }.holds(scalars)
            }
            Self::Near(op, place, to) => {
                let Value::Int(i) = place.of(scalars)? else { return None };
                ordered(*op, Some(i.cmp(to)))
            }
            Self::Ints(op, both) => {
                ordered(*op, Some(both.0.value(scalars)?.cmp(&both.1.value(scalars)?)))
            }
            Self::Floats(op, both) => {
                ordered(*op, both.0.value(scalars)?.partial_cmp(&both.1.value(scalars)?))
            }
            Self::Named(place, name) => {
                let Value::Text(text) = place.of(scalars)? else { return None };
                Some(text == name)
            }
        }
    }
}

/// The result of a comparison operator for an ordering; `None` stands for a NaN.
#[inline]
fn ordered(op: CompareOp, order: Option<Ordering>) -> Option<bool> {
    match op {
        CompareOp::Equal => Some(order.is_some_and(Ordering::is_eq)),
        CompareOp::NotEqual => Some(!order.is_some_and(Ordering::is_eq)),
        CompareOp::Less => Some(order.is_some_and(Ordering::is_lt)),
        CompareOp::LessEqual => Some(order.is_some_and(Ordering::is_le)),
        CompareOp::Greater => Some(order.is_some_and(Ordering::is_gt)),
        CompareOp::GreaterEqual => Some(order.is_some_and(Ordering::is_ge)),
        CompareOp::In | CompareOp::NotIn => None,
    }
}

// Compiles expressions and blocks, as far as they are supported.

/// The maximum nesting depth of a compiled expression.
const DEPTH: u32 = 32;

/// The maximum number of nodes of a compiled guard or block. It is far below the budget of an evaluation.
const NODES: u32 = 2_000;

/// The compiled conditions and blocks of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Quick {
    guards: Vec<Option<Bool>>,
    /// The actions of all blocks, concatenated.
    acts: Vec<Act>,
    /// For each transition, a range of `acts`; empty if its actions are not compiled.
    lines: Vec<Range<u32>>,
    /// For each `enter` and `exit` block, a range of `acts`; empty if the block is not compiled.
    blocks: Vec<Range<u32>>,
    /// For each state, the indices in `blocks` of its first `enter` and its first `exit` block.
    states: Vec<(u32, u32)>,
}

impl Quick {
    /// Compiles what is supported, in time linear in the size of the chart.
    pub(crate) fn of(chart: &Chart) -> Self {
        let mut acts = Vec::new();
        let mut block = |actions: &Vec<Action>| {
            let start = acts.len();
            acts.extend(Compiler::new(chart).block(actions).unwrap_or_default());
            start as u32..acts.len() as u32
        };
        let lines = chart.transitions.iter().map(|line| block(&line.actions)).collect();
        let mut blocks: Vec<Range<u32>> = Vec::new();
        let mut states = Vec::with_capacity(chart.states.len());
        for state in &chart.states {
            let entry = blocks.len() as u32;
            blocks.extend(state.entry.iter().map(&mut block));
            states.push((entry, blocks.len() as u32));
            blocks.extend(state.exit.iter().map(&mut block));
        }
        let guards = chart
            .transitions
            .iter()
            .map(|line| Compiler::new(chart).bool(line.guard.as_ref()?, 0))
            .collect();
        Self { guards, acts, lines, blocks, states }
    }

    /// The guard of a transition, if it is compiled.
    #[inline]
    pub(crate) fn guard(&self, line: TransitionId) -> Option<&Bool> {
        self.guards.get(line.index())?.as_ref()
    }

    /// The actions of a transition, if they are compiled; otherwise empty.
    #[inline]
    pub(crate) fn line(&self, line: TransitionId) -> &[Act] {
        self.acts_of(self.lines.get(line.index()))
    }

    /// The `enter` block of a state with this number, if it is compiled; otherwise empty.
    #[inline]
    pub(crate) fn entry(&self, state: StateId, nth: u32) -> &[Act] {
        let first = self.states.get(state.index()).map(|(entry, _)| *entry);
        self.acts_of(first.and_then(|first| self.blocks.get((first + nth) as usize)))
    }

    /// The `exit` block of a state with this number, if it is compiled; otherwise empty.
    #[inline]
    pub(crate) fn exit(&self, state: StateId, nth: u32) -> &[Act] {
        let first = self.states.get(state.index()).map(|(_, exit)| *exit);
        self.acts_of(first.and_then(|first| self.blocks.get((first + nth) as usize)))
    }

    #[inline]
    fn acts_of(&self, place: Option<&Range<u32>>) -> &[Act] {
        place.map_or(&[], |place| &self.acts[place.start as usize..place.end as usize])
    }
}

/// The compiler of one guard or block. Its methods return `None` for what is not supported.
struct Compiler<'c> {
    chart: &'c Chart,
    nodes: u32,
}

impl<'c> Compiler<'c> {
    fn new(chart: &'c Chart) -> Self {
        Self { chart, nodes: 0 }
    }

    fn block(&mut self, actions: &[Action]) -> Option<Vec<Act>> {
        if actions.is_empty() || actions.len() > NODES as usize {
            return None;
        }
        actions.iter().map(|action| self.act(action)).collect()
    }

    fn act(&mut self, action: &Action) -> Option<Act> {
        self.count(0)?;
        match action {
            Action::Assign(variable, expr) => {
                let slot = variable.0;
                match &self.chart.variables.get(variable.index())?.ty {
                    Type::Int => self.int(expr, 0).map(|value| assignment(slot, value)),
                    Type::Float => self.float(expr, 0).map(|value| Act::Float(slot, value)),
                    Type::Bool => self.bool(expr, 0).map(|value| Act::Bool(slot, value)),
                    _ => None,
                }
            }
            Action::Raise(event, arguments) => {
                let fields = &self.chart.events.get(event.index())?.fields;
                (fields.is_empty() && arguments.is_empty()).then_some(Act::Raise(*event))
            }
            _ => None,
        }
    }

    fn count(&mut self, depth: u32) -> Option<()> {
        self.nodes += 1;
        (self.nodes <= NODES && depth <= DEPTH).then_some(())
    }

    fn place(expr: &Expr) -> Option<Source> {
        if let ExprKind::Variable(id) = &expr.kind {
            Some(Source::Variable(id.0))
        } else if let ExprKind::Payload(nth) = &expr.kind {
            Some(Source::Payload(*nth))
        } else {
            None
        }
    }

    fn int(&mut self, expr: &Expr, depth: u32) -> Option<Int> {
        self.count(depth)?;
        if expr.ty != Type::Int {
            return None;
        }
        if let Some(place) = Self::place(expr) {
            return Some(Int::At(place));
        }
        if let ExprKind::Int(i) = &expr.kind {
            Some(Int::Is(*i))
        } else if let ExprKind::Unary(UnaryOp::Negate, of) = &expr.kind {
            self.int(of, depth + 1).map(|of| Int::Negate(Box::new(of)))
        } else if let ExprKind::Binary(op, a, b) = &expr.kind {
            let op = match op {
                BinaryOp::Add => Arithmetic::Add,
                BinaryOp::Subtract => Arithmetic::Subtract,
                BinaryOp::Multiply => Arithmetic::Multiply,
                BinaryOp::FloorDivide => Arithmetic::FloorDivide,
                BinaryOp::Modulo => Arithmetic::Modulo,
                // A quotient is a Float, and a power may be one.
                _ => return None,
            };
            let both = (self.int(a, depth + 1)?, self.int(b, depth + 1)?);
            Some(Int::Apply(op, Box::new(both)))
        } else if let ExprKind::If(condition, then, otherwise) = &expr.kind {
            let condition = self.bool(condition, depth + 1)?;
            let both = (self.int(then, depth + 1)?, self.int(otherwise, depth + 1)?);
            Some(Int::If(Box::new((condition, both.0, both.1))))
        } else {
            None
        }
    }

    fn float(&mut self, expr: &Expr, depth: u32) -> Option<Float> {
        self.count(depth)?;
        if expr.ty != Type::Float {
            return None;
        }
        if let Some(place) = Self::place(expr) {
            return Some(Float::At(place));
        }
        if let ExprKind::Float(x) = &expr.kind {
            Some(Float::Is(*x))
        } else if let ExprKind::Unary(UnaryOp::Negate, of) = &expr.kind {
            self.float(of, depth + 1).map(|of| Float::Negate(Box::new(of)))
        } else if let ExprKind::Binary(op, a, b) = &expr.kind {
            let op = match op {
                BinaryOp::Add => FloatArithmetic::Add,
                BinaryOp::Subtract => FloatArithmetic::Subtract,
                BinaryOp::Multiply => FloatArithmetic::Multiply,
                _ => return None,
            };
            let both = (self.float(a, depth + 1)?, self.float(b, depth + 1)?);
            Some(Float::Apply(op, Box::new(both)))
        } else if let ExprKind::If(condition, then, otherwise) = &expr.kind {
            let condition = self.bool(condition, depth + 1)?;
            let both = (self.float(then, depth + 1)?, self.float(otherwise, depth + 1)?);
            Some(Float::If(Box::new((condition, both.0, both.1))))
        } else {
            None
        }
    }

    fn bool(&mut self, expr: &Expr, depth: u32) -> Option<Bool> {
        self.count(depth)?;
        if expr.ty != Type::Bool {
            return None;
        }
        if let Some(place) = Self::place(expr) {
            return Some(Bool::At(place));
        }
        if let ExprKind::Bool(b) = &expr.kind {
            Some(Bool::Is(*b))
        } else if let ExprKind::Observable(Observable::In(state)) = &expr.kind {
            Some(Bool::In(*state))
        } else if let ExprKind::Predicate(id) = &expr.kind {
            self.bool(&self.chart.predicates.get(id.index())?.expr, depth + 1)
        } else if let ExprKind::Unary(UnaryOp::Not, of) = &expr.kind {
            self.bool(of, depth + 1).map(|of| Bool::Not(Box::new(of)))
        } else if let ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) = &expr.kind {
            let both = Box::new((self.bool(a, depth + 1)?, self.bool(b, depth + 1)?));
            Some(if *op == BinaryOp::And { Bool::And(both) } else { Bool::Or(both) })
        } else if let ExprKind::If(condition, then, otherwise) = &expr.kind {
            let condition = self.bool(condition, depth + 1)?;
            let both = (self.bool(then, depth + 1)?, self.bool(otherwise, depth + 1)?);
            Some(Bool::If(Box::new((condition, both.0, both.1))))
        } else if let ExprKind::Compare(first, rest) = &expr.kind {
            // Only single comparisons: a chain would evaluate its inner operands twice.
            let [(op, second)] = rest.as_slice() else { return None };
            self.comparison(*op, first, second, depth + 1)
        } else {
            None
        }
    }

    fn comparison(&mut self, op: CompareOp, a: &Expr, b: &Expr, depth: u32) -> Option<Bool> {
        if matches!(op, CompareOp::In | CompareOp::NotIn) {
            return None;
        }
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Int) => Some(match (self.int(a, depth)?, self.int(b, depth)?) {
                (Int::At(place), Int::Is(to)) => Bool::Near(op, place, to),
                both => Bool::Ints(op, Box::new(both)),
            }),
            (Type::Float, Type::Float) => {
                let both = (self.float(a, depth)?, self.float(b, depth)?);
                Some(Bool::Floats(op, Box::new(both)))
            }
            // Enums only: the second operand has to be a name of one.
            (Type::Named(_), Type::Named(_)) => {
                let (place, ExprKind::Enum(_, name)) = (Self::place(a)?, &b.kind) else {
                    return None;
                };
                let is = Bool::Named(place, name.clone());
                match op {
                    CompareOp::Equal => Some(is),
                    CompareOp::NotEqual => Some(Bool::Not(Box::new(is))),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The assignment of an Int. `n = n + 1` and `n = n - 1` have a form of their own.
fn assignment(slot: u32, value: Int) -> Act {
    if let Int::Apply(op @ (Arithmetic::Add | Arithmetic::Subtract), both) = &value
        && let (Int::At(Source::Variable(own)), Int::Is(by @ 0..)) = **both
        && own == slot
    {
        return Act::Step(slot, if matches!(op, Arithmetic::Add) { by } else { -by });
    }
    Act::Int(slot, value)
}
