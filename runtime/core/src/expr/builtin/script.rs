//! The operations of ECMAScript on values. `undefined` and `null` are the same value here, `none`; a result of NaN is an error.
//!
//! Source: ECMA-262, 7.1 (type conversion), 13.8 and 13.15.3 (`+`, `%`), 25.5.2 (`JSON.stringify`).

use crate::expr::compare::{Number, equal};
use crate::expr::fuel::{Fuel, fail};
use crate::expr::operate::binary_with;
use crate::expr::{EvalError, Map, Value, python};
use crate::model::BinaryOp;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The maximum length of a list that `x[i] = e` extends.
const LONGEST: usize = 100_000;

/// `a + b`: the concatenation if one operand is a text, list, map or duration; otherwise the sum.
pub(super) fn add(a: &Value, b: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let joins = |value: &Value| {
        matches!(value, Value::Text(_) | Value::List(_) | Value::Map(_) | Value::Duration(_))
    };
    if joins(a) || joins(b) {
        let (mut whole, rest) = (text(a, fuel)?, text(b, fuel)?);
        whole.push_str(&rest);
        return Ok(Value::Text(whole));
    }
    binary_with(BinaryOp::Add, &number(a)?, &number(b)?, fuel)
}

/// `Number(x)`: Bools count as 0 or 1, and a text is read as a number.
pub(super) fn number(value: &Value) -> Result<Value, EvalError> {
    match value {
        Value::Int(_) | Value::Float(_) => Ok(value.clone()),
        Value::Bool(b) => Ok(Value::Int(i64::from(*b))),
        Value::Text(text) => {
            let text = text.trim();
            let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
            if text.is_empty() {
                return Ok(Value::Int(0));
            }
            if let Ok(whole) = text.parse::<i64>() {
                return Ok(Value::Int(whole));
            }
            // Rust also reads `inf`, `nan` and the like, which are not numbers in ECMAScript.
            match text.parse::<f64>() {
                Ok(x) if text.chars().all(plain) && x.is_finite() => Ok(Value::Float(x)),
                _ => fail!("a text that is no number"),
            }
        }
        _ => {
            fail!("{} is no number", value.kind())
        }
    }
}

/// `Boolean(x)`: lists and maps are true, even if they are empty.
pub(super) fn truth(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(b) => *b,
        Value::Int(i) => *i != 0,
        Value::Float(x) => *x != 0.0 && !x.is_nan(),
        Value::Text(text) => !text.is_empty(),
        Value::Duration(_) | Value::List(_) | Value::Map(_) => true,
    }
}

/// `a === b`, except that lists and maps are compared by content, because they are values here.
pub(super) fn same(a: &Value, b: &Value, fuel: &Fuel) -> Result<bool, EvalError> {
    // `equal` takes Bools for Ints, which `===` does not.
    let bool = |value: &Value| matches!(value, Value::Bool(_));
    if bool(a) != bool(b) {
        return Ok(false);
    }
    equal(a, b, fuel)
}

/// The Duration that a text such as `10ms`, `1.5s` or `2m` stands for: the syntax of CSS, with longer units.
pub(super) fn duration(value: &Value) -> Result<Value, EvalError> {
    if let Value::Duration(_) = value {
        return Ok(value.clone());
    }
    let Value::Text(text) = value else { return fail!("{} is no time", value.kind()) };
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return fail!("a text that is no time"),
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match number.parse::<f64>() {
        // Rounded to the nearest millisecond, halves up.
        Ok(x) if plain && x * unit < 9e15 => Ok(Value::Duration((x * unit + 0.5) as u64)),
        _ => fail!("a text that is no time"),
    }
}

/// `a % b`, with the sign of `a`.
pub(super) fn remainder(a: &Value, b: &Value) -> Result<Value, EvalError> {
    match (Number::of(&number(a)?), Number::of(&number(b)?)) {
        (Some(Number::Int(_) | Number::Float(_)), Some(Number::Int(0))) => {
            fail!("division by zero")
        }
        // `i64::MIN % -1` overflows in Rust, although the result is 0.
        (Some(Number::Int(a)), Some(Number::Int(b))) => Ok(Value::Int(a.wrapping_rem(b))),
        (Some(a), Some(b)) if b.float() != 0.0 => Ok(Value::Float(a.float() % b.float())),
        _ => fail!("division by zero"),
    }
}

