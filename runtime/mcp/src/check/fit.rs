//! Whether values of one type fit another: arguments of a chart in a server's parameters, and results of a server in a chart's types.

use crate::shape::Shape;
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Type, TypeKind};

/// Whether a server takes all values of a type.
///
/// # Errors
/// Says where inside the types they differ; empty if they differ as a whole.
pub(super) fn takes(chart: &Chart, ty: &Type, shape: &Shape, depth: usize) -> Result<(), String> {
    // Types may contain themselves. Beyond the maximum depth they count as equal.
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (ty, shape) {
        // A chart knows nothing of the content of a `Json`, so the server has to check it.
        (_, Shape::Any) | (Type::Json, _) => Ok(()),
        (Type::Optional(of), Shape::Optional(shape)) => takes(chart, of, shape, depth),
        (Type::Optional(_), _) => Err("it may be `none`, which the server does not take".into()),
        (ty, Shape::Optional(shape)) => takes(chart, ty, shape, depth),
        (Type::Bool, Shape::Bool)
        | (Type::Int, Shape::Int | Shape::Float)
        | (Type::Float, Shape::Float)
        | (Type::Text | Type::Duration, Shape::Text) => Ok(()),
        (Type::List(of), Shape::List(shape)) | (Type::Map(of), Shape::Map(shape)) => {
            takes(chart, of, shape, depth)
        }
        (Type::Named(id), shape) => match (&chart.types[id.index()].kind, shape) {
            (TypeKind::Enum(_), Shape::Text) => Ok(()),
            (TypeKind::Enum(names), Shape::Enum(known)) => {
                match names.iter().find(|name| !known.contains(name)) {
                    Some(name) => Err(format!("the server has no value `{name}`")),
                    None => Ok(()),
                }
            }
            (TypeKind::Record(fields), Shape::Map(of)) => fields.iter().try_for_each(|field| {
                takes(chart, &field.ty, of, depth)
                    .map_err(|why| at(&field.name, &why, &type_text(&field.ty, &chart.types), of))
            }),
            (TypeKind::Record(fields), Shape::Record(record)) => {
                for field in fields {
                    match record.part(&field.name) {
                        None if record.is_open => {}
                        None => return Err(format!("the server has no part `{}`", field.name)),
                        Some(part) => {
                            let ty = match (&field.ty, part.is_required) {
                                (Type::Optional(of), false) => of.as_ref(),
                                (ty, _) => ty,
                            };
                            takes(chart, ty, &part.shape, depth).map_err(|why| {
                                at(&field.name, &why, &type_text(ty, &chart.types), &part.shape)
                            })?;
                        }
                    }
                }
                let lacking = record.parts.iter().find(|part| {
                    part.is_required && !fields.iter().any(|field| field.name == part.name)
                });
                match lacking {
                    Some(part) => Err(format!("the part `{}` is required", part.name)),
                    None => Ok(()),
                }
            }
            (
                TypeKind::Enum(_) | TypeKind::Record(_),
                Shape::Any
                | Shape::Bool
                | Shape::Int
                | Shape::Float
                | Shape::Text
                | Shape::Enum(_)
                | Shape::List(_)
                | Shape::Map(_)
                | Shape::Record(_)
                | Shape::Optional(_),
            ) => Err(String::new()),
        },
        (
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_),
            Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_),
        ) => Err(String::new()),
    }
}

/// Whether all values that a server gives have a type.
///
/// # Errors
/// The same as for [`takes`].
pub(super) fn gives(chart: &Chart, shape: &Shape, ty: &Type, depth: usize) -> Result<(), String> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (shape, ty) {
        // A value whose type is not declared on one side is checked when it arrives.
        (Shape::Any, _) | (_, Type::Json) => Ok(()),
        (Shape::Optional(shape), Type::Optional(of)) => gives(chart, shape, of, depth),
        (Shape::Optional(_), _) => Err("it may be null".into()),
        (shape, Type::Optional(of)) => gives(chart, shape, of, depth),
        (Shape::Bool, Type::Bool)
        | (Shape::Int, Type::Int | Type::Float)
        | (Shape::Float, Type::Float)
        | (Shape::Text, Type::Text | Type::Duration)
        | (Shape::Enum(_), Type::Text) => Ok(()),
        (Shape::List(shape), Type::List(of)) | (Shape::Map(shape), Type::Map(of)) => {
            gives(chart, shape, of, depth)
        }
        (Shape::Record(record), Type::Map(of)) => record.parts.iter().try_for_each(|part| {
            gives(chart, &part.shape, of, depth)
                .map_err(|why| at(&part.name, &why, &type_text(of, &chart.types), &part.shape))
        }),
        (shape, Type::Named(id)) => match (shape, &chart.types[id.index()].kind) {
            (Shape::Enum(given), TypeKind::Enum(names)) => {
                match given.iter().find(|name| !names.contains(name)) {
                    Some(name) => Err(format!("the chart's enum has no value `{name}`")),
                    None => Ok(()),
                }
            }
            // Whether a text is a value of an enum, or an object has the parts of a record, is known only when it arrives.
            (Shape::Text, TypeKind::Enum(_)) | (Shape::Map(_), TypeKind::Record(_)) => Ok(()),
            (Shape::Record(record), TypeKind::Record(fields)) => {
                for field in fields {
                    let is_optional = matches!(field.ty, Type::Optional(_) | Type::Json);
                    match record.part(&field.name) {
                        None if is_optional || record.is_open => {}
                        None => return Err(format!("the server has no part `{}`", field.name)),
                        Some(part) if !part.is_required && !is_optional => {
                            return Err(format!("the server may leave `{}` out", field.name));
                        }
                        Some(part) => {
                            gives(chart, &part.shape, &field.ty, depth).map_err(|why| {
                                let ty = type_text(&field.ty, &chart.types);
                                at(&field.name, &why, &ty, &part.shape)
                            })?;
                        }
                    }
                }
                Ok(())
            }
            (
                Shape::Any
                | Shape::Bool
                | Shape::Int
                | Shape::Float
                | Shape::Text
                | Shape::Enum(_)
                | Shape::List(_)
                | Shape::Map(_)
                | Shape::Record(_)
                | Shape::Optional(_),
                TypeKind::Enum(_) | TypeKind::Record(_),
            ) => Err(String::new()),
        },
        (
            Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_),
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_),
        ) => Err(String::new()),
    }
}

/// Adds the part of a record to an error from inside it. `why` is empty if the part differs as a whole.
fn at(name: &str, why: &str, ty: &str, shape: &Shape) -> String {
    match why {
        "" => format!("`{name}` is {ty} in the chart, and {shape} on the server"),
        why => format!("`{name}`: {why}"),
    }
}
