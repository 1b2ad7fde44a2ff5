//! The functions of the language over values: `collection` has those over lists, texts and maps, `convert` the conversions, `script` the
//! operations of ECMAScript. This module dispatches to them by function and number of arguments. For example, `sum([1, 2.5])`:
//!
//! ```text
//! builtin(Sum, [List])      one argument: `collection::sum` without a start value
//! collection::sum           starts with the Int 0; 0 + 1 is the Int 1; 1 + 2.5 is the Float 3.5, as in Python
//! builtin(Sum, [])          no arm matches: "`sum` does not take 0 arguments"
//! ```

mod collection;
mod convert;
mod script;

use super::compare::{Number, truth};
use super::fuel::{Fuel, fail};
use super::operate::overflow;
use super::{EvalError, Value, python};
use crate::machine::Fault;
use crate::model::Builtin;
use crate::ops;
use alloc::string::String;
use alloc::vec::Vec;

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
        (Builtin::Len, [x]) => collection::len(x, fuel),
        (Builtin::Min | Builtin::Max, [x]) => collection::extreme(function, x, fuel),
        (Builtin::Min | Builtin::Max, [_, _, ..]) => {
            collection::extreme_of(function, arguments, fuel)
        }
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
        (Builtin::Round, [x, digits]) => match (Number::of(x), Number::of(digits)) {
            (Some(Number::Int(i)), Some(Number::Int(digits))) => {
                ops::round_int(i, digits).map(Value::Int).or_else(|Fault| overflow())
            }
            (Some(Number::Float(x)), Some(Number::Int(digits))) => {
                ops::round_to(x, digits).map(Value::Float).or_else(|Fault| overflow())
            }
            _ => fail!("`round` does not take {} and {}", x.kind(), digits.kind()),
        },
        (Builtin::Sum, [items]) => collection::sum(items, None, fuel),
        (Builtin::Sum, [items, start]) => collection::sum(items, Some(start), fuel),
        (Builtin::Any, [items]) => collection::any(items, true, fuel),
        (Builtin::All, [items]) => collection::any(items, false, fuel),
        (Builtin::Sorted, [items]) => collection::sorted(items, fuel),
        (Builtin::Set, [items]) => collection::distinct(items, fuel),
        (Builtin::Set, []) => Ok(Value::List(Vec::new())),
        (Builtin::Get, [map, key]) => collection::get(map, key, &Value::None, fuel),
        (Builtin::Get, [map, key, default]) => collection::get(map, key, default, fuel),
        (Builtin::Lower, [Value::Text(text)]) => {
            fuel.charge_text(text.len())?;
            Ok(Value::Text(text.to_lowercase()))
        }
        (Builtin::Upper, [Value::Text(text)]) => {
            fuel.charge_text(text.len())?;
            Ok(Value::Text(text.to_uppercase()))
        }
        (Builtin::Concat, parts) => {
            let mut text = String::new();
            for part in parts {
                python::write_str(part, &mut text, fuel)?;
            }
            Ok(Value::Text(text))
        }
        (Builtin::StartsWith, [Value::Text(text), Value::Text(prefix)]) => {
            fuel.charge_text(prefix.len())?;
            Ok(Value::Bool(text.starts_with(prefix.as_str())))
        }
        (Builtin::Str, []) => Ok(Value::Text(String::new())),
        (Builtin::Str, [x]) => {
            let mut text = String::new();
            python::write_str(x, &mut text, fuel)?;
            Ok(Value::Text(text))
        }
        (Builtin::Int, []) => Ok(Value::Int(0)),
        (Builtin::Int, [x]) => convert::int(x, fuel),
        (Builtin::Float, []) => Ok(Value::Float(0.0)),
        (Builtin::Float, [x]) => convert::float(x, fuel),
        (Builtin::Bool, []) => Ok(Value::Bool(false)),
        (Builtin::Bool, [x]) => Ok(Value::Bool(truth(x))),
        (Builtin::IsA, [x, Value::Text(name)]) => convert::is_a(x, name).map(Value::Bool),
        (Builtin::IsA, [x, Value::List(names)]) => convert::is_any(x, names).map(Value::Bool),
        (Builtin::Fail, [Value::Text(why)]) => Err(EvalError { message: why.clone() }),
        (Builtin::JsValue, [x]) => fuel.copy(x),
        (Builtin::JsAdd, [x, y]) => script::add(x, y, fuel),
        (Builtin::JsNumber, [x]) => script::number(x),
        (Builtin::JsText, [x]) => script::text(x, fuel).map(Value::Text),
        (Builtin::JsTruth, [x]) => Ok(Value::Bool(script::truth(x))),
        (Builtin::JsSame, [x, y]) => script::same(x, y, fuel).map(Value::Bool),
        (Builtin::JsRemainder, [x, y]) => script::remainder(x, y),
        (Builtin::JsGet, [x, key]) => script::get(x, key, fuel),
        (Builtin::JsSet, [x, key, new]) => script::set(x, key, new, fuel),
        (Builtin::JsList, [x @ Value::List(_)]) => fuel.copy(x),
        (Builtin::JsList, [x]) => refused(function, x),
        (Builtin::JsDuration, [x]) => script::duration(x),
        (Builtin::JsJson, [x]) => script::json(x, fuel).map(Value::Text),
        (Builtin::Lower | Builtin::Upper, [x]) => refused(function, x),
        (Builtin::StartsWith | Builtin::IsA, [x, y]) => {
            fail!("`{}` does not take {} and {}", name(function), x.kind(), y.kind())
        }
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
        Builtin::Sorted => "sorted",
        Builtin::Lower => "lower",
        Builtin::Upper => "upper",
        Builtin::Concat => "concat",
        Builtin::StartsWith => "starts_with",
        Builtin::Str => "str",
        Builtin::Float => "float",
        Builtin::Int => "int",
        Builtin::Bool => "bool",
        Builtin::Set => "set",
        Builtin::Get => "get",
        Builtin::IsA => "is_a",
        Builtin::Fail => "fail",
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
    }
}
