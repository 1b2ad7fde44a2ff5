//! Computes the parts of a file that can be folded.

mod chart;
mod xml;
mod yaml;

use super::notation::{Notation, notation};
use crate::Compilation;
use chartc_text::source::Source;
use chartc_text::span::{FileId, Span};

/// A part of a file that can be folded. It begins and ends on different lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fold {
    /// The span from the first folded byte to the last: a block with its brackets, or a whole run of comments.
    pub span: Span,
    /// The kind of what is folded.
    pub kind: FoldKind,
}

/// The kind of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoldKind {
    /// A block, a list or a text.
    Region,
    /// A run of comments.
    Comment,
    /// A run of imports.
    Imports,
}

/// The folds of a file, by position. Unknown files have none.
pub fn folds(compilation: &Compilation, file: FileId) -> Vec<Fold> {
    if compilation.files.get(file.0 as usize).is_none() {
        return Vec::new();
    }
    let source = compilation.sources.get(file);
    let found = match notation(source) {
        Notation::Chart => chart::folds(&source.text),
        Notation::Yaml => yaml::folds(&source.text),
        Notation::Xml => xml::folds(&source.text),
    };
    let mut folds: Vec<Fold> = found
        .into_iter()
        .map(|(range, kind)| Fold { span: Span::new(file, range.start, range.end), kind })
        .filter(|fold| has_lines(source, fold.span))
        .collect();
    folds.sort_unstable();
    folds.dedup();
    folds
}

fn has_lines(source: &Source, span: Span) -> bool {
    span.start < span.end && source.line_of(span.start) < source.line_of(span.end - 1)
}

/// The lines of a text without their ends, each with its offset.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line.strip_suffix('\r').unwrap_or(line))
    })
}
