//! Turns pest's pairs into syntax.
//!
//! The problem: pest returns only pairs of a rule and a range, and the comments of a file, which the formatter must keep, are not among
//! them. The idea: pairs and comments both come in document order, so one cursor over the comments attaches each one to the item that
//! follows it, to the item whose first line it ends, or to the end of the body. For example:
//!
//! ```text
//! // the desk               before    `state open`: the cursor passes a comment that starts before the item
//! state open {  // idle     after     `state open`: the comment starts on the first line of the item
//!   // later                rest      the end of the body: no item follows
//! }
//! ```
//!
//! Each pair is built by one function, named for what it returns. It reads the parts of the pair by their rules; `expect` says what the
//! grammar guarantees.

mod chart;
mod declare;
mod expr;
mod hole;
mod name;
mod state;
mod statement;
mod step;
mod template;
mod test;

pub(super) use expr::just as just_expr;

use super::expected;
use super::grammar::Rule;
use super::recover::{self, BodyKind};
use super::scan::Comment as Token;
use super::typos;
use crate::diagnostic::Diagnostic;
use crate::rules::SYNTAX;
use crate::span::{FileId, Ident, Span};
use crate::syntax;
use pest::iterators::{Pair, Pairs};

/// The position of a text in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'m> {
    /// The file that contains the text.
    pub(super) file: FileId,
    /// The offset of the text's first byte in the file.
    pub(super) base: usize,
    /// For a text whose escapes were undone: the offset of each byte and of the end, relative to `base`.
    pub(super) map: Option<&'m [u32]>,
    /// The number of texts with placeholders that enclose this text.
    pub(super) inside: usize,
}

/// The state of the builder: the text, a cursor over its comments, and the diagnostics so far.
pub(super) struct Cx<'s> {
    /// The whole text.
    pub(super) text: &'s str,
    /// The position of the text in its file.
    pub(super) origin: Origin<'s>,
    comments: &'s [Token],
    cursor: usize,
    /// The errors found so far, in the order in which they were found.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether the next item is the first of its body. A blank line before it then means nothing.
    first: bool,
    /// The current depth of recursion in expressions.
    depth: usize,
}

impl<'s> Cx<'s> {
    /// Creates a builder over `text`; `comments` are the text's comments, in order.
    pub(super) fn new(text: &'s str, origin: Origin<'s>, comments: &'s [Token]) -> Self {
        Self { text, origin, comments, cursor: 0, diagnostics: Vec::new(), first: true, depth: 0 }
    }

    /// The span in the file of the bytes `start..end` of the text.
    pub(super) fn range(&self, start: usize, end: usize) -> Span {
        let at = |offset: usize| {
            let offset = self.origin.map.map_or(offset, |m| m[offset] as usize);
            self.origin.base + offset
        };
        Span::new(self.origin.file, at(start), at(end))
    }

