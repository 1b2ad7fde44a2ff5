//! The format specs of placeholders, as in Python. To check one, a value of the type is formatted as at run time.

use super::context::Cx;
use chartc_core::expr::format::format;
use chartc_core::expr::{Map, Value};
use chartc_core::model::{Type, TypeKind};

/// Whether `spec` can show values of type `ty`.
///
/// # Errors
/// The reason why it cannot.
pub(super) fn check(cx: &Cx<'_>, spec: &str, ty: &Type) -> Result<(), String> {
    if spec.is_empty() {
        return Ok(());
    }
    let value = match ty {
        Type::Bool => Value::Bool(true),
        // A number that is also a character, for `c`.
        Type::Int => Value::Int(65),
        Type::Float => Value::Float(0.5),
        Type::Text => Value::Text(String::new()),
        Type::Duration => Value::Duration(1000),
        Type::List(_) => Value::List(Vec::new()),
        Type::Map(_) => Value::Map(Map::new()),
        Type::Named(id) => match &cx.chart.types[id.index()].kind {
            TypeKind::Enum(_) => Value::Text(String::new()),
            TypeKind::Record(_) => Value::Map(Map::new()),
        },
        Type::Json | Type::Optional(_) => return for_some_value(spec),
    };
    format(&value, spec).map(drop).map_err(|why| why.to_string())
}

/// Whether the spec can show any value at all.
fn for_some_value(spec: &str) -> Result<(), String> {
    let values = [Value::Int(65), Value::Float(0.5), Value::Text(String::new())];
    let shown: Vec<_> = values.iter().map(|value| format(value, spec)).collect();
    if shown.iter().any(Result::is_ok) {
        return Ok(());
    }
    shown.into_iter().next().map_or(Ok(()), |first| first.map(drop).map_err(|why| why.to_string()))
}
