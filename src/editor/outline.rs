//! Lists the declarations of a file as a tree.

mod item;
mod search;

pub(in crate::editor) use search::rank;
pub use search::{FoundSymbol, search};

use crate::Compilation;
use chartc_text::span::{FileId, Span};
use chartc_text::syntax::File;

/// A declaration with those inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, without back-quotes.
    pub name: String,
    /// A short text beside the name: a type, parameters or a trigger; may be empty.
    pub detail: String,
    /// The kind of what is declared.
    pub kind: SymbolKind,
    /// The span of the whole declaration, which contains `name_span` and all children.
    pub whole: Span,
    /// The span of the name.
    pub name_span: Span,
    /// The declarations inside it, in the order of the file.
    pub children: Vec<Symbol>,
}

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum SymbolKind {
    Import,
    Chart,
    State,
    Parallel,
    Final,
    History,
    Event,
    Param,
    Input,
    Variable,
    Step,
    Option,
    Tool,
    ToolSet,
    Type,
    Field,
    Enum,
    EnumValue,
    Function,
    Effect,
    Predicate,
    Client,
    Component,
    Test,
}

/// The declarations of a file. Unknown files have none.
pub fn outline(compilation: &Compilation, file: FileId) -> Vec<Symbol> {
    syntax(compilation, file).map(item::symbols).unwrap_or_default()
}

pub(super) fn syntax(compilation: &Compilation, file: FileId) -> Option<&File> {
    compilation.files.get(file.0 as usize)
}
