//! The functions of the language over values: `collection` has those over lists, texts and maps, `convert` the conversions, `script` the
//! operations of ECMAScript. This module dispatches to them by function and number of arguments. For example, `sum([1, 2.5])`:
//!
//! ```text
//! builtin(Sum, [List])      one argument: `collection::sum` without a start value
//! collection::sum           starts with the Int 0; 0 + 1 is the Int 1; 1 + 2.5 is the Float 3.5, as in Python
//! builtin(Sum, [])          no arm matches: "`sum` does not take 0 arguments"
//! ```

use super::fuel::{Fuel, fail};
use super::values::{self, Number, binary_with, elements_with, equal, order, overflow};
use super::{EvalError, Map, Value, format};
use crate::machine::Fault;
use crate::model::{BinaryOp, Builtin};
use crate::ops;
use alloc;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Calls a function of the language, with a budget of its own.
///
/// # Errors
/// A wrong number or kind of arguments, or a result out of range.
pub fn builtin(function: Builtin, arguments: &[Value]) -> Result<Value, EvalError> {
    builtin_with(function, &arguments.iter().collect::<Vec<_>>(), &Fuel::default())
}

pub(super) fn builtin_with(
    function: Builtin,
    arguments: &[&Value],
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    match (function, arguments) {
        (Builtin::Len, [x]) => len(x, fuel),
        (Builtin::Min | Builtin::Max, [x]) => extreme(function, x, fuel),
        (Builtin::Min | Builtin::Max, [_, _, ..]) => extreme_of(function, arguments, fuel),
        (Builtin::Abs, [x]) => match Number::of(x) {
            Some(Number::Int(i)) => ops::abs(i).map(Value::Int).or_else(|Fault| overflow()),
            Some(Number::Float(x)) => Ok(Value::Float(x.abs())),
            None => refused(function, x),
        },
        // Without digits the result is an Int, with digits it has the kind of the argument, as in Python.
        (Builtin::Round, [x] | [x, Value::None]) => match Number::of(x) {
            Some(Number::Int(i)) => Ok(Value::Int(i)),
            Some(Number::Float(x)) => ops::round(x).map(Value::Int).or_else(|Fault| overflow()),
            None => refused(function, x),
        },
        (Builtin::Round, [x, digits]) => round_to(x, digits),
        (Builtin::Sum, [items]) => sum(items, None, fuel),
        (Builtin::Sum, [items, start]) => sum(items, Some(start), fuel),
        (Builtin::Any, [items]) => any(items, true, fuel),
        (Builtin::All, [items]) => any(items, false, fuel),
        (Builtin::Sorted, [items]) => sorted(items, fuel),
        (Builtin::Set, [items]) => distinct(items, fuel),
        (Builtin::Set, []) => Ok(Value::List(Vec::new())),
        (Builtin::Get, [map, key]) => get_element(map, key, &Value::None, fuel),
        (Builtin::Get, [map, key, default]) => get_element(map, key, default, fuel),
        (Builtin::Lower, [Value::Text(text)]) => {
            fuel.charge_text(text.len())?;
            Ok(Value::Text(text.to_lowercase()))
        }
        (Builtin::Upper, [Value::Text(text)]) => {
            fuel.charge_text(text.len())?;
            Ok(Value::Text(text.to_uppercase()))
        }
        (Builtin::Concat, parts) => concat(parts, fuel),
        (Builtin::StartsWith, [Value::Text(text), Value::Text(prefix)]) => {
            fuel.charge_text(prefix.len())?;
            Ok(Value::Bool(text.starts_with(prefix.as_str())))
        }
        (Builtin::Str, []) => Ok(Value::Text(String::new())),
        (Builtin::Str, [_]) => concat(arguments, fuel),
        (Builtin::Int, []) => Ok(Value::Int(0)),
        (Builtin::Int, [x]) => int(x, fuel),
        (Builtin::Float, []) => Ok(Value::Float(0.0)),
        (Builtin::Float, [x]) => float(x, fuel),
        (Builtin::Bool, []) => Ok(Value::Bool(false)),
        (Builtin::Bool, [x]) => Ok(Value::Bool(values::truth(x))),
        (Builtin::IsA, [x, Value::Text(name)]) => is_a(x, name).map(Value::Bool),
        (Builtin::IsA, [x, Value::List(names)]) => is_any(x, names).map(Value::Bool),
        (Builtin::Fail, [Value::Text(why)]) => Err(EvalError { message: why.clone() }),
        (Builtin::Lower | Builtin::Upper, [x]) => refused(function, x),
        (Builtin::StartsWith | Builtin::IsA, [x, y]) => {
            fail!("`{}` does not take {} and {}", name(function), x.kind(), y.kind())
        }
        (function, arguments) => part_function(function, arguments, fuel),
    }
}

