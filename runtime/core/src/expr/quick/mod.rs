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

mod compile;

pub(crate) use compile::Quick;

use super::Value;
use crate::arena::{EventId, StateId};
use crate::model::CompareOp;
use crate::ops;
use crate::store::bits;
use alloc::boxed::Box;
use alloc::string::String;
use core::cmp::Ordering;

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
