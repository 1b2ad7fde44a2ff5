//! The reasons why a name cannot be changed, and the consequences of a rename outside of the files.

use super::NameKind;
use chartc_check::compile::Compilation;
use chartc_text::span::Span;
use std::fmt;

/// A consequence of a rename outside of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Saved runs contain the old name.
    Saved,
    /// Hosts, tools, scripts or models may use the old name.
    Outside,
    /// A file that may use the name has errors, so a use may have been missed.
    Faulty,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Saved => {
                "saved runs know the old name: for them, write `renamed_from` behind the new one"
            }
            Self::Outside => "hosts, scripts and tools that use the old name are not changed",
            Self::Faulty => {
                "there are errors in files that use it: look whether the old name is left there"
            }
        })
    }
}

/// The reason why a name cannot be changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// There is no name at the offset that a file declares.
    NoName,
    /// The name is the path of an import.
    Import,
    /// At this position the name is not written as it is: the front end derived it, or it contains escapes.
    Unwritten(FilePosition),
    /// The new name is equal to the old one.
    Same,
    /// The new name does not have the form of names of its kind, which this describes.
    Spelling(&'static str),
    /// The text of this file differs from the one that was compiled.
    Stale(String),
    /// There is a syntax error, and names near it are not known.
    Syntax(FilePosition),
    /// The new name causes an error: its message, and its position in the edited text.
    Breaks(String, FilePosition),
    /// With the new name, the name at this position would mean something else.
    Captures(FilePosition),
    /// With the new name, this chart would be a different one.
    Changes(String),
}

/// A position in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl FilePosition {
    pub(super) fn new(compilation: &Compilation, span: Span) -> Self {
        let source = compilation.sources.get(span.file);
        let position = source.position(span.start);
        Self { file: source.name.clone(), line: position.line, column: position.column }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => out.write_str("there is no name here that can be changed"),
            Self::Import => out.write_str("the path of an import changes with its file"),
            Self::Unwritten(place) => {
                write!(
                    out,
                    "the name does not stand in the text as it is at {place}: change it there"
                )
            }
            Self::Same => out.write_str("this is the name that it has"),
            Self::Spelling(wanted) => write!(out, "a name of this kind is {wanted}"),
            Self::Stale(file) => write!(out, "{file} has changed: try again"),
            Self::Syntax(place) => {
                write!(out, "the error at {place} may hide uses of the name: correct it first")
            }
            Self::Breaks(message, place) => write!(out, "{message} ({place}, with the new name)"),
            Self::Captures(place) => {
                write!(out, "with the new name, the name at {place} would mean something else")
            }
            Self::Changes(chart) => write!(out, "`{chart}` would no longer be the same chart"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The consequences of renaming something of this kind.
pub(super) const fn told(kind: NameKind) -> &'static [Note] {
    match kind {
        NameKind::State => &[Note::Saved],
        NameKind::Step | NameKind::Variable => &[Note::Saved, Note::Outside],
        NameKind::Chart
        | NameKind::Field
        | NameKind::Value
        | NameKind::Event
        | NameKind::Function
        | NameKind::Tool
        | NameKind::Client
        | NameKind::Choice
        | NameKind::Param => &[Note::Outside],
        _ => &[],
    }
}
