//! The kind of each word of a file.

mod chart;
mod marks;
mod names;
mod walk;

use super::notation::{Notation, notation};
use crate::Compilation;
use chartc_text::span::{FileId, Span};
use marks::Mark;

/// A word, sign or text on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
    /// More about it.
    pub modifiers: Modifiers,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum TokenKind {
    Keyword,
    State,
    Event,
    Variable,
    Parameter,
    /// A field, or the name of a setting.
    Property,
    Type,
    Enum,
    EnumMember,
    Function,
    Tool,
    Step,
    Option,
    Client,
    Component,
    Chart,
    Number,
    Duration,
    String,
    /// A brace of a placeholder.
    Brace,
    Comment,
    Doc,
    Operator,
}

/// More about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modifiers {
    /// The name is declared here.
    pub declaration: bool,
    /// What cannot be assigned: params, inputs, what the run itself knows, names bound by a line.
    pub readonly: bool,
    /// An earlier name of something.
    pub deprecated: bool,
}

/// The tokens of a file, in order, each on one line, none over another. Of an `agent.yaml` or an SCXML document only the names and
/// placeholders that the compiler knows. Unknown files have none.
pub fn tokens(compilation: &Compilation, file: FileId) -> Vec<Token> {
    let Some(syntax) = compilation.files.get(file.0 as usize) else { return Vec::new() };
    let source = compilation.sources.get(file);
    let marks = marks::marks(compilation, syntax);
    let found = match notation(source) {
        Notation::Chart => chart::tokens(&source.text, &marks),
        Notation::Yaml | Notation::Xml => known(&source.text, &marks),
    };
    let token = |(range, mark): (std::ops::Range<usize>, Mark)| Token {
        span: Span::new(file, range.start, range.end),
        kind: mark.kind,
        modifiers: mark.modifiers,
    };
    found.into_iter().map(token).collect()
}

/// The marks alone, in order and apart.
fn known(text: &str, marks: &marks::Marks) -> Vec<(std::ops::Range<usize>, Mark)> {
    let mut found: Vec<(std::ops::Range<usize>, Mark)> = Vec::new();
    let brace = Mark::from_kind(TokenKind::Brace);
    let mut all: Vec<_> =
        marks.names.iter().map(|(range, mark)| (range.0..range.1, *mark)).collect();
    for (start, end) in &marks.holes {
        all.push((*start..start + 1, brace));
        all.push((end - 1..*end, brace));
    }
    all.sort_by_key(|(range, _)| (range.start, range.end));
    for (range, mark) in all {
        let free = found.last().is_none_or(|(last, _)| last.end <= range.start);
        let one_line = text.get(range.clone()).is_some_and(|t| !t.is_empty() && !t.contains('\n'));
        if free && one_line {
            found.push((range, mark));
        }
    }
    found
}
