//! Whether values of one type fit another: those of a chart that a server takes, and those of a server that a chart takes.

use crate::shape::Shape;
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Type, TypeKind};

/// Whether a server takes the values of a type. The error says where inside they differ; it is empty where they differ as a whole.
pub(super) fn takes(chart: &Chart, ty: &Type, shape: &Shape, depth: usize) -> Result<(), String> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (ty, shape) {
        // A `Json` is checked by the server.
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

/// Whether what a server gives has a type.
pub(super) fn gives(chart: &Chart, shape: &Shape, ty: &Type, depth: usize) -> Result<(), String> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (shape, ty) {
        // What no type says is checked when it is there.
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
            // Of a text or an object nobody knows what is in it before it is there.
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

/// Where inside a record the difference is.
fn at(name: &str, why: &str, ty: &str, shape: &Shape) -> String {
    match why {
        "" => format!("`{name}` is {ty} in the chart, and {shape} on the server"),
        why => format!("`{name}`: {why}"),
    }
}
