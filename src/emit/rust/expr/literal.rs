//! Constant values of the model as Rust.

use super::{Writer, float};
use chartc_core::expr::Value;
use chartc_core::model::{Type, TypeKind};

impl Writer<'_> {
    /// A constant that fits `ty`, as a value of its own.
    pub(in super::super) fn literal(&self, value: &Value, ty: &Type) -> String {
        match (ty, value) {
            (Type::Json, value) => self.json_literal(value),
            (Type::Optional(_), Value::None) => "None".to_owned(),
            (Type::Optional(inner), value) => format!("Some({})", self.literal(value, inner)),
            (Type::Float, Value::Int(i)) => float(*i as f64).text,
            (Type::Duration, Value::Duration(ms)) => format!("Duration({ms})"),
            (Type::List(item), Value::List(items)) => {
                self.allocates();
                let items: Vec<String> = items.iter().map(|i| self.literal(i, item)).collect();
                format!("Vec::from([{}])", items.join(", "))
            }
            (Type::Map(item), Value::Map(map)) => {
                self.allocates();
                let entries: Vec<String> = map
                    .iter()
                    .map(|(key, value)| {
                        format!("({key:?}.to_owned(), {})", self.literal(value, item))
                    })
                    .collect();
                format!("Map::from_iter([{}])", entries.join(", "))
            }
            (Type::Named(id), value) => {
                let names = &self.context.names.type_fields[id.index()];
                let name = &self.context.names.types[id.index()];
                match (&self.context.chart.types[id.index()].kind, value) {
                    (TypeKind::Enum(all), Value::Text(text)) => {
                        let i = all.iter().position(|n| n == text).unwrap_or_default();
                        format!("{name}::{}", names[i])
                    }
                    (TypeKind::Record(fields), Value::Map(map)) => {
                        let fields = fields.iter().zip(names).map(|(field, rust)| {
                            let value = map.get(&field.name).unwrap_or(&Value::None);
                            format!("{rust}: {}", self.literal(value, &field.ty))
                        });
                        format!("{name} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
                    }
                    (TypeKind::Enum(_) | TypeKind::Record(_), _) => name.clone(),
                }
            }
            (_, Value::Bool(b)) => b.to_string(),
            (_, Value::Int(i)) => i.to_string(),
            (_, Value::Float(x)) => float(*x).text,
            (_, Value::Text(text)) => {
                self.allocates();
                format!("{text:?}.to_owned()")
            }
            (_, Value::None | Value::Duration(_) | Value::List(_) | Value::Map(_)) => {
                self.json_literal(value)
            }
        }
    }

    fn json_literal(&self, value: &Value) -> String {
        self.allocates();
        match value {
            Value::None => "Value::None".to_owned(),
            Value::Bool(b) => format!("Value::Bool({b})"),
            Value::Int(i) => format!("Value::Int({i})"),
            Value::Float(x) => format!("Value::Float({})", float(*x).text),
            Value::Text(text) => format!("Value::Text({text:?}.into())"),
            Value::Duration(ms) => format!("Value::Duration({ms})"),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|i| self.json_literal(i)).collect();
                format!("Value::List(Vec::from([{}]))", items.join(", "))
            }
            Value::Map(map) => {
                let fields: Vec<String> =
                    map.iter().map(|(k, v)| format!("({k:?}, {})", self.json_literal(v))).collect();
                format!("generated::record([{}])", fields.join(", "))
            }
        }
    }
}
