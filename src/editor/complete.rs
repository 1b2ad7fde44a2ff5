//! Computes completions: what can be written at a position.
//!
//! The text at the cursor is usually broken, so its syntax tree says little. Three sources replace it: the grammar itself says which
//! keywords it accepts there (`chartc_text::front::chart::spot`), the tokens before the cursor say which kind of name is meant
//! ([`role`]), and the trees of all files, as far as they are sound, say which names exist ([`scope`]). For `on tick -> do|`:
//!
//! 1. [`cursor`] finds the word `do` with the prefix `do`, and the tokens before it.
//! 2. The grammar accepts a name, and no keyword.
//! 3. The token before it is `->`, so the role is `State`.
//! 4. [`gather`] offers the states of the chart, those near the cursor with less weight.
//! 5. [`offer`] keeps those that match `do`, such as `done`, and sorts them.
//!
//! SCXML documents have a reader of their own for broken text ([`xml`]).

mod binding;
mod comment;
mod cursor;
mod gather;
mod import;
mod offer;
mod role;
mod scope;
mod snippet;
mod value;
mod word;
mod xml;

use super::notation::{Notation, notation};
use crate::Compilation;
use crate::load::Loader;
use chartc_text::span::{FileId, Span};
use cursor::{Cursor, Region};

/// An item that can be written at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text that is shown, and that what the user types is compared with.
    pub label: String,
    /// The kind of the item.
    pub kind: CompletionKind,
    /// A type, parameters, or the origin; may be empty.
    pub detail: String,
    /// Documentation as Markdown; may be empty.
    pub documentation: String,
    /// The text to insert.
    pub insert: Insert,
    /// The span to replace: the word at the position.
    pub replaces: Span,
    /// The rank, from 0: the most likely item comes first.
    pub sort: u32,
}

/// The text that a completion inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insert {
    /// Plain text.
    Plain(String),
    /// A snippet with placeholders such as `${1:name}`, in the syntax of the Language Server Protocol. Dollar signs, backslashes and
    /// closing braces of the text are escaped.
    Snippet(String),
}

/// The kind of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum CompletionKind {
    Keyword,
    Snippet,
    State,
    Event,
    Variable,
    Parameter,
    Field,
    Type,
    Enum,
    EnumMember,
    Function,
    Tool,
    Step,
    Option,
    Client,
    Chart,
    /// A rule that a comment allows.
    Rule,
    File,
    /// The format of a placeholder.
    Format,
    /// A word that is the value of a setting, or a property.
    Value,
}

/// Whether an offset of a `.chart` text is inside a placeholder, where a brace begins an expression.
pub fn in_placeholder(text: &str, offset: usize) -> bool {
    text.is_char_boundary(offset)
        && matches!(Cursor::at(text, offset).region, Region::Placeholder { .. })
}

/// Computes the completions at an offset of a file, the most likely first. `loader` lists the files that can be imported. Only charts and
/// SCXML documents have completions; unknown files and offsets past the end have none.
pub fn complete(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
    loader: Option<&dyn Loader>,
) -> Vec<Completion> {
    if compilation.files.get(file.0 as usize).is_none() {
        return Vec::new();
    }
    let source = compilation.sources.get(file);
    if !source.text.is_char_boundary(offset) {
        return Vec::new();
    }
    match notation(source) {
        Notation::Chart => {}
        Notation::Yaml => return Vec::new(),
        Notation::Xml => return xml::complete(file, &source.text, offset),
    }
    let text = source.text.as_str();
    let cursor = Cursor::at(text, offset);
    let found = match cursor.region {
        Region::Nothing => return Vec::new(),
        Region::Comment => comment::offers(&cursor),
        Region::Import => import::offers(&cursor, &source.name, loader),
        Region::Code | Region::Placeholder { .. } => {
            gather::gather(compilation, file, &cursor).unwrap_or_default()
        }
    };
    let replaces = Span::new(file, cursor.start, cursor.end);
    offer::ranked(found, &cursor.prefix, replaces)
}
