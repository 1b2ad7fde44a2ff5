//! Python's `str()` and `repr()`.

use super::fuel::Fuel;
use super::{EvalError, Value};
use crate::duration::Duration;
use alloc::format;
use alloc::string::{String, ToString};

/// `str(x)`: a text as it is, other values as by [`repr`].
///
/// # Errors
/// The text is longer than one evaluation may build.
pub fn str(value: &Value) -> Result<String, EvalError> {
    let mut text = String::new();
    write_str(value, &mut text, &Fuel::default())?;
    Ok(text)
}

/// `repr(x)`: quoted texts, `None`, `True`, `1e+16`. Durations are written as in a chart.
///
/// # Errors
/// The text is longer than one evaluation may build.
pub fn repr(value: &Value) -> Result<String, EvalError> {
    let mut text = String::new();
    write_repr(value, &mut text, &Fuel::default())?;
    Ok(text)
}

pub(super) fn write_str(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    if let Value::Text(text) = value {
        fuel.charge_text(text.len())?;
        to.push_str(text);
        return Ok(());
    }
    write_repr(value, to, fuel)
}

pub(super) fn write_repr(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge(2)?;
    match value {
        Value::None => to.push_str("None"),
        Value::Bool(true) => to.push_str("True"),
        Value::Bool(false) => to.push_str("False"),
        Value::Int(i) => to.push_str(&i.to_string()),
        Value::Float(x) => to.push_str(&float(*x)),
        Value::Duration(millis) => to.push_str(&Duration(*millis).to_string()),
        Value::Text(text) => quote(text, to, fuel)?,
        Value::List(items) => {
            to.push('[');
            for (i, item) in items.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { ", " });
                write_repr(item, to, fuel)?;
            }
            to.push(']');
        }
        Value::Map(map) => {
            to.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { ", " });
                quote(key, to, fuel)?;
                to.push_str(": ");
                write_repr(value, to, fuel)?;
            }
            to.push('}');
        }
    }
    Ok(())
}

/// `repr` of a double: the shortest decimal that reads back as the same double.
pub fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_string();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    super::format::repr(x)
}

/// Appends a text in Python's quotes. An escape takes at most ten bytes.
fn quote(text: &str, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge_text(text.len())?;
    // Python uses single quotes, unless only they would need an escape.
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    to.push(mark);
    for c in text.chars() {
        match c {
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\\' => to.push_str("\\\\"),
            c if c == mark => {
                to.push('\\');
                to.push(c);
            }
            ' '..='~' => to.push(c),
            c if is_printable(c) => to.push(c),
            c => {
                let code = u32::from(c);
                to.push_str(&match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    to.push(mark);
    Ok(())
}

/// Whether Python leaves a character as it is. Rust also escapes combining marks at the start of a text, so the test puts a letter before
/// it.
fn is_printable(c: char) -> bool {
    let mut bytes = [b'x'; 5];
    let len = 1 + c.encode_utf8(&mut bytes[1..]).len();
    core::str::from_utf8(&bytes[..len]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}
