//! Formats parts of a declaration.

use chartc_text::syntax::{Param, TypeExpr, TypeKind};

/// Formats a type as it is written.
pub(super) fn type_expr(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Name(name) => name.clone(),
        TypeKind::List(inner) => format!("List({})", type_expr(inner)),
        TypeKind::Map(key, value) => format!("Map({}, {})", type_expr(key), type_expr(value)),
        TypeKind::Optional(inner) => format!("{}?", type_expr(inner)),
    }
}

/// Formats parameters in parentheses.
pub(super) fn params(params: &[Param]) -> String {
    let shown: Vec<String> = params
        .iter()
        .map(|param| format!("{}: {}", param.name.node, type_expr(&param.ty)))
        .collect();
    format!("({})", shown.join(", "))
}