fn round_to(x: &Value, digits: &Value) -> Result<Value, EvalError> {
    match (Number::of(x), Number::of(digits)) {
        (Some(Number::Int(i)), Some(Number::Int(digits))) => {
            ops::round_int(i, digits).map(Value::Int).or_else(|Fault| overflow())
        }
        (Some(Number::Float(x)), Some(Number::Int(digits))) => {
            ops::round_to(x, digits).map(Value::Float).or_else(|Fault| overflow())
        }
        _ => fail!("`round` does not take {} and {}", x.kind(), digits.kind()),
    }
}

fn concat(parts: &[&Value], fuel: &Fuel) -> Result<Value, EvalError> {
    let mut text = String::new();
    for part in parts {
        format::write_str(part, &mut text, fuel)?;
    }
    Ok(Value::Text(text))
}

/// What a placeholder shows of messages and images.
fn said(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = match value {
        Value::List(items) => items.as_slice(),
        one => core::slice::from_ref(one),
    };
    let mut text = String::new();
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        let Value::Map(map) = item else { return refused(Builtin::Said, item) };
        match (map.get("role"), map.get("text"), map.get("url")) {
            (Some(role), Some(said), None) => {
                format::write_str(role, &mut text, fuel)?;
                text.push_str(": ");
                format::write_str(said, &mut text, fuel)?;
            }
            (None, None, Some(url)) => format::write_str(url, &mut text, fuel)?,
            _ => return refused(Builtin::Said, item),
        }
    }
    Ok(Value::Text(text))
}

/// Calls a function that takes texts and lists apart, or puts them together; also those that charts cannot write.
fn part_function(function: Builtin, arguments: &[&Value], fuel: &Fuel) -> Result<Value, EvalError> {
    match (function, arguments) {
        (Builtin::Said, [x]) => said(x, fuel),
        (Builtin::Within, [x, low, high, Value::Text(name)]) => {
            values::ranged(name, x, low, high).map_err(|message| EvalError { message })?;
            fuel.copy(x)
        }
        (Builtin::Join, [items, Value::Text(separator)]) => join(items, separator, fuel),
        (Builtin::Split, [Value::Text(text)]) => pieces(text.split_whitespace(), fuel),
        (Builtin::Split, [Value::Text(text), Value::Text(separator)]) => {
            split(text, separator, fuel)
        }
        (Builtin::Replace, [Value::Text(text), Value::Text(old), Value::Text(new)]) => {
            replace(text, old, new, fuel)
        }
        (Builtin::Flatten, [lists]) => flatten(lists, fuel),
        (Builtin::Split, [x]) => refused(function, x),
        (Builtin::Join | Builtin::Split, [x, y]) => {
            fail!("`{}` does not take {} and {}", name(function), x.kind(), y.kind())
        }
        (function, arguments) => script_function(function, arguments, fuel),
    }
}

/// `join(xs, separator)`: the elements, each as `str` shows it, with the separator between them.
fn join(items: &Value, separator: &str, fuel: &Fuel) -> Result<Value, EvalError> {
    let mut text = String::new();
    for (i, item) in elements_with(items, fuel)?.iter().enumerate() {
        if i > 0 {
            fuel.charge_text(separator.len())?;
            text.push_str(separator);
        }
        format::write_str(item, &mut text, fuel)?;
    }
    Ok(Value::Text(text))
}

/// `split(t, separator)`: what stands between the separators, also where it is empty.
fn split(text: &str, separator: &str, fuel: &Fuel) -> Result<Value, EvalError> {
    if separator.is_empty() {
        return fail!("`split` does not take an empty separator");
    }
    pieces(text.split(separator), fuel)
}

