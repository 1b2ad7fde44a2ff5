//! The declarations of a file, as a tree.

mod item;
mod search;

pub(in crate::editor) use search::rank;
pub use search::{FoundSymbol, search};

use crate::Compilation;
use chartc_text::span::{FileId, Span};
use chartc_text::syntax::File;

/// A declaration, with those inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// As written, without back-quotes.
    pub name: String,
    /// What stands beside the name: a type, parameters, a trigger; may be empty.
    pub detail: String,
    /// What it declares.
    pub kind: SymbolKind,
    /// The whole declaration; contains `name_span` and all children.
    pub whole: Span,
    /// The name.
    pub name_span: Span,
    /// In the order of the file.
    pub children: Vec<Symbol>,
}

/// What a symbol declares.
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

/// The syntax of a file.
pub(super) fn syntax(compilation: &Compilation, file: FileId) -> Option<&File> {
    compilation.files.get(file.0 as usize)
}