/// The index in a list or text that a key stands for; `None` if it is none.
fn place(key: &Value) -> Option<usize> {
    match key {
        Value::Int(i) => usize::try_from(*i).ok(),
        Value::Float(x) if *x >= 0.0 && *x < 1e15 && *x == (*x as u64) as f64 => Some(*x as usize),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// `x[key]` or `x.key`; `none` if there is no such entry.
pub(super) fn get(value: &Value, key: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let length = matches!(key, Value::Text(text) if text == "length");
    match value {
        Value::Map(map) => match map.get(&text(key, fuel)?) {
            Some(found) => fuel.copy(found),
            None => Ok(Value::None),
        },
        Value::List(items) if length => Ok(Value::Int(items.len() as i64)),
        Value::List(items) => match place(key).and_then(|at| items.get(at)) {
            Some(found) => fuel.copy(found),
            None => Ok(Value::None),
        },
        Value::Text(text) if length => {
            fuel.charge_text(text.len())?;
            Ok(Value::Int(text.encode_utf16().count() as i64))
        }
        Value::Text(text) => {
            fuel.charge_text(text.len())?;
            let found = place(key).and_then(|at| text.chars().nth(at));
            Ok(found.map_or(Value::None, |c| Value::Text(String::from(c))))
        }
        Value::None => fail!("{} has nothing in it", value.kind()),
        _ => Ok(Value::None),
    }
}

/// A copy of `x` after `x[key] = new`.
pub(super) fn set(
    value: &Value,
    key: &Value,
    new: &Value,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    match value {
        Value::Map(_) => {
            let Value::Map(mut map) = fuel.copy(value)? else { return Ok(Value::None) };
            map.insert(text(key, fuel)?, fuel.copy(new)?);
            Ok(Value::Map(map))
        }
        Value::List(items) => {
            let Some(at) = place(key) else { return fail!("a list has no such place") };
            if at >= LONGEST.max(items.len()) {
                return fail!("a list of more than {LONGEST} items");
            }
            // The list may have to grow up to this index.
            fuel.charge(at)?;
            let mut all: Vec<Value> =
                items.iter().map(|item| fuel.copy(item)).collect::<Result<_, _>>()?;
            if at >= all.len() {
                all.resize(at + 1, Value::None);
            }
            all[at] = fuel.copy(new)?;
            Ok(Value::List(all))
        }
        _ => {
            fail!("{} keeps nothing", value.kind())
        }
    }
}

/// `String(x)`.
pub(super) fn text(value: &Value, fuel: &Fuel) -> Result<String, EvalError> {
    let mut to = String::new();
    write_text(value, &mut to, fuel)?;
    Ok(to)
}

fn write_text(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge(2)?;
    match value {
        Value::None => to.push_str("undefined"),
        Value::Text(text) => {
            fuel.charge_text(text.len())?;
            to.push_str(text);
        }
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { "," });
                if *item != Value::None {
                    write_text(item, to, fuel)?;
                }
            }
        }
        Value::Map(_) => to.push_str("[object Object]"),
        _ => {
            write_plain(value, to);
        }
    }
    Ok(())
}

/// Appends a value that has the same form in a text and in JSON.
fn write_plain(value: &Value, to: &mut String) {
    match value {
        Value::Bool(b) => to.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => to.push_str(&i.to_string()),
        Value::Float(x) => {
            let shown = python::float(*x);
            to.push_str(shown.strip_suffix(".0").unwrap_or(&shown));
        }
        Value::Duration(millis) => to.push_str(&format!("{millis}ms")),
        _ => {}
    }
}

/// `JSON.stringify(x)`.
pub(super) fn json(value: &Value, fuel: &Fuel) -> Result<String, EvalError> {
    let mut to = String::new();
    write_json(value, &mut to, fuel)?;
    Ok(to)
}

fn write_json(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge(2)?;
    match value {
        Value::None => to.push_str("null"),
        Value::Text(text) => quote(text, to, fuel)?,
        Value::Duration(_) => {
            to.push('"');
            write_plain(value, to);
            to.push('"');
        }
        Value::List(items) => {
            to.push('[');
            for (i, item) in items.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { "," });
                write_json(item, to, fuel)?;
            }
            to.push(']');
        }
        Value::Map(map) => write_object(map, to, fuel)?,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => write_plain(value, to),
    }
    Ok(())
}

fn write_object(map: &Map, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    to.push('{');
    for (i, (key, value)) in map.iter().enumerate() {
        to.push_str(if i == 0 { "" } else { "," });
        quote(key, to, fuel)?;
        to.push(':');
        write_json(value, to, fuel)?;
    }
    to.push('}');
    Ok(())
}

fn quote(text: &str, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge_text(text.len())?;
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\u{8}' => to.push_str("\\b"),
            '\u{c}' => to.push_str("\\f"),
            c if c < ' ' => to.push_str(&format!("\\u{:04x}", c as u32)),
            c => to.push(c),
        }
    }
    to.push('"');
    Ok(())
}
