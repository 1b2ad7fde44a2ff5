//! Values as JSON with an escape. A map whose only key begins with `$` stands for a value without a JSON form, or for a map of that shape.

use super::StoredValue;
use crate::expr::{Map, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

impl Serialize for StoredValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        escape(&self.0).serialize(to)
    }
}

impl<'de> Deserialize<'de> for StoredValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        plain(Value::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

fn tagged(tag: &str, value: Value) -> Value {
    Value::Map([(tag.to_string(), value)].into_iter().collect())
}

fn escape(value: &Value) -> Value {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Text(_) => value.clone(),
        Value::Float(x) if x.is_finite() => Value::Float(*x),
        // JSON has neither NaN nor infinity.
        Value::Float(x) => tagged("$float", Value::Text(format!("{x}"))),
        Value::Duration(millis) => match i64::try_from(*millis) {
            Ok(millis) => tagged("$duration", Value::Int(millis)),
            Err(_) => tagged("$duration", Value::Text(millis.to_string())),
        },
        Value::List(items) => Value::List(items.iter().map(escape).collect()),
        Value::Map(map) => {
            let inner = map.iter().map(|(key, value)| (key.to_string(), escape(value)));
            let inner = Value::Map(inner.collect());
            // A map that looks like an escape is escaped itself.
            match map.iter().next() {
                Some((key, _)) if map.len() == 1 && key.starts_with('$') => {
                    tagged("$map", Value::List(vec![inner]))
                }
                _ => inner,
            }
        }
    }
}

fn plain(value: Value) -> Result<Value, String> {
    match value {
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_) => Ok(value),
        Value::List(items) => {
            items.into_iter().map(plain).collect::<Result<_, _>>().map(Value::List)
        }
        Value::Map(map) => {
            let single =
                map.iter().next().filter(|(key, _)| map.len() == 1 && key.starts_with('$'));
            match single {
                Some((key, value)) => tagged_value(key, value),
                None => entries(map),
            }
        }
    }
}

fn entries(map: Map) -> Result<Value, String> {
    let entries = map.into_iter().map(|(key, value)| Ok((key, plain(value)?)));
    entries.collect::<Result<_, String>>().map(Value::Map)
}

fn tagged_value(tag: &str, value: &Value) -> Result<Value, String> {
    match (tag, value) {
        ("$float", Value::Text(text)) => {
            text.parse().map(Value::Float).map_err(|_| format!("`{text}` is no number"))
        }
        ("$duration", Value::Int(millis @ 0..)) => Ok(Value::Duration(*millis as u64)),
        ("$duration", Value::Text(text)) => {
            text.parse().map(Value::Duration).map_err(|_| format!("`{text}` is no duration"))
        }
        ("$map", Value::List(items)) => match items.as_slice() {
            [Value::Map(map)] => entries(map.clone()),
            _ => Err("`$map` holds one map".to_string()),
        },
        (tag, _) => Err(format!("unknown form `{tag}`")),
    }
}
