//! Access to parts of values: fields, elements, slices, iteration.

use super::fuel::{Fuel, fail};
use super::{EvalError, Value, python};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

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
        | Value::Map(_)) => fail!("{} is no list", python::repr(&other)?),
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
