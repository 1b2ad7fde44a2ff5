//! Computes semantic tokens: the kind of each word of a file.
//!
//! The scanner knows where a word is, but only the syntax tree knows what it means. So the tree is walked first ([`walk`]), and each
//! name is noted under its span ([`marks`]); then the scanner's tokens look their spans up ([`chart`]). For `on go -> open`:
//!
//! ```text
//! walk       marks 3..5 as an event, 9..13 as a state
//! scanner    word 0..2, word 3..5, sign 6..8, word 9..13
//! result     keyword, event, operator, state
//! ```
//!
//! A part with a syntax error has no marks, and its keywords are still coloured. For YAML and XML the marks alone are the result.

mod chart;
mod marks;
mod names;
mod walk;

use super::notation::{Notation, notation};
use crate::Compilation;
use chartc_text::span::{FileId, Span};
use marks::Mark;

/// A word, sign or text, which does not span lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The span of the token.
    pub span: Span,
    /// The kind of the token.
    pub kind: TokenKind,
    /// Further properties.
    pub modifiers: Modifiers,
}

/// The kind of a token.
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

/// Further properties of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modifiers {
    /// Whether the name is declared here.
    pub declaration: bool,
    /// Whether the name cannot be assigned to: params, inputs, observables, and names that a line binds.
    pub readonly: bool,
    /// Whether it is an earlier name of something.
    pub deprecated: bool,
}

/// The tokens of a file in order. They neither overlap nor span lines. For an `agent.yaml` or an SCXML document these are only the names
/// and placeholders that the compiler knows. Unknown files have none.
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

/// The marks as tokens, in order, without those that overlap an earlier one.
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
