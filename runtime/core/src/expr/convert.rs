//! Converts values to and from the types of generated code.

use super::format::python_repr;
use super::values::in_range;
use super::{Map, Value};
use crate::duration::Duration;
use crate::model::{Field, Type, TypeDef, TypeKind, Within};
use crate::value::Mismatch;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A type that converts to a value.
pub trait IntoValue {
    /// Converts to a value.
    fn into_value(self) -> Value;
}

/// A type that converts from a value, by the rules and with the messages of [`fit`](super::fit).
pub trait FromValue: Sized {
    /// Whether a field of this type may be left out of a record.
    const MAY_BE_ABSENT: bool = false;

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
    const MAY_BE_ABSENT: bool = true;

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

// Converts values to declared types.

/// The maximum nesting depth of a stored value.
pub const MAX_VALUE_DEPTH: u32 = 100;

/// Converts a value to the type `ty`. An Int becomes a Float where one is declared, a Text such as `30s` becomes a Duration, the fields of
/// a record get their declared order, and missing optional fields become `none`.
///
/// # Errors
/// The reason why the value does not fit. It begins with the path to the part that does not fit, unless that is the whole value.
pub fn fit(value: Value, ty: &Type, types: &[TypeDef]) -> Result<Value, String> {
    fit_at(value, ty, types, MAX_VALUE_DEPTH)
}

/// Converts a value to the type of a field, and checks that it is within the field's range.
///
/// # Errors
/// As [`fit`], and if the value is out of range.
pub fn fit_field(value: Value, field: &Field, types: &[TypeDef]) -> Result<Value, String> {
    fit(value, &field.ty, types).and_then(|value| ranged(value, field.range.as_ref()))
}

/// The value, if it is within the range or there is none.
///
/// # Errors
/// The value is out of range.
pub fn ranged(value: Value, range: Option<&Within>) -> Result<Value, String> {
    if let Some((low, high)) = range {
        in_range(&value, low, high)?;
    }
    Ok(value)
}

fn fit_at(value: Value, ty: &Type, types: &[TypeDef], depth: u32) -> Result<Value, String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(too_deep());
    };
    match (ty, value) {
        (Type::Bool, value @ Value::Bool(_))
        | (Type::Int, value @ Value::Int(_))
        | (Type::Float, value @ Value::Float(_))
        | (Type::Text, value @ Value::Text(_))
        | (Type::Duration, value @ Value::Duration(_)) => Ok(value),
        (Type::Float, Value::Int(i)) => Ok(Value::Float(i as f64)),
        (Type::Duration, Value::Text(text)) => match text.parse() {
            Ok(Duration(millis)) => Ok(Value::Duration(millis)),
            Err(_) => Err(no_duration(&text)),
        },
        (Type::Json, value) => {
            if is_deeper(&value, depth) {
                return Err(too_deep());
            }
            Ok(value)
        }
        (Type::Optional(_), Value::None) => Ok(Value::None),
        // An optional is not a level of nesting.
        (Type::Optional(inner), value) => fit_at(value, inner, types, depth + 1),
        (Type::List(inner), Value::List(items)) => {
            let items = items.into_iter().enumerate().map(|(i, item)| {
                fit_at(item, inner, types, depth).map_err(|why| within(&format!("[{i}]"), &why))
            });
            items.collect::<Result<_, _>>().map(Value::List)
        }
        (Type::Map(inner), Value::Map(map)) => {
            let entries =
                map.into_iter().map(|(key, value)| match fit_at(value, inner, types, depth) {
                    Ok(value) => Ok((key, value)),
                    Err(why) => Err(within(&format!("[\"{}\"]", short(&key)), &why)),
                });
            entries.collect::<Result<_, _>>().map(Value::Map)
        }
        (Type::Named(id), value) => match (types.get(id.index()).map(|def| &def.kind), value) {
            (Some(TypeKind::Record(fields)), Value::Map(map)) => record(map, fields, types, depth),
            (Some(TypeKind::Enum(names)), Value::Text(text)) => one_of(text, names),
            (_, value) => Err(describe_mismatch(ty, &value, types)),
        },
        (
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_),
            value,
        ) => Err(describe_mismatch(ty, &value, types)),
    }
}

fn one_of(text: String, names: &[String]) -> Result<Value, String> {
    if names.contains(&text) {
        Ok(Value::Text(text))
    } else {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        Err(format!("`{}` is none of {}", short(&text), names.join(" ")))
    }
}

