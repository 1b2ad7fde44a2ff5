//! Writes constant values of the model as Rust.

use super::{Code, Fragment, Use, Writer, code, float, integer};
use chartc_core::expr::Value;
use chartc_core::model::{Type, TypeKind};

impl Writer<'_> {
    /// Writes a constant that fits `ty`, as an owned value.
    pub(in super::super) fn literal(&self, value: &Value, ty: &Type) -> Fragment {
        match (ty, value) {
            (Type::Json, value) => Self::json_literal(value),
            (Type::Optional(_), Value::None) => "None".into(),
            (Type::Optional(inner), value) => {
                code!("Some({value})", value = self.literal(value, inner))
            }
            (Type::Float, Value::Int(i)) => float(*i as f64).text(),
            (Type::Duration, Value::Duration(ms)) => format!("Duration({ms})").into(),
            (Type::List(item), Value::List(items)) => {
                let items = Fragment::joined(items.iter().map(|i| self.literal(i, item)), ", ");
                code!("Vec::from([{items}])", items).using(Use::Allocator)
            }
            (Type::Map(item), Value::Map(map)) => {
                let entries = map.iter().map(|(key, value)| {
                    code!("({key:?}.to_owned(), {value})", value = self.literal(value, item))
                });
                let entries = Fragment::joined(entries, ", ");
                code!("Map::from_iter([{entries}])", entries).using(Use::Allocator)
            }
            (Type::Named(id), value) => {
                let names = &self.context.names.type_fields[id.index()];
                let name = &self.context.names.types[id.index()];
                match (&self.context.chart.types[id.index()].kind, value) {
                    (TypeKind::Enum(all), Value::Text(text)) => {
                        let i = all.iter().position(|n| n == text).unwrap_or_default();
                        format!("{name}::{}", names[i]).into()
                    }
                    (TypeKind::Record(fields), Value::Map(map)) => {
                        let fields = fields.iter().zip(names).map(|(field, rust)| {
                            let value = map.get(&field.name).unwrap_or(&Value::None);
                            code!("{rust}: {value}", value = self.literal(value, &field.ty))
                        });
                        let fields = Fragment::joined(fields, ", ");
                        code!("{name} {{ {fields} }}", fields).using(Use::Braces)
                    }
                    (TypeKind::Enum(_) | TypeKind::Record(_), _) => name.as_str().into(),
                }
            }
            (_, Value::Bool(b)) => b.to_string().into(),
            (_, Value::Int(i)) => integer(*i).text(),
            (_, Value::Float(x)) => float(*x).text(),
            (_, Value::Text(text)) => owned_text(text),
            (_, Value::None | Value::Duration(_) | Value::List(_) | Value::Map(_)) => {
                Self::json_literal(value)
            }
        }
    }

    fn json_literal(value: &Value) -> Fragment {
        let text = match value {
            Value::None => "Value::None".into(),
            Value::Bool(b) => format!("Value::Bool({b})").into(),
            Value::Int(i) => format!("Value::Int({i})").into(),
            Value::Float(x) => code!("Value::Float({x})", x = float(*x).text()),
            Value::Text(text) => format!("Value::Text({text:?}.into())").into(),
            Value::Duration(ms) => format!("Value::Duration({ms})").into(),
            Value::List(items) => {
                let items = Fragment::joined(items.iter().map(Self::json_literal), ", ");
                code!("Value::List(Vec::from([{items}]))", items)
            }
            Value::Map(map) => {
                let fields =
                    map.iter().map(|(k, v)| code!("({k:?}, {v})", v = Self::json_literal(v)));
                let fields = Fragment::joined(fields, ", ");
                code!("generated::record([{fields}])", fields)
            }
        };
        text.using(Use::Allocator)
    }
}

/// Writes a text as an owned value.
fn owned_text(text: &str) -> Fragment {
    let code = Code::lent(format!("{text:?}"), Type::Text);
    code.own(false).using(Use::Allocator)
}
