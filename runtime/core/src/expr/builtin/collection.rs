//! Functions over lists, texts and maps.

use super::super::access::elements_with;
use super::super::compare::{Number, order, truth};
use super::super::fuel::{Fuel, fail};
use super::super::operate::binary_with;
use super::super::{EvalError, Value};
use super::name;
use crate::model::{BinaryOp, Builtin};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Ordering;

pub(super) fn len(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let len = match value {
        Value::Text(text) => {
            fuel.charge_text(text.len())?;
            text.chars().count()
        }
        Value::List(items) => items.len(),
        Value::Map(map) => map.len(),
        _ => {
            return fail!("`len` does not take {}", value.kind());
        }
    };
    Ok(Value::Int(len as i64))
}

/// `min(xs)`, `max(xs)`.
pub(super) fn extreme(function: Builtin, items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    extreme_of(function, &items.iter().map(Cow::as_ref).collect::<Vec<_>>(), fuel)
}

/// The first of the smallest or the largest elements.
pub(super) fn extreme_of(
    function: Builtin,
    items: &[&Value],
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    let wanted = if function == Builtin::Min { Ordering::Less } else { Ordering::Greater };
    let Some((first, rest)) = items.split_first() else {
        return fail!("`{}` of nothing", name(function));
    };
    let mut best = *first;
    for item in rest {
        fuel.charge(1)?;
        if order(item, best, fuel)? == Some(wanted) {
            best = *item;
        }
    }
    fuel.copy(best)
}

pub(super) fn sum(items: &Value, start: Option<&Value>, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    if let Some(Value::Text(_)) = start {
        return fail!("`sum` does not join texts");
    }
    let mut items = items.iter();
    let mut sum = match start {
        Some(start) => fuel.copy(start)?,
        None => match items.as_slice().first().map(Cow::as_ref) {
            // The zero of the type that is summed. Python always starts with the Int 0, but that does not add to a Duration.
            Some(Value::Duration(_)) => Value::Duration(0),
            _ => Value::Int(0),
        },
    };
    items.try_for_each(|item| {
        sum = binary_with(BinaryOp::Add, &sum, item, fuel)?;
        Ok(())
    })?;
    Ok(sum)
}

/// `any(xs)` looks for a true element, and `all(xs)` for a false one, which `wanted` tells.
pub(super) fn any(items: &Value, wanted: bool, fuel: &Fuel) -> Result<Value, EvalError> {
    let found = elements_with(items, fuel)?.iter().any(|item| truth(item) == wanted);
    Ok(Value::Bool(found == wanted))
}

/// `sorted(xs)`: a stable merge sort. The sorts of Rust may panic on elements without a total order, such as NaN.
pub(super) fn sorted(items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    let mut from: Vec<&Value> = items.iter().map(Cow::as_ref).collect();
    let mut to = Vec::with_capacity(from.len());
    let mut width = 1;
    while width < from.len() {
        for pair in from.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                fuel.charge(1)?;
                if order(b, a, fuel)? == Some(Ordering::Less) {
                    to.push(*b);
                    right = right_rest;
                } else {
                    to.push(*a);
                    left = left_rest;
                }
            }
            to.extend_from_slice(left);
            to.extend_from_slice(right);
        }
        core::mem::swap(&mut from, &mut to);
        to.clear();
        width *= 2;
    }
    from.into_iter().map(|item| fuel.copy(item)).collect::<Result<_, _>>().map(Value::List)
}

/// A value that Python can hash, compared by value. Numbers of all kinds are compared with each other.
struct Key<'v>(&'v Value);

impl Key<'_> {
    const fn rank(&self) -> u8 {
        match self.0 {
            Value::None => 0,
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
            Value::Text(_) => 2,
            Value::Duration(_) => 3,
            Value::List(_) | Value::Map(_) => 4,
        }
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
            (a, b) => match (Number::of(a), Number::of(b)) {
                (Some(a), Some(b)) => {
                    let nan = |n: Number| n.float().is_nan();
                    // A set needs a total order, so all NaNs are equal and the greatest number.
                    a.order(b).unwrap_or_else(|| nan(a).cmp(&nan(b)))
                }
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key<'_> {}

/// `set(xs)`: the distinct elements, in the order in which they occur first.
pub(super) fn distinct(items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in &items {
        let item = item.as_ref();
        if let Value::List(_) | Value::Map(_) = item {
            return fail!("`set` does not take elements of kind {}", item.kind());
        }
        if seen.insert(Key(item)) {
            kept.push(fuel.copy(item)?);
        }
    }
    Ok(Value::List(kept))
}

/// `get(map, key, default)`: the value under a key, or the default.
pub(super) fn get(
    map: &Value,
    key: &Value,
    default: &Value,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    match (map, key) {
        (Value::Map(map), Value::Text(key)) => fuel.copy(map.get(key).unwrap_or(default)),
        (Value::Map(_), _) => fuel.copy(default),
        (other, _) => fail!("`get` does not take {}", other.kind()),
    }
}
