//! Operations on values: fields, elements and slices; truth, equality and order; operators.
//!
//! **The problem.** Interpreted and generated code must compute the same results. Values come from models and hosts, so any operation may
//! meet a kind that it does not accept, a number that overflows, or a list so long that copying it stops the process.
//!
//! **The idea.** Each operation is a function that matches on the kinds of its operands and follows Python. What has no result is an
//! [`EvalError`] with a sentence about the kinds. Arithmetic is in `crate::ops`, which generated code calls directly for Ints and Floats.
//! An operation that takes time or memory in proportion to a value has two forms: `…_with` charges a [`Fuel`] of the caller before it does
//! the work, and the public form has a budget of its own, for generated code.
//!
//! **Example.**
//!
//! | expression | result |
//! |---|---|
//! | `[1, 2, 3][-1]`, `"abc"[1:9]` | `3`, `"bc"`: bounds beyond the ends mean the ends |
//! | `1 == 1.0`, `true + 1` | `true`, `2`: a Bool counts as 0 or 1 |
//! | `[1, "a"] < [1, 2]` | an error: Text and Int have no order |
//! | `-7 div 2`, `7 / 2` | `-4`, `3.5` |
//! | `"ab" * 1000000000` | an error before the memory is taken: the fuel is used up |

use super::fuel::{Fuel, fail};
use super::{EvalError, Value, format};
use crate::machine::Fault;
use crate::model::{BinaryOp, CompareOp, UnaryOp};
use crate::ops;
use alloc;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// `x.f`: the field of a map.
///
/// # Errors
/// The value is not a map, or has no such field.
pub fn field<'v>(value: &'v Value, name: &str) -> Result<&'v Value, EvalError> {
    let Value::Map(map) = value else {
        return fail!("{} has no field `{name}`", value.kind());
    };
    match map.get(name) {
        Some(found) => Ok(found),
        None => fail!("no field `{name}`"),
    }
}

/// `x[i]`: an element of a list or text, where a negative `i` counts from the end, or the value under a key of a map.
///
/// # Errors
/// There is no such element, or values of this kind have no elements.
pub fn index(value: &Value, at: &Value) -> Result<Value, EvalError> {
    index_with(value, at, &Fuel::default()).map(Cow::into_owned)
}

pub(super) fn index_with<'v>(
    value: &'v Value,
    at: &Value,
    fuel: &Fuel,
) -> Result<Cow<'v, Value>, EvalError> {
    match (value, at) {
        (Value::List(items), at) => match place(at, items.len())? {
            Some(i) => Ok(Cow::Borrowed(&items[i])),
            None => fail!("no element {}, the list has {}", shown(at), items.len()),
        },
        (Value::Text(text), at) => {
            // Counting the characters takes time linear in the text.
            fuel.charge_text(text.len())?;
            let len = text.chars().count();
            match place(at, len)?.and_then(|i| text.chars().nth(i)) {
                Some(c) => Ok(Cow::Owned(Value::Text(String::from(c)))),
                None => fail!("no character {}, the text has {len}", shown(at)),
            }
        }
        (Value::Map(map), Value::Text(key)) => match map.get(key) {
            Some(found) => Ok(Cow::Borrowed(found)),
            None => fail!("no key `{key}`"),
        },
        (Value::Map(_), at) => fail!("keys are Text, not {}", at.kind()),
        (other, _) => fail!("{} has no elements", other.kind()),
    }
}

/// The index in `0..len` that `at` stands for; a negative one counts from the end. `None` if it is out of range.
fn place(at: &Value, len: usize) -> Result<Option<usize>, EvalError> {
    let at = int(at)?;
    let len = len as i64;
    let at = if at < 0 { at.saturating_add(len) } else { at };
    Ok((0..len).contains(&at).then_some(at as usize))
}

fn int(value: &Value) -> Result<i64, EvalError> {
    match value {
        Value::Int(i) => Ok(*i),
        Value::Bool(b) => Ok(i64::from(*b)),
        _ => fail!("a position is an Int, not {}", value.kind()),
    }
}

fn shown(at: &Value) -> i64 {
    int(at).unwrap_or_default()
}

