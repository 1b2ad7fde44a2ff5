//! What can be written at a place.
//!
//! The text at the place is usually broken, so its tree says little. The grammar itself tells which keywords it takes there
//! (`chartc_text::front::chart::spot`), the tokens before the place tell which names are meant, and the trees of all files, as far as
//! they are sound, which names there are. SCXML documents have a reader of their own for broken text (`xml`).

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

/// Something that can be written at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// As shown, and what is typed is compared with.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A type, parameters, or where it comes from; may be empty.
    pub detail: String,
    /// More about it, as Markdown; may be empty.
    pub documentation: String,
    /// What is written.
    pub insert: Insert,
    /// What it replaces: the word at the place.
    pub replaces: Span,
    /// Its rank, from 0: the likeliest first.
    pub sort: u32,
}

/// What a completion writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insert {
    /// This text.
    Plain(String),
    /// A text with places to fill in, `${1:name}`, as editors take it. Dollar signs, backslashes and closing braces in it are escaped.
    Snippet(String),
}

/// What a completion is.
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
    /// A word that a setting takes, or a property.
    Value,
}

/// Whether an offset of a `.chart` text is inside of a placeholder, where a brace begins something that can be written.
pub fn in_placeholder(text: &str, offset: usize) -> bool {
    text.is_char_boundary(offset)
        && matches!(Cursor::at(text, offset).region, Region::Placeholder { .. })
}

/// What can be written at an offset of a file, the likeliest first. `loader` lists the files that can be imported. Only in charts and
/// SCXML documents; unknown files and places past the end have nothing.
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
