//! Applies operators to values.

use super::compare::Number;
use super::fuel::{Fuel, fail};
use super::{EvalError, Value};
use crate::machine::Fault;
use crate::model::{BinaryOp, UnaryOp};
use crate::ops;
use alloc::string::String;
use alloc::vec::Vec;

/// Applies a prefix operator.
///
/// # Errors
/// The operator does not accept this kind, or the result overflows.
pub fn unary(op: UnaryOp, value: &Value) -> Result<Value, EvalError> {
    match (op, value) {
        (UnaryOp::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
        (UnaryOp::Not, other) => fail!("`not` takes Bool, not {}", other.kind()),
        (UnaryOp::Negate, value) => match Number::of(value) {
            Some(Number::Int(i)) => ops::neg(i).map(Value::Int).or_else(|Fault| overflow()),
            Some(Number::Float(x)) => Ok(Value::Float(-x)),
            None => fail!("`-` takes numbers, not {}", value.kind()),
        },
    }
}

/// Applies an infix operator to two evaluated operands, also for `and` and `or`.
///
/// # Errors
/// The operator does not accept these kinds, a division by zero, or a result that is out of range or too large.
pub fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, EvalError> {
    binary_with(op, left, right, &Fuel::default())
}

pub(super) fn binary_with(
    op: BinaryOp,
    left: &Value,
    right: &Value,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    if let (BinaryOp::And | BinaryOp::Or, Value::Bool(a), Value::Bool(b)) = (op, left, right) {
        return Ok(Value::Bool(if op == BinaryOp::And { *a && *b } else { *a || *b }));
    }
    if let (Some(a), Some(b)) = (Number::of(left), Number::of(right)) {
        return numbers(op, a, b);
    }
    match (op, left, right) {
        (BinaryOp::Add, Value::Text(a), Value::Text(b)) => {
            // Charged before the memory is taken.
            fuel.charge_text(a.len() + b.len())?;
            let mut text = String::with_capacity(a.len() + b.len());
            text.push_str(a);
            text.push_str(b);
            Ok(Value::Text(text))
        }
        (BinaryOp::Add, Value::List(a), Value::List(b)) => {
            fuel.charge(a.len() + b.len())?;
            let both = a.iter().chain(b).map(|item| fuel.copy(item));
            both.collect::<Result<_, _>>().map(Value::List)
        }
        (BinaryOp::Multiply, Value::Text(text), times)
        | (BinaryOp::Multiply, times, Value::Text(text)) => {
            let Some(Number::Int(times)) = Number::of(times) else {
                return refused(op, left, right);
            };
            let times = usize::try_from(times).unwrap_or(0);
            fuel.charge_text(text.len().saturating_mul(times))?;
            Ok(Value::Text(text.repeat(times)))
        }
        (BinaryOp::Multiply, Value::List(items), times)
        | (BinaryOp::Multiply, times, Value::List(items)) => {
            let Some(Number::Int(times)) = Number::of(times) else {
                return refused(op, left, right);
            };
            // Repeating an empty list costs no fuel, so it must not take time either.
            let times = if items.is_empty() { 0 } else { usize::try_from(times).unwrap_or(0) };
            fuel.charge(items.len().saturating_mul(times))?;
            let mut list = Vec::with_capacity(items.len() * times);
            for _ in 0..times {
                for item in items {
                    list.push(fuel.copy(item)?);
                }
            }
            Ok(Value::List(list))
        }
        (_, Value::Duration(a), Value::Duration(b)) => durations(op, *a, *b),
        (BinaryOp::Multiply, Value::Duration(millis), Value::Int(times))
        | (BinaryOp::Multiply, Value::Int(times), Value::Duration(millis)) => {
            let product = u64::try_from(*times).ok().and_then(|times| millis.checked_mul(times));
            product.map(Value::Duration).map_or_else(duration_range, Ok)
        }
        (_, left, right) => refused(op, left, right),
    }
}

fn numbers(op: BinaryOp, a: Number, b: Number) -> Result<Value, EvalError> {
    use Number::Int;
    let zero = matches!(b, Int(0)) || b.float() == 0.0;
    let result = match (op, a, b) {
        (BinaryOp::Add, Int(a), Int(b)) => ops::add(a, b).map(Value::Int),
        (BinaryOp::Add, a, b) => Ok(Value::Float(a.float() + b.float())),
        (BinaryOp::Subtract, Int(a), Int(b)) => ops::sub(a, b).map(Value::Int),
        (BinaryOp::Subtract, a, b) => Ok(Value::Float(a.float() - b.float())),
        (BinaryOp::Multiply, Int(a), Int(b)) => ops::mul(a, b).map(Value::Int),
        (BinaryOp::Multiply, a, b) => Ok(Value::Float(a.float() * b.float())),
        (BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Modulo, _, _) if zero => {
            return fail!("division by zero");
        }
        (BinaryOp::Divide, Int(a), Int(b)) => ops::div(a, b).map(Value::Float),
        (BinaryOp::Divide, a, b) => ops::div_float(a.float(), b.float()).map(Value::Float),
        (BinaryOp::FloorDivide, Int(a), Int(b)) => ops::floor_div(a, b).map(Value::Int),
        (BinaryOp::FloorDivide, a, b) => {
            ops::floor_div_float(a.float(), b.float()).map(Value::Float)
        }
        (BinaryOp::Modulo, Int(a), Int(b)) => ops::modulo(a, b).map(Value::Int),
        (BinaryOp::Modulo, a, b) => ops::modulo_float(a.float(), b.float()).map(Value::Float),
        (BinaryOp::Power, Int(a), Int(b)) if b >= 0 => ops::power(a, b).map(Value::Int),
        (BinaryOp::Power, a, b) => {
            let (a, b) = (a.float(), b.float());
            if a == 0.0 && b < 0.0 {
                return fail!("zero to a negative power");
            }
            if a < 0.0 && a.is_finite() && b.is_finite() && ops::trunc(b) != b {
                return fail!("a negative number to a fractional power");
            }
            ops::power_float(a, b).map(Value::Float)
        }
        (BinaryOp::And | BinaryOp::Or, _, _) => {
            return fail!("`and` and `or` take Bool, not numbers");
        }
    };
    result.or_else(|Fault| overflow())
}

fn durations(op: BinaryOp, a: u64, b: u64) -> Result<Value, EvalError> {
    let result = match op {
        BinaryOp::Add => a.checked_add(b).map(Value::Duration),
        BinaryOp::Subtract => a.checked_sub(b).map(Value::Duration),
        BinaryOp::Divide if b == 0 => return fail!("division by zero"),
        BinaryOp::Divide => Some(Value::Float(a as f64 / b as f64)),
        _ => return refused(op, &Value::Duration(a), &Value::Duration(b)),
    };
    result.map_or_else(duration_range, Ok)
}

fn duration_range() -> Result<Value, EvalError> {
    fail!("a duration below zero or too long")
}

pub(super) fn overflow<T>() -> Result<T, EvalError> {
    fail!("a number too big for its type")
}

fn refused(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, EvalError> {
    fail!("`{}` does not take {} and {}", symbol(op), left.kind(), right.kind())
}

/// The operator as Python writes it, for messages.
pub(super) const fn symbol(op: BinaryOp) -> &'static str {
    if matches!(op, BinaryOp::FloorDivide) { "//" } else { op.word() }
}
