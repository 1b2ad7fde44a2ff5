//! Converts values to and from the types of generated code.

use super::fit::{MAX_VALUE_DEPTH, is_deeper, no_duration, short, too_deep, within};
use super::{Map, Value};
use crate::duration::Duration;
use crate::value::Mismatch;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A type that converts to a value.
pub trait IntoValue {
    /// Converts to a value.
    fn into_value(self) -> Value;
}

/// A type that converts from a value, by the rules and with the messages of [`fit`](super::fit).
pub trait FromValue: Sized {
    /// The name of the type in a chart.
    fn type_text() -> String;

    /// Converts a value.
    ///
    /// # Errors
    /// The value does not fit the type.
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
            fn type_text() -> String {
                $name.into()
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::$variant(value) = value else { return Err(mismatch::<Self>(&value)) };
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

/// The error for a value that does not fit the type `T`.
pub(crate) fn mismatch<T: FromValue>(found: &Value) -> Mismatch {
    Mismatch(format!("expected {}, found {}", T::type_text(), found.kind()))
}

/// Adds a step of a path to an error inside a value.
pub(crate) fn inside(step: &str, Mismatch(why): Mismatch) -> Mismatch {
    Mismatch(within(step, &why))
}

impl IntoValue for f64 {
    fn into_value(self) -> Value {
        Value::Float(self)
    }
}

impl FromValue for f64 {
    fn type_text() -> String {
        "Float".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if let Value::Int(i) = value {
            return Ok(i as f64);
        }
        let Value::Float(x) = value else { return Err(mismatch::<Self>(&value)) };
        Ok(x)
    }
}

impl IntoValue for Duration {
    fn into_value(self) -> Value {
        Value::Duration(self.0)
    }
}

impl FromValue for Duration {
    fn type_text() -> String {
        "Duration".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if let Value::Text(text) = &value {
            return text.parse().map_err(|_| Mismatch(no_duration(text)));
        }
        let Value::Duration(millis) = value else { return Err(mismatch::<Self>(&value)) };
        Ok(Self(millis))
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl FromValue for Value {
    fn type_text() -> String {
        "Json".into()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        // Json has no type that bounds its depth.
        if is_deeper(&value, MAX_VALUE_DEPTH - 1) {
            return Err(Mismatch(too_deep()));
        }
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
    fn type_text() -> String {
        format!("{}?", T::type_text())
    }

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
    fn type_text() -> String {
        format!("List({})", T::type_text())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::List(items) = value else { return Err(mismatch::<Self>(&value)) };
        let items = items.into_iter().enumerate();
        items
            .map(|(i, item)| T::from_value(item).map_err(|why| inside(&format!("[{i}]"), why)))
            .collect()
    }
}

impl<T: IntoValue> IntoValue for Map<T> {
    fn into_value(self) -> Value {
        Value::Map(self.into_iter().map(|(key, value)| (key, value.into_value())).collect())
    }
}

impl<T: FromValue> FromValue for Map<T> {
    fn type_text() -> String {
        format!("Map(Text, {})", T::type_text())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::Map(map) = value else { return Err(mismatch::<Self>(&value)) };
        let entries = map.into_iter().map(|(key, value)| match T::from_value(value) {
            Ok(value) => Ok((key, value)),
            Err(why) => Err(inside(&format!("[\"{}\"]", short(&key)), why)),
        });
        entries.collect()
    }
}