fn record(mut map: Map, fields: &[Field], types: &[TypeDef], depth: u32) -> Result<Value, String> {
    let mut record = Map::new();
    let mut given = 0;
    for field in fields {
        let value = match map.get_mut(&field.name) {
            Some(value) => {
                given += 1;
                // Moved, because a value may be large.
                core::mem::take(value)
            }
            None if matches!(field.ty, Type::Optional(_)) => Value::None,
            None => return Err(format!("no field `{}`", field.name)),
        };
        let fitted = fit_at(value, &field.ty, types, depth);
        match fitted.and_then(|value| ranged(value, field.range.as_ref())) {
            Ok(value) => record.insert(field.name.clone(), value),
            Err(why) => return Err(within(&format!(".{}", field.name), &why)),
        }
    }
    if given < map.len()
        && let Some((extra, _)) = map.iter().find(|(key, _)| record.get(key).is_none())
    {
        return Err(format!("no field `{}` is declared", short(extra)));
    }
    Ok(Value::Map(record))
}

fn describe_mismatch(ty: &Type, value: &Value, types: &[TypeDef]) -> String {
    format!("expected {}, found {}", type_text(ty, types), value.kind())
}

pub(super) fn within(step: &str, why: &str) -> String {
    if why.starts_with(['[', '.']) { format!("{step}{why}") } else { format!("{step}: {why}") }
}

pub(super) fn no_duration(text: &str) -> String {
    format!("`{}` is no Duration", short(text))
}

pub(super) fn too_deep() -> String {
    format!("nested deeper than {MAX_VALUE_DEPTH} levels")
}

/// The first 40 characters of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Checks that a value is not nested deeper than [`MAX_VALUE_DEPTH`]. The value already has its declared type.
///
/// # Errors
/// The value is nested deeper.
pub(crate) fn fit_depth(value: &Value) -> Result<(), String> {
    if is_deeper(value, MAX_VALUE_DEPTH - 1) { Err(too_deep()) } else { Ok(()) }
}

pub(super) fn is_deeper(value: &Value, levels: u32) -> bool {
    match value {
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_) => false,
        Value::List(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Map(map) => levels == 0 || map.iter().any(|(_, item)| is_deeper(item, levels - 1)),
    }
}

/// The name of a type in a chart.
pub fn type_text(ty: &Type, types: &[TypeDef]) -> String {
    match ty {
        Type::Bool => "Bool".to_string(),
        Type::Int => "Int".to_string(),
        Type::Float => "Float".to_string(),
        Type::Text => "Text".to_string(),
        Type::Duration => "Duration".to_string(),
        Type::Json => "Json".to_string(),
        Type::List(inner) => format!("List({})", type_text(inner, types)),
        Type::Map(inner) => format!("Map(Text, {})", type_text(inner, types)),
        Type::Optional(inner) => format!("{}?", type_text(inner, types)),
        Type::Named(id) => types.get(id.index()).map_or("?", |def| &def.name).to_string(),
    }
}

/// The type of a field in a chart, with its range.
pub fn field_text(field: &Field, types: &[TypeDef]) -> String {
    let shown = |value| python_repr(value).unwrap_or_default();
    let range = field.range.as_ref();
    let range = range.map(|(low, high)| format!(" in {}..{}", shown(low), shown(high)));
    type_text(&field.ty, types) + &range.unwrap_or_default()
}

/// Converts the Ints in the value of an expression to Floats where its type has Floats, also inside lists and maps that it has built.
pub(super) fn widen<'v>(value: Cow<'v, Value>, ty: &Type) -> Cow<'v, Value> {
    match (ty, value.as_ref()) {
        (Type::Float, Value::Int(i)) => Cow::Owned(Value::Float(*i as f64)),
        (Type::Optional(inner), _) => widen(value, inner),
        (Type::List(_) | Type::Map(_), _) if has_float(ty) => match value {
            Cow::Owned(mut value) => {
                widen_inside(&mut value, ty);
                Cow::Owned(value)
            }
            // A borrowed value is stored somewhere, so it was converted before.
            Cow::Borrowed(_) => value,
        },
        _ => value,
    }
}

fn has_float(ty: &Type) -> bool {
    match ty {
        Type::Float => true,
        Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => has_float(inner),
        _ => false,
    }
}

fn widen_inside(value: &mut Value, ty: &Type) {
    match (ty, value) {
        (Type::Float, value) => {
            if let Value::Int(i) = value {
                *value = Value::Float(*i as f64);
            }
        }
        (Type::Optional(inner), value) => widen_inside(value, inner),
        (Type::List(inner), Value::List(items)) => {
            for item in items {
                widen_inside(item, inner);
            }
        }
        (Type::Map(inner), Value::Map(map)) => {
            map.values_mut().for_each(|item| widen_inside(item, inner));
        }
        _ => {}
    }
}
