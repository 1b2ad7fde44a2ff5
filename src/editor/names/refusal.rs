//! Why nothing is renamed, and what a rename leaves to others.

use super::NameKind;
use chartc_check::compile::Compilation;
use chartc_text::span::Span;
use std::fmt;

/// What a rename leaves to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Runs that were saved know it by the old name.
    Saved,
    /// Hosts, tools, scripts or models know it by the old name.
    Outside,
    /// There are errors in a file that it may be used in: a name there may have been missed.
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

/// Why nothing is renamed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// There is no name that the file declares.
    NoName,
    /// The path of an import.
    Import,
    /// The name is made by the front end of its file, or written with escapes, there.
    Unwritten(FilePosition),
    /// The new name is the old one.
    Same,
    /// The new name is not spelled like a name of its kind, which is spelled like this.
    Spelling(&'static str),
    /// The text of a file is another one than that compiled before.
    Stale(String),
    /// An error of syntax, around which names are not known.
    Syntax(FilePosition),
    /// With the new name there is an error: its message, and its place in the text as it would be.
    Breaks(String, FilePosition),
    /// With the new name, the name there would mean something else.
    Captures(FilePosition),
    /// With the new name, a chart would be another one.
    Changes(String),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// The name of its source.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
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

/// Who else knows names of a kind.
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
        NameKind::File
        | NameKind::Type
        | NameKind::ToolSet
        | NameKind::Component
        | NameKind::Predicate
        | NameKind::Local
        | NameKind::SendId => &[],
    }
}
