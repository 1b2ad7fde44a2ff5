//! Projects values of the world to the types that a chart declares, as a chart may declare fewer fields than the world provides.

use chartc_core::expr::{Map, Value};
use chartc_core::model::{Type, TypeDef, TypeKind};

/// Removes the fields of records that the type does not declare. A value that does not fit otherwise is left as it is; setting the input
/// reports it.
pub(super) fn declared(value: Value, ty: &Type, types: &[TypeDef]) -> Value {
    match (ty, value) {
        (Type::Optional(inner), value) => declared(value, inner, types),
        (Type::List(inner), Value::List(items)) => {
            Value::List(items.into_iter().map(|item| declared(item, inner, types)).collect())
        }
        (Type::Map(inner), Value::Map(map)) => {
            let entries = map.into_iter().map(|(key, item)| (key, declared(item, inner, types)));
            Value::Map(entries.collect())
        }
        (Type::Named(id), Value::Map(mut map)) => {
            match types.get(id.index()).map(|def| &def.kind) {
                Some(TypeKind::Record(fields)) => {
                    let fields = fields.iter().filter_map(|field| {
                        let value = std::mem::take(map.get_mut(&field.name)?);
                        Some((field.name.clone(), declared(value, &field.ty, types)))
                    });
                    Value::Map(fields.collect::<Map>())
                }
                Some(TypeKind::Enum(_)) | None => Value::Map(map),
            }
        }
        (_, value) => value,
    }
}
