//! Truth, equality and order of values, as in Python. A Bool counts as the Int 0 or 1.

use super::fuel::{Fuel, fail};
use super::{EvalError, Value, python};
use crate::model::CompareOp;
use crate::ops;
use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;

/// An Int or a Float.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(b) => Some(Self::Int(i64::from(*b))),
            Value::Int(i) => Some(Self::Int(*i)),
            Value::Float(x) => Some(Self::Float(*x)),
            _ => None,
        }
    }

    pub(super) const fn float(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Float(x) => x,
        }
    }

    /// The exact order of two numbers; `None` if one is a NaN.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Int(a), Self::Float(b)) => ops::compare(a, b),
            (Self::Float(a), Self::Int(b)) => ops::compare(b, a).map(Ordering::reverse),
        }
    }
}

/// `bool(x)`: false for `none`, `false`, zero and empty values.
pub fn truth(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(b) => *b,
        Value::Int(i) => *i != 0,
        Value::Float(x) => *x != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::Duration(millis) => *millis != 0,
        Value::List(items) => !items.is_empty(),
        Value::Map(map) => !map.is_empty(),
    }
}

/// Applies a comparison operator to two values.
///
/// # Errors
/// `<` and the like between kinds that have no order, or `in` with a value that is not a container.
pub fn compare(op: CompareOp, left: &Value, right: &Value) -> Result<bool, EvalError> {
    compare_with(op, left, right, &Fuel::default())
}

pub(super) fn compare_with(
    op: CompareOp,
    left: &Value,
    right: &Value,
    fuel: &Fuel,
) -> Result<bool, EvalError> {
    let ordered = |holds: fn(Ordering) -> bool| Ok(order(left, right, fuel)?.is_some_and(holds));
    match op {
        CompareOp::Equal => equal(left, right, fuel),
        CompareOp::NotEqual => equal(left, right, fuel).map(|same| !same),
        CompareOp::Less => ordered(Ordering::is_lt),
        CompareOp::LessEqual => ordered(Ordering::is_le),
        CompareOp::Greater => ordered(Ordering::is_gt),
        CompareOp::GreaterEqual => ordered(Ordering::is_ge),
        CompareOp::In => contains(right, left, fuel),
        CompareOp::NotIn => contains(right, left, fuel).map(|inside| !inside),
    }
}

/// `==` of two values of any kinds. Lists and maps are compared by content.
pub(super) fn equal(left: &Value, right: &Value, fuel: &Fuel) -> Result<bool, EvalError> {
    if let (Some(a), Some(b)) = (Number::of(left), Number::of(right)) {
        return Ok(a.order(b).is_some_and(Ordering::is_eq));
    }
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => {
            fuel.charge_text(a.len().min(b.len()))?;
            Ok(a == b)
        }
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b) {
                fuel.charge(1)?;
                if !equal(a, b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (key, a) in a.iter() {
                fuel.charge_text(key.len())?;
                let Some(b) = b.get(key) else { return Ok(false) };
                if !equal(a, b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Duration(a), Value::Duration(b)) => Ok(a == b),
        // All other pairs are of different kinds, or `none` twice.
        (a, b) => Ok(*a == Value::None && *b == Value::None),
    }
}

/// The order of two values; `None` if one is a NaN.
pub(super) fn order(
    left: &Value,
    right: &Value,
    fuel: &Fuel,
) -> Result<Option<Ordering>, EvalError> {
    if let (Some(a), Some(b)) = (Number::of(left), Number::of(right)) {
        return Ok(a.order(b));
    }
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => {
            fuel.charge_text(a.len().min(b.len()))?;
            Ok(Some(a.cmp(b)))
        }
        (Value::Duration(a), Value::Duration(b)) => Ok(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b) {
                fuel.charge(1)?;
                if !equal(a, b, fuel)? {
                    // The first elements that differ decide.
                    return order(a, b, fuel);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        (a, b) => fail!("{} and {} have no order", a.kind(), b.kind()),
    }
}

/// `item in whole`: whether it is an element of a list, a part of a text, or a key of a map.
fn contains(whole: &Value, item: &Value, fuel: &Fuel) -> Result<bool, EvalError> {
    match (whole, item) {
        (Value::List(items), item) => {
            for element in items {
                fuel.charge(1)?;
                if equal(element, item, fuel)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Value::Text(text), Value::Text(part)) => {
            fuel.charge_text(text.len())?;
            Ok(text.contains(part.as_str()))
        }
        (Value::Map(map), Value::Text(key)) => Ok(map.get(key).is_some()),
        (Value::Map(_), _) => Ok(false),
        (whole, item) => fail!("{} is not in {}", item.kind(), whole.kind()),
    }
}

/// Checks that the value of a param is within its range.
///
/// # Errors
/// The value is outside the range.
pub fn within(name: &str, value: &Value, low: &Value, high: &Value) -> Result<(), String> {
    let inside = compare(CompareOp::GreaterEqual, value, low)
        .and_then(|above| Ok(above && compare(CompareOp::LessEqual, value, high)?))
        .unwrap_or(false);
    if inside {
        return Ok(());
    }
    let shown = |value| python::repr(value).unwrap_or_default();
    Err(format!("param `{name}`: {} is not in {}..{}", shown(value), shown(low), shown(high)))
}
