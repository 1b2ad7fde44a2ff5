//! What this crate computes is what CPython 3.11 computes (results stored by the scripts in `tests/data`), within bounds.

mod arithmetic;
mod bounds;
mod expressions;
mod format;

use chartc_core::expr::{Map, Value};
use serde_json::Value as Json;

/// A value as the scripts write it.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Value::Int(i),
            (None, Some(x)) => Value::Float(x),
            (None, None) => panic!("a number that is neither: {n}"),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(fields) => match fields.get("float").and_then(Json::as_str) {
            Some(name) => Value::Float(name.parse().expect("inf, -inf or nan")),
            None => Value::Map(fields.iter().map(|(k, v)| (k.clone(), value(v))).collect::<Map>()),
        },
    }
}