fn pieces<'t>(pieces: impl Iterator<Item = &'t str>, fuel: &Fuel) -> Result<Value, EvalError> {
    let mut list = Vec::new();
    for piece in pieces {
        fuel.charge(1)?;
        fuel.charge_text(piece.len())?;
        list.push(Value::Text(piece.to_string()));
    }
    Ok(Value::List(list))
}

fn flatten(lists: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let mut all = Vec::new();
    for list in elements_with(lists, fuel)? {
        for item in elements_with(&list, fuel)? {
            all.push(fuel.copy(&item)?);
        }
    }
    Ok(Value::List(all))
}

/// `replace(t, old, new)`. As in Python, an empty `old` is found before each character and at the end.
fn replace(text: &str, old: &str, new: &str, fuel: &Fuel) -> Result<Value, EvalError> {
    fuel.charge_text(text.len())?;
    fuel.charge_text(text.matches(old).count().saturating_mul(new.len()))?;
    Ok(Value::Text(text.replace(old, new)))
}

/// Calls one of the operations of ECMAScript.
fn script_function(
    function: Builtin,
    arguments: &[&Value],
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    match (function, arguments) {
        (Builtin::JsValue, [x]) => fuel.copy(x),
        (Builtin::JsAdd, [x, y]) => add(x, y, fuel),
        (Builtin::JsNumber, [x]) => number(x),
        (Builtin::JsText, [x]) => self::text(x, fuel).map(Value::Text),
        (Builtin::JsTruth, [x]) => Ok(Value::Bool(truth(x))),
        (Builtin::JsSame, [x, y]) => same(x, y, fuel).map(Value::Bool),
        (Builtin::JsRemainder, [x, y]) => remainder(x, y),
        (Builtin::JsGet, [x, key]) => get_property(x, key, fuel),
        (Builtin::JsSet, [x, key, new]) => set(x, key, new, fuel),
        (Builtin::JsList, [x @ Value::List(_)]) => fuel.copy(x),
        (Builtin::JsList, [x]) => refused(function, x),
        (Builtin::JsDuration, [x]) => duration(x),
        (Builtin::JsJson, [x]) => json(x, fuel).map(Value::Text),
        (function, arguments) => {
            fail!("`{}` does not take {} arguments", name(function), arguments.len())
        }
    }
}

fn refused(function: Builtin, argument: &Value) -> Result<Value, EvalError> {
    fail!("`{}` does not take {}", name(function), argument.kind())
}

/// The name of a function in a chart.
pub const fn name(function: Builtin) -> &'static str {
    match function {
        Builtin::Len => "len",
        Builtin::Min => "min",
        Builtin::Max => "max",
        Builtin::Abs => "abs",
        Builtin::Round => "round",
        Builtin::Sum => "sum",
        Builtin::Any => "any",
        Builtin::All => "all",
        Builtin::Sorted => "sort",
        Builtin::Lower => "lower",
        Builtin::Upper => "upper",
        Builtin::Concat => "concat",
        Builtin::StartsWith => "starts_with",
        Builtin::Str => "str",
        Builtin::Float => "float",
        Builtin::Int => "int",
        Builtin::Bool => "bool",
        Builtin::Set => "unique",
        Builtin::Get => "get",
        Builtin::IsA => "is_a",
        Builtin::Fail => "fail",
        Builtin::Join => "join",
        Builtin::Split => "split",
        Builtin::Replace => "replace",
        Builtin::Flatten => "flatten",
        Builtin::JsValue => "js_value",
        Builtin::JsAdd => "js_add",
        Builtin::JsNumber => "js_number",
        Builtin::JsText => "js_text",
        Builtin::JsTruth => "js_truth",
        Builtin::JsSame => "js_same",
        Builtin::JsRemainder => "js_remainder",
        Builtin::JsGet => "js_get",
        Builtin::JsSet => "js_set",
        Builtin::JsJson => "js_json",
        Builtin::JsList => "js_list",
        Builtin::JsDuration => "js_duration",
        Builtin::Within => "within",
        Builtin::Said => "said",
    }
}

// Functions over lists, texts and maps.

