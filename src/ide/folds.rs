//! Computes the parts of a file that can be folded.

use super::notation::{self, Notation};
use super::xml::{Other, read};
use crate::Compilation;
use chartc_compiler::front::chart::scan::{Token, TokenKind, tokens};
use chartc_compiler::syntax::source::{FileId, Source, Span};
use std::ops::Range;

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
    let found = match notation::notation(source) {
        Notation::Chart => chart_folds(&source.text),
        Notation::Yaml => yaml_folds(&source.text),
        Notation::Xml => xml_folds(&source.text),
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

// Folds of a `.chart`, computed from its tokens: brackets, texts of several lines, runs of comments and of imports.

fn chart_folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let all = tokens(text);
    let mut found = Vec::new();
    let mut open: Vec<&Token> = Vec::new();
    for token in &all {
        match token.kind {
            TokenKind::Open => open.push(token),
            TokenKind::Close => {
                let opener = pair(token.text(text));
                // A missing bracket must not cost the folds around it, so look further out for the one that matches.
                let Some(nth) = open.iter().rposition(|one| one.text(text) == opener) else {
                    continue;
                };
                found.push((open[nth].start..token.end, FoldKind::Region));
                open.truncate(nth);
            }
            TokenKind::Block => found.push((token.range(), FoldKind::Region)),
            _ => {}
        }
    }
    chart_comments(text, &all, &mut found);
    imports(text, &all, &mut found);
    found
}

fn pair(close: &str) -> &'static str {
    match close {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

/// Adds runs of comments that stand alone on consecutive lines.
fn chart_comments(text: &str, all: &[Token], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    for token in all {
        if !matches!(token.kind, TokenKind::Comment | TokenKind::Doc) {
            continue;
        }
        let line = text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        let alone = text[line..token.start].trim().is_empty();
        let below = |last: &Range<usize>| {
            let between = &text[last.end..token.start];
            between.trim().is_empty() && between.matches('\n').count() == 1
        };
        run = match run.take() {
            Some(last) if alone && below(&last) => Some(last.start..token.end),
            last => {
                found.extend(last.map(|last| (last, FoldKind::Comment)));
                alone.then(|| token.range())
            }
        };
    }
    found.extend(run.map(|last| (last, FoldKind::Comment)));
}

/// Adds runs of imports.
fn imports(text: &str, all: &[Token], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    let mut rest = all;
    while let [first, tail @ ..] = rest {
        match tail {
            [path, after @ ..] if first.text(text) == "import" && path.kind == TokenKind::Text => {
                let start = run.take().map_or(first.start, |run| run.start);
                run = Some(start..path.end);
                rest = after;
            }
            _ => {
                if !matches!(first.kind, TokenKind::Comment | TokenKind::Doc) {
                    found.extend(run.take().map(|run| (run, FoldKind::Imports)));
                }
                rest = tail;
            }
        }
    }
    found.extend(run.map(|run| (run, FoldKind::Imports)));
}

// Folds of an XML document: its elements and comments. Unclosed elements do no harm.

fn xml_folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let tree = read(text);
    let elements = tree.elements.iter().filter(|one| one.is_closed);
    let comments = tree.others.iter().filter(|(_, other)| *other == Other::Comment);
    elements
        .map(|one| (one.tag.start..one.end, FoldKind::Region))
        .chain(comments.map(|(span, _)| (span.clone(), FoldKind::Comment)))
        .collect()
}

// Folds of a YAML document, computed from its indentation: the parser rejects a document that is being edited.

struct YamlLine<'t> {
    start: usize,
    text: &'t str,
    indent: usize,
}

impl YamlLine<'_> {
    fn end(&self) -> usize {
        self.start + self.text.trim_end().len()
    }

    fn is_item(&self) -> bool {
        self.text[self.indent..].starts_with("- ") || self.text.trim() == "-"
    }

    fn is_comment(&self) -> bool {
        self.text[self.indent..].starts_with('#')
    }
}

fn yaml_folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let all: Vec<YamlLine<'_>> = lines(text)
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(start, line)| YamlLine { start, text: line, indent: indent(line) })
        .collect();
    let mut found = Vec::new();
    // Lines whose parts are not complete, outermost first, each with the end of its part so far.
    let mut open: Vec<(&YamlLine<'_>, usize)> = Vec::new();
    for line in &all {
        while let Some((head, last)) = open.last().copied() {
            // A list may stand at the indentation of its key.
            let inside = line.indent > head.indent
                || line.indent == head.indent && line.is_item() && !head.is_item();
            if inside {
                break;
            }
            open.pop();
            found.push((head.start + head.indent..last, FoldKind::Region));
        }
        for (_, last) in &mut open {
            *last = line.end();
        }
        open.push((line, line.end()));
    }
    found.extend(
        open.iter().map(|(head, last)| (head.start + head.indent..*last, FoldKind::Region)),
    );
    yaml_comments(text, &all, &mut found);
    found
}

fn yaml_comments(text: &str, all: &[YamlLine<'_>], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    for line in all.iter().filter(|line| line.is_comment()) {
        let own = line.start + line.indent..line.end();
        run = match run.take() {
            Some(last) if text[last.end..own.start].matches('\n').count() == 1 => {
                Some(last.start..own.end)
            }
            last => {
                found.extend(last.map(|last| (last, FoldKind::Comment)));
                Some(own)
            }
        };
    }
    found.extend(run.map(|last| (last, FoldKind::Comment)));
}
