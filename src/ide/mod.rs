//! Answers an editor's questions: names and their uses, symbols, hover, completion, colours, hints, lenses, folds, actions.
//!
//! An editor asks about text that is being written, so it is usually broken, and the answers must still be of use. All functions are
//! pure: they take a [`Compilation`](crate::Compilation) and an offset in bytes, and know no protocol, no files and no clock. The
//! language server (`chartc lsp`) translates and keeps the texts. For a click on `open` in `on reply -> open`:
//!
//! 1. The server compiles the text with an index of names ([`Compilation::uses`](crate::Compilation::uses)), and turns line and
//!    column into an offset.
//! 2. [`names::definition`] looks the offset up in the index, and returns the span of `state open`.
//! 3. The server turns the span into a file and a range.
//!
//! What lowering has resolved comes from the compilation. Where the text has errors, modules read the syntax ([`known`], [`visit`]),
//! the tokens, or the text itself with readers that never fail ([`xml`], [`yaml`]).

pub mod actions;
pub mod complete;
pub mod folds;
pub mod hints;
pub mod hover;
mod known;
pub mod names;
pub mod outline;
pub mod tokens;
mod visit;
mod xml;
pub mod yaml;

use chartc_compiler::front::{FRONTENDS, Frontend, agent, scxml};
use chartc_compiler::syntax::source::Source;
use chartc_compiler::syntax::{Param, TypeExpr, TypeKind};

// Determines the notation of a file.

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// A `.chart` file.
    Chart,
    /// An `agent.yaml`, a component or a run file.
    Yaml,
    /// An SCXML document.
    Xml,
}

/// The notation of a source, by its name or, if that says nothing, by its text.
fn notation(source: &Source) -> Notation {
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

// Formats parts of a declaration.

/// Formats a type as it is written.
fn type_expr(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Name(name) => name.clone(),
        TypeKind::List(inner) => format!("List({})", type_expr(inner)),
        TypeKind::Map(key, value) => format!("Map({}, {})", type_expr(key), type_expr(value)),
        TypeKind::Optional(inner) => format!("{}?", type_expr(inner)),
    }
}

/// Formats parameters in parentheses.
fn params(params: &[Param]) -> String {
    let shown: Vec<String> = params
        .iter()
        .map(|param| format!("{}: {}", param.name.node, type_expr(&param.ty)))
        .collect();
    format!("({})", shown.join(", "))
}