    /// The span of a pair, without the trailing blanks and comments that pest includes.
    pub(super) fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        self.range(span.start(), self.trim(span.start(), span.end()))
    }

    fn trim(&self, start: usize, mut end: usize) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            while end > start && bytes[end - 1].is_ascii_whitespace() {
                end -= 1;
            }
            // A comment reaches to the end of its line.
            if !matches!(bytes.get(end), None | Some(b'\n' | b'\r')) {
                return end;
            }
            let after = self.comments.partition_point(|c| c.end < end);
            match self.comments.get(after) {
                Some(c) if c.end == end && c.start >= start => end = c.start,
                _ => return end,
            }
        }
    }

    /// Reports a syntax error.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.diagnostics.len();
        self.diagnostics.push(SYNTAX.at(span, message));
        &mut self.diagnostics[at]
    }

    /// Reports a syntax error with help.
    pub(super) fn error_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = help.into();
        self.error(span, message).help = Some(help);
    }

    /// Builds the node of a pair, with its comments and docs.
    fn noted<'i, T>(
        &mut self,
        pair: Pair<'i, Rule>,
        build: impl FnOnce(&mut Self, Pair<'i, Rule>) -> T,
    ) -> syntax::Noted<T> {
        let span = self.span(&pair);
        let start = pair.as_span().start();
        let (mut trivia, doc) = self.before(start);
        trivia.after = self.after(start);
        self.first = true;
        let node = build(self, pair);
        self.first = false;
        syntax::Noted { trivia, doc, node, span }
    }

    /// Takes the comments, docs and blank lines before `start`.
    fn before(&mut self, start: usize) -> (syntax::Trivia, String) {
        let mut trivia = syntax::Trivia::default();
        let mut docs: Vec<&str> = Vec::new();
        let from = self.cursor;
        while let Some(comment) = self.comments.get(self.cursor).filter(|c| c.start < start) {
            self.cursor += 1;
            if comment.is_doc(self.text) {
                let line = &self.text[comment.start + 3..comment.end];
                docs.push(line.strip_prefix(' ').unwrap_or(line));
            } else {
                let blank = !trivia.before.is_empty() && self.blank_before(comment.start);
                trivia.before.push(self.comment(*comment, blank));
            }
        }
        let all = &self.comments[from..self.cursor];
        let head = all.first().map_or(start, |c| c.start);
        trivia.blank_before = !self.first && self.blank_before(head);
        if let Some(last) = all.iter().rposition(|c| !c.is_doc(self.text)) {
            let next = all.get(last + 1).map_or(start, |c| c.start);
            trivia.blank_after = self.blank_before(next);
        }
        (trivia, docs.join("\n"))
    }

    fn comment(&self, token: Token, blank_before: bool) -> syntax::Comment {
        let text = self.text[token.start + 2..token.end].trim_end();
        syntax::Comment { blank_before, text: text.to_owned() }
    }

    /// Takes the comment at the end of the line that contains `start`.
    fn after(&mut self, start: usize) -> Option<String> {
        let next = self.comments.get(self.cursor)?;
        if next.line > start {
            return None;
        }
        self.cursor += 1;
        Some(self.text[next.start + 2..next.end].trim_end().to_owned())
    }

    /// Takes the comments before `end`, where a body ends.
    pub(super) fn rest(&mut self, end: usize) -> Vec<syntax::Comment> {
        let mut rest = Vec::new();
        while let Some(comment) = self.comments.get(self.cursor).filter(|c| c.start < end) {
            self.cursor += 1;
            let blank = !(self.first && rest.is_empty()) && self.blank_before(comment.start);
            rest.push(self.comment(*comment, blank));
        }
        self.first = false;
        rest
    }

    /// Whether a blank line precedes `at`.
    fn blank_before(&self, at: usize) -> bool {
        let mut lines = 0;
        for byte in self.text.as_bytes()[..at].iter().rev() {
            match byte {
                b'\n' => lines += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return lines > 1,
            }
        }
        false
    }

    /// Builds the items of a body. Comments after the last item go to what follows the body. `build` returns `None` for items to drop.
    pub(super) fn items<'i, T>(
        &mut self,
        pairs: impl IntoIterator<Item = Pair<'i, Rule>>,
        place: BodyKind,
        mut build: impl FnMut(&mut Self, Pair<'i, Rule>) -> Option<T>,
    ) -> Vec<syntax::Noted<T>> {
        let mut items = Vec::new();
        let mut previous: Option<Span> = None;
        let mut was_bad = false;
        self.first = true;
        for pair in pairs {
            let rule = pair.as_rule();
            if matches!(
                rule,
                Rule::open_brace | Rule::comma | Rule::close_brace | Rule::unclosed | Rule::EOI
            ) {
                continue;
            }
            let bad = expected::is_bad(rule);
            if bad && !was_bad {
                let span = self.span(&pair);
                recover::report(self, place, previous, span);
                typos::report(self, place, span);
            }
            // Where bad items are probably one, only the first is reported.
            was_bad = bad && place.joins();
            let syntax::Noted { trivia, doc, node, span } = self.noted(pair, &mut build);
            previous = (!bad).then_some(span);
            items.extend(node.map(|node| syntax::Noted { trivia, doc, node, span }));
        }
        items
    }

    /// Builds the items of a body, with the comments after the last one.
    pub(super) fn body<'i, T>(
        &mut self,
        pairs: Pairs<'i, Rule>,
        place: BodyKind,
        build: impl FnMut(&mut Self, Pair<'i, Rule>) -> Option<T>,
    ) -> Body<T> {
        let end = pairs.clone().next_back().map_or(0, |p| p.as_span().start());
        let items = self.items(pairs, place, build);
        let end = self.rest(end);
        Body { items, end }
    }

    /// Runs `read`, whose result has no place for comments. They go to what follows it.
    pub(super) fn without_trivia<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let cursor = self.cursor;
        let made = read(self);
        self.cursor = cursor;
        made
    }

    /// Builds a dotted path.
    pub(super) fn path(&mut self, pair: Pair<'_, Rule>) -> syntax::Path {
        let span = self.span(&pair);
        let names = pair.into_inner().map(|p| self.ident(&p)).collect();
        syntax::Path { names, span }
    }

    /// Builds a name, without back-quotes and escapes.
    pub(super) fn ident(&mut self, pair: &Pair<'_, Rule>) -> Ident {
        let span = self.span(pair);
        let text = pair.as_str();
        let node = match text.strip_prefix('`') {
            Some(rest) => self.unquote(rest, pair.as_span().start() + 1),
            None => text.to_owned(),
        };
        Ident::new(node, span)
    }
}

/// The contents of a pair of braces.
pub(super) struct Body<T> {
    pub(super) items: Vec<syntax::Noted<T>>,
    pub(super) end: Vec<syntax::Comment>,
}

/// Builds the whole file.
pub(super) fn file(cx: &mut Cx<'_>, pair: Pair<'_, Rule>) -> syntax::File {
    let id = cx.origin.file;
    let body = cx.body(pair.into_inner(), BodyKind::Top, |cx, pair| Some(declare::item(cx, pair)));
    syntax::File { items: body.items, end: body.end, ..syntax::File::new(id) }
}

/// The parts of a pair after the first one, which is a keyword.
fn parts(pair: Pair<'_, Rule>) -> Pairs<'_, Rule> {
    let mut parts = pair.into_inner();
    parts.next();
    parts
}

/// The first part with this rule, which the grammar demands.
fn child(pair: Pair<'_, Rule>, rule: Rule) -> Pair<'_, Rule> {
    first_of(pair.into_inner(), rule)
}

/// The first pair with this rule, which the grammar demands.
fn first_of(mut pairs: Pairs<'_, Rule>, rule: Rule) -> Pair<'_, Rule> {
    pairs.find(|p| p.as_rule() == rule).expect("the grammar demands it")
}
