//! The notation of a file, and how its types and parameters are written.

use chartc_compiler::front::{FRONTENDS, Frontend, agent, scxml};
use chartc_compiler::syntax::source::Source;
use chartc_compiler::syntax::{Param, TypeExpr, TypeKind};

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// A `.chart` file.
    Chart,
    /// An `agent.yaml`, a component or a run file.
    Yaml,
    /// An SCXML document.
    Xml,
}

/// The notation of a source, by its name or, if that says nothing, by its text.
pub(super) fn notation(source: &Source) -> Notation {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name);
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        return Notation::Yaml;
    }
    let named = FRONTENDS.iter().find(|front| (front.takes)(name));
    let front = named.or_else(|| FRONTENDS.iter().find(|front| (front.looks)(&source.text)));
    let is = |one: &Frontend| front.is_some_and(|front| front.name == one.name);
    if is(&agent::FRONTEND) {
        Notation::Yaml
    } else if is(&scxml::FRONTEND) {
        Notation::Xml
    } else {
        Notation::Chart
    }
}

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