fn len(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn extreme(function: Builtin, items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    extreme_of(function, &items.iter().map(Cow::as_ref).collect::<Vec<_>>(), fuel)
}

/// The first of the smallest or the largest elements.
fn extreme_of(function: Builtin, items: &[&Value], fuel: &Fuel) -> Result<Value, EvalError> {
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

fn sum(items: &Value, start: Option<&Value>, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn any(items: &Value, wanted: bool, fuel: &Fuel) -> Result<Value, EvalError> {
    let found = elements_with(items, fuel)?.iter().any(|item| values::truth(item) == wanted);
    Ok(Value::Bool(found == wanted))
}

/// `sort(xs)`: a stable merge sort. The sorts of Rust may panic on elements without a total order, such as NaN.
fn sorted(items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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

/// `unique(xs)`: the distinct elements, in the order in which they occur first.
fn distinct(items: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    let items = elements_with(items, fuel)?;
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in &items {
        let item = item.as_ref();
        if let Value::List(_) | Value::Map(_) = item {
            return fail!("`unique` does not take elements of kind {}", item.kind());
        }
        if seen.insert(Key(item)) {
            kept.push(fuel.copy(item)?);
        }
    }
    Ok(Value::List(kept))
}

/// `get(map, key, default)`: the value under a key, or the default.
fn get_element(map: &Value, key: &Value, default: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
    match (map, key) {
        (Value::Map(map), Value::Text(key)) => fuel.copy(map.get(key).unwrap_or(default)),
        (Value::Map(_), _) => fuel.copy(default),
        (other, _) => fail!("`get` does not take {}", other.kind()),
    }
}

// Functions that convert values, and tests of their kind.

/// `int(x)`: a Float without its fraction, or a Text read as an Int.
fn int(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn float(value: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
    format::write_repr(&Value::Text(start), &mut shown, fuel)?;
    fail!("`{function}` cannot read {shown}")
}

/// `is_a(x, "int")`: whether a value has the type with this name in Python.
fn is_a(value: &Value, name: &str) -> Result<bool, EvalError> {
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
fn is_any(value: &Value, names: &[Value]) -> Result<bool, EvalError> {
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

// The operations of ECMAScript on values. `undefined` and `null` are the same value here, `none`; a result of NaN is an error.
//
// Source: ECMA-262, 7.1 (type conversion), 13.8 and 13.15.3 (`+`, `%`), 25.5.2 (`JSON.stringify`).

/// The maximum length of a list that `x[i] = e` extends.
const LONGEST: usize = 100_000;

/// `a + b`: the concatenation if one operand is a text, list, map or duration; otherwise the sum.
fn add(a: &Value, b: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn number(value: &Value) -> Result<Value, EvalError> {
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
fn truth(value: &Value) -> bool {
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
fn same(a: &Value, b: &Value, fuel: &Fuel) -> Result<bool, EvalError> {
    // `equal` takes Bools for Ints, which `===` does not.
    let bool = |value: &Value| matches!(value, Value::Bool(_));
    if bool(a) != bool(b) {
        return Ok(false);
    }
    equal(a, b, fuel)
}

/// The Duration that a text such as `10ms`, `1.5s` or `2m` stands for: the syntax of CSS, with longer units.
fn duration(value: &Value) -> Result<Value, EvalError> {
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
fn remainder(a: &Value, b: &Value) -> Result<Value, EvalError> {
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
fn get_property(value: &Value, key: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn set(value: &Value, key: &Value, new: &Value, fuel: &Fuel) -> Result<Value, EvalError> {
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
fn text(value: &Value, fuel: &Fuel) -> Result<String, EvalError> {
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
            let shown = format::float(*x);
            to.push_str(shown.strip_suffix(".0").unwrap_or(&shown));
        }
        Value::Duration(millis) => to.push_str(&alloc::format!("{millis}ms")),
        _ => {}
    }
}

/// `JSON.stringify(x)`.
fn json(value: &Value, fuel: &Fuel) -> Result<String, EvalError> {
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
            c if c < ' ' => to.push_str(&alloc::format!("\\u{:04x}", c as u32)),
            c => to.push(c),
        }
    }
    to.push('"');
    Ok(())
}