/// `x[from:to]` of a list or text. Bounds beyond the ends mean the ends.
///
/// # Errors
/// The value is neither a list nor a text, or a bound is not an Int.
pub fn slice(value: &Value, from: Option<&Value>, to: Option<&Value>) -> Result<Value, EvalError> {
    slice_with(value, from, to, &Fuel::default())
}

pub(super) fn slice_with(
    value: &Value,
    from: Option<&Value>,
    to: Option<&Value>,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    match value {
        Value::List(items) => {
            let (from, to) = bounds(from, to, items.len())?;
            let kept = items[from..to].iter().map(|item| fuel.copy(item));
            kept.collect::<Result<_, _>>().map(Value::List)
        }
        Value::Text(text) => {
            fuel.charge_text(text.len())?;
            let (from, to) = bounds(from, to, text.chars().count())?;
            Ok(Value::Text(text.chars().skip(from).take(to - from).collect()))
        }
        _ => fail!("{} has no slices", value.kind()),
    }
}

fn bounds(
    from: Option<&Value>,
    to: Option<&Value>,
    len: usize,
) -> Result<(usize, usize), EvalError> {
    let bound = |value: Option<&Value>, open: usize| match value {
        None | Some(Value::None) => Ok(open),
        Some(value) => {
            let at = int(value)?;
            let at = if at < 0 { at.saturating_add(len as i64) } else { at };
            Ok(at.clamp(0, len as i64) as usize)
        }
    };
    let from = bound(from, 0)?;
    // An end before the beginning makes the part empty.
    Ok((from, bound(to, len)?.max(from)))
}

/// The elements of a list, for the `each` of a step.
///
/// # Errors
/// The value is not a list.
pub fn list(value: Value) -> Result<Vec<Value>, EvalError> {
    match value {
        Value::List(elements) => Ok(elements),
        other @ (Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::Map(_)) => fail!("{} is no list", format::python_repr(&other)?),
    }
}

/// The elements that a comprehension iterates: those of a list, the characters of a text, the keys of a map.
///
/// # Errors
/// Values of this kind have no elements.
pub fn elements(value: &Value) -> Result<Vec<Value>, EvalError> {
    let fuel = Fuel::default();
    Ok(elements_with(value, &fuel)?.into_iter().map(Cow::into_owned).collect())
}

pub(super) fn elements_with<'v>(
    value: &'v Value,
    fuel: &Fuel,
) -> Result<Vec<Cow<'v, Value>>, EvalError> {
    match value {
        Value::List(items) => {
            fuel.charge(items.len())?;
            Ok(items.iter().map(Cow::Borrowed).collect())
        }
        Value::Text(text) => {
            fuel.charge(text.len())?;
            Ok(text.chars().map(|c| Cow::Owned(Value::Text(String::from(c)))).collect())
        }
        Value::Map(map) => {
            fuel.charge(map.len())?;
            let keys = map.iter().map(|(key, _)| {
                fuel.charge_text(key.len())?;
                Ok(Cow::Owned(Value::Text(String::from(key))))
            });
            keys.collect()
        }
        _ => {
            fail!("{} has no elements", value.kind())
        }
    }
}

// Truth, equality and order of values, as in Python. A Bool counts as the Int 0 or 1.

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
    in_range(value, low, high).map_err(|why| alloc::format!("param `{name}`: {why}"))
}

/// Checks that a value is within a range.
///
/// # Errors
/// The value is outside the range.
pub(crate) fn in_range(value: &Value, low: &Value, high: &Value) -> Result<(), String> {
    let inside = compare(CompareOp::GreaterEqual, value, low)
        .and_then(|above| Ok(above && compare(CompareOp::LessEqual, value, high)?))
        .unwrap_or(false);
    if inside {
        return Ok(());
    }
    let shown = |value| format::python_repr(value).unwrap_or_default();
    Err(alloc::format!("{} is not in {}..{}", shown(value), shown(low), shown(high)))
}

/// Checks that a value for the field `name` is within its range. What is no number is left to the check of its type.
pub(crate) fn ranged(name: &str, value: &Value, low: &Value, high: &Value) -> Result<(), String> {
    if Number::of(value).is_none() {
        return Ok(());
    }
    in_range(value, low, high).map_err(|why| alloc::format!("`{name}`: {why}"))
}

// Applies operators to values.

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
