//! Functions that convert values, and tests of their kind.

use super::super::compare::Number;
use super::super::fuel::{Fuel, fail};
use super::super::operate::overflow;
use super::super::{EvalError, Value, python};
use crate::machine::Fault;
use crate::ops;
use alloc::string::String;

/// `int(x)`: a Float without its fraction, or a Text read as an Int.
pub(super) fn int(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    match (Number::of(value), value) {
        (Some(Number::Int(i)), _) => Ok(Value::Int(i)),
        (Some(Number::Float(x)), _) => ops::to_int(x).map(Value::Int).or_else(|Fault| overflow()),
        (None, Value::Text(text)) => {
            fuel.charge_text(text.len())?;
            match digits(text).map(|digits| digits.parse()) {
                Some(Ok(i)) => Ok(Value::Int(i)),
                Some(Err(_)) | None => unreadable("int", text, fuel),
            }
        }
        (None, other) => fail!("`int` does not take {}", other.kind()),
    }
}

/// `float(x)`: a number as a Float, or a Text read as a Float.
pub(super) fn float(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    match (Number::of(value), value) {
        (Some(number), _) => Ok(Value::Float(number.float())),
        (None, Value::Text(text)) => {
            fuel.charge_text(text.len())?;
            match digits(text).map(|digits| digits.parse()) {
                Some(Ok(x)) => Ok(Value::Float(x)),
                Some(Err(_)) | None => unreadable("float", text, fuel),
            }
        }
        (None, other) => fail!("`float` does not take {}", other.kind()),
    }
}

/// A text without white space around it, and without single underscores between digits, which Python allows. `None` if an underscore is
/// elsewhere.
fn digits(text: &str) -> Option<String> {
    let text = text.trim();
    let mut last = ' ';
    for c in text.chars().chain([' ']) {
        if (c == '_' && !last.is_ascii_digit()) || (last == '_' && !c.is_ascii_digit()) {
            return None;
        }
        last = c;
    }
    Some(text.chars().filter(|c| *c != '_').collect())
}

fn unreadable(function: &str, text: &str, fuel: &Fuel) -> Result<Value, EvalError> {
    // A long text would fill the message.
    let start: String = text.chars().take(40).collect();
    let mut shown = String::new();
    python::write_repr(&Value::Text(start), &mut shown, fuel)?;
    fail!("`{function}` cannot read {shown}")
}

/// `is_a(x, "int")`: whether a value has the type with this name in Python.
pub(super) fn is_a(value: &Value, name: &str) -> Result<bool, EvalError> {
    Ok(match name {
        "int" => matches!(value, Value::Bool(_) | Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "bool" => matches!(value, Value::Bool(_)),
        "str" => matches!(value, Value::Text(_)),
        "list" => matches!(value, Value::List(_)),
        "dict" => matches!(value, Value::Map(_)),
        "NoneType" => matches!(value, Value::None),
        // No value has one of these types. A List takes the place of a tuple or set.
        "tuple" | "set" | "frozenset" | "bytes" | "complex" => false,
        other => return fail!("`is_a` knows no kind `{other}`"),
    })
}

/// `is_a(x, ["int", "float"])`: whether a value has one of these types.
pub(super) fn is_any(value: &Value, names: &[Value]) -> Result<bool, EvalError> {
    for name in names {
        let Value::Text(name) = name else {
            return fail!("`is_a` takes names of kinds, not {}", name.kind());
        };
        if is_a(value, name)? {
            return Ok(true);
        }
    }
    Ok(false)
}
