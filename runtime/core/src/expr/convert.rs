//! Between values and the types of generated code.

use super::{Map, Value};
use crate::drive::Mismatch;
use crate::duration::Duration;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What becomes a value.
pub trait IntoValue {
    /// The value.
    fn into_value(self) -> Value;
}

/// What a value becomes.
pub trait FromValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// A value of another type.
    fn from_value(value: Value) -> Result<Self, Mismatch>;
}

macro_rules! plain {
    ($($type:ty, $variant:ident, $name:literal;)*) => {$(
        impl IntoValue for $type {
            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }

        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::$variant(value) = value else { return Err(mismatch($name, &value)) };
                Ok(value)
            }
        }
    )*};
}

plain! {
    bool, Bool, "Bool";
    i64, Int, "Int";
    String, Text, "Text";
}

fn mismatch(expected: &str, found: &Value) -> Mismatch {
    Mismatch(format!("expected {expected}, found {}", found.kind()))
}

impl IntoValue for f64 {
    fn into_value(self) -> Value {
        Value::Float(self)
    }
}

impl FromValue for f64 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if let Value::Int(i) = value {
            return Ok(i as f64);
        }
        let Value::Float(x) = value else { return Err(mismatch("Float", &value)) };
        Ok(x)
    }
}

impl IntoValue for Duration {
    fn into_value(self) -> Value {
        Value::Duration(self.0)
    }
}

impl FromValue for Duration {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if let Value::Text(text) = &value
            && let Ok(duration) = text.parse()
        {
            return Ok(duration);
        }
        let Value::Duration(millis) = value else { return Err(mismatch("Duration", &value)) };
        Ok(Self(millis))
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(value)
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::Text(self.into())
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::None, T::into_value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if value == Value::None { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(T::into_value).collect())
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::List(items) = value else { return Err(mismatch("List", &value)) };
        items.into_iter().map(T::from_value).collect()
    }
}

impl<T: IntoValue> IntoValue for BTreeMap<String, T> {
    fn into_value(self) -> Value {
        Value::Map(self.into_iter().map(|(key, value)| (key, value.into_value())).collect())
    }
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Map::from_value(value)?
            .into_iter()
            .map(|(key, value)| Ok((key, T::from_value(value)?)))
            .collect()
    }
}

impl IntoValue for Map {
    fn into_value(self) -> Value {
        Value::Map(self)
    }
}

impl FromValue for Map {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::Map(map) = value else { return Err(mismatch("Map", &value)) };
        Ok(map)
    }
}
