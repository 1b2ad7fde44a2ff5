//! Computes semantic tokens: the kind of each word of a file.
//!
//! The scanner knows where a word is, but only the syntax tree knows what it means. So the tree is walked first ([`walk`]), and each
//! name is noted under its span ([`marks`]); then the scanner's tokens look their spans up ([`chart_tokens`]). For `on go -> open`:
//!
//! ```text
//! walk       marks 3..5 as an event, 9..13 as a state
//! scanner    word 0..2, word 3..5, sign 6..8, word 9..13
//! result     keyword, event, operator, state
//! ```
//!
//! A part with a syntax error has no marks, and its keywords are still coloured. For YAML and XML the marks alone are the result.

mod walk;

use super::known::{self, Decl};
use super::notation::{self, Notation};
use super::outline::SymbolKind;
use crate::Compilation;
use chartc_compiler::front::chart::scan::{self, is_keyword, tokens as lexical};
use chartc_compiler::syntax::source::{FileId, Ident, Span};
use chartc_compiler::syntax::{Chart, File, Item};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use walk::TokenWalk;

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
    let marks = self::marks(compilation, syntax);
    let found = match notation::notation(source) {
        Notation::Chart => chart_tokens(&source.text, &marks),
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
fn known(text: &str, marks: &Marks) -> Vec<(std::ops::Range<usize>, Mark)> {
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

// The tokens of a `.chart` file: those of the scanner, with the meanings of names from the syntax tree.

type MarkedTokens = Vec<(Range<usize>, Mark)>;

fn chart_tokens(text: &str, marks: &Marks) -> MarkedTokens {
    let mut found = MarkedTokens::new();
    for token in lexical(text) {
        plain(text, 0, token, marks, &mut found);
    }
    found
}

/// Adds a token of the scanner. `base` is the offset that its offsets count from.
fn plain(text: &str, base: usize, token: scan::Token, marks: &Marks, found: &mut MarkedTokens) {
    let range = base + token.start..base + token.end;
    let kind = match token.kind {
        scan::TokenKind::Comment => TokenKind::Comment,
        scan::TokenKind::Doc => TokenKind::Doc,
        scan::TokenKind::Int | scan::TokenKind::Float => TokenKind::Number,
        scan::TokenKind::Duration => TokenKind::Duration,
        scan::TokenKind::Sign => TokenKind::Operator,
        scan::TokenKind::Text | scan::TokenKind::Block => return string(text, range, marks, found),
        scan::TokenKind::Word | scan::TokenKind::Quoted => {
            match marks.names.get(&(range.start, range.end)) {
                Some(mark) => found.push((range, *mark)),
                None => {
                    let word = &text[range.clone()];
                    let signs = ["and", "or", "div"];
                    if is_keyword(word) || signs.contains(&word) {
                        found.push((range, Mark::from_kind(TokenKind::Keyword)));
                    }
                }
            }
            return;
        }
        scan::TokenKind::Open | scan::TokenKind::Close | scan::TokenKind::Other => return,
    };
    found.push((range, Mark::from_kind(kind)));
}

/// Adds a text in quotes: its parts between placeholders line by line, and the tokens in its placeholders.
fn string(text: &str, range: Range<usize>, marks: &Marks, found: &mut MarkedTokens) {
    let mut at = range.start;
    let holes = marks.holes.range((range.start, 0)..(range.end, 0));
    for (start, end) in holes.copied() {
        // This placeholder is in a text inside another placeholder, which the recursion handles.
        if start < at || end > range.end {
            continue;
        }
        lines(text, at..start, found);
        found.push((start..start + 1, Mark::from_kind(TokenKind::Brace)));
        let format = marks.formats.range((start, 0)..(end, 0)).next().copied();
        let inner = start + 1..format.map_or(end - 1, |(from, _)| from);
        let inside: Vec<scan::Token> = lexical(&text[inner.clone()]);
        for token in inside {
            plain(text, inner.start, token, marks, found);
        }
        if let Some((from, to)) = format {
            lines(text, from..to.min(end - 1), found);
        }
        found.push((end - 1..end, Mark::from_kind(TokenKind::Brace)));
        at = end;
    }
    lines(text, at..range.end, found);
}

/// Adds a part of a text, one token for each line, without surrounding blanks.
fn lines(text: &str, range: Range<usize>, found: &mut MarkedTokens) {
    let mut at = range.start;
    for line in text[range].split('\n') {
        let body = line.trim();
        let start = at + line.len() - line.trim_start().len();
        if !body.is_empty() {
            found.push((start..start + body.len(), Mark::from_kind(TokenKind::String)));
        }
        at += line.len() + 1;
    }
}

// Collects names and placeholders of a file from its syntax tree.

/// The kind of a name, with further properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    kind: TokenKind,
    modifiers: Modifiers,
}

impl Mark {
    /// A mark of this kind without further properties.
    fn from_kind(kind: TokenKind) -> Self {
        Self { kind, modifiers: Modifiers::default() }
    }

    /// The same mark for something that cannot be assigned to.
    #[must_use]
    fn readonly(self) -> Self {
        Self { modifiers: Modifiers { readonly: true, ..self.modifiers }, ..self }
    }
}

/// The marks of a file.
#[derive(Debug, Default)]
struct Marks {
    /// The marks of names, by start and end.
    names: BTreeMap<(usize, usize), Mark>,
    /// The placeholders with their braces, by start and end.
    holes: BTreeSet<(usize, usize)>,
    /// The formats of placeholders, by start and end.
    formats: BTreeSet<(usize, usize)>,
}

/// Collects the marks of one file.
struct Sink<'c> {
    file: &'c File,
    text: &'c str,
    marks: Marks,
}

impl Sink<'_> {
    /// Adds a name if the text has it at this span. Names of a YAML or XML document may be derived, and not stand in the text.
    fn name(&mut self, name: &str, span: Span, mark: Mark) {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(written) = self.text.get(start..end).filter(|_| span.file == self.file.id) else {
            return;
        };
        let bare = written.strip_prefix('`').map(|rest| rest.strip_suffix('`').unwrap_or(rest));
        if written == name || bare.is_some() {
            self.marks.names.entry((start, end)).or_insert(mark);
        }
    }

    /// Adds an identifier if the text has it at its span.
    fn ident(&mut self, name: &Ident, mark: Mark) {
        self.name(&name.node, name.span, mark);
    }

    /// Adds a placeholder and its format.
    fn hole(&mut self, span: Span, format: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        let written = self.text.get(start..end).filter(|_| span.file == self.file.id);
        let is_hole = |text: &str| text.len() > 1 && text.starts_with('{') && text.ends_with('}');
        if written.is_some_and(is_hole) {
            self.marks.holes.insert((start, end));
            if format.start < format.end {
                self.marks.formats.insert((format.start as usize, format.end as usize));
            }
        }
    }
}

/// Collects the marks of a file.
fn marks(compilation: &Compilation, file: &File) -> Marks {
    let text = &compilation.sources.get(file.id).text;
    let sink = Sink { file, text, marks: Marks::default() };
    let mut walk = TokenWalk::new(sink, Names::outside(compilation, file.id));
    for noted in &file.items {
        let chart = match &noted.node {
            Item::Chart(chart) => Some(chart),
            Item::Scenario(test) => {
                known::chart(compilation, file.id, &test.chart.node).map(|(chart, _)| chart)
            }
            _ => None,
        };
        walk.item(&noted.node, chart);
    }
    walk.sink.marks
}

// Looks up the meanings of names in expressions.

/// The names that a file and one of its charts declare.
#[derive(Default)]
struct Names {
    outside: BTreeMap<String, SymbolKind>,
    inside: BTreeMap<String, SymbolKind>,
}

impl Names {
    /// The names declared outside of charts.
    fn outside(compilation: &Compilation, file: FileId) -> Self {
        Self { outside: map(known::outside(compilation, file)), inside: BTreeMap::new() }
    }

    /// Replaces the names of the chart by those of `chart`.
    fn enter(&mut self, chart: Option<&Chart>) {
        let decls = chart.map(known::inside);
        self.inside = decls.map(map).unwrap_or_default();
    }

    /// The kind of thing that a name stands for.
    fn kind(&self, name: &str) -> Option<SymbolKind> {
        self.inside.get(name).or_else(|| self.outside.get(name)).copied()
    }

    /// The mark of a name that is used as a value.
    fn value(&self, name: &str) -> Mark {
        match self.kind(name) {
            Some(kind) => used(kind),
            // An undeclared name is an observable, such as `turns`.
            None => Mark::from_kind(TokenKind::Variable).readonly(),
        }
    }
}

/// The kinds by name. A value takes precedence over an option or event of the same name, which cannot occur in expressions.
fn map(decls: Vec<Decl<'_>>) -> BTreeMap<String, SymbolKind> {
    let mut found = BTreeMap::new();
    for decl in decls {
        let weak = matches!(decl.kind, SymbolKind::Option | SymbolKind::Event);
        if !weak || !found.contains_key(&decl.name) {
            found.insert(decl.name, decl.kind);
        }
    }
    found
}

/// The mark of a name where it is used.
fn used(kind: SymbolKind) -> Mark {
    match kind {
        SymbolKind::Import => Mark::from_kind(TokenKind::String),
        SymbolKind::Chart => Mark::from_kind(TokenKind::Chart),
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            Mark::from_kind(TokenKind::State)
        }
        SymbolKind::Event => Mark::from_kind(TokenKind::Event),
        SymbolKind::Param => Mark::from_kind(TokenKind::Parameter).readonly(),
        SymbolKind::Input => Mark::from_kind(TokenKind::Variable).readonly(),
        SymbolKind::Variable => Mark::from_kind(TokenKind::Variable),
        SymbolKind::Step => Mark::from_kind(TokenKind::Step),
        SymbolKind::Option => Mark::from_kind(TokenKind::Option),
        SymbolKind::Tool | SymbolKind::ToolSet => Mark::from_kind(TokenKind::Tool),
        SymbolKind::Type => Mark::from_kind(TokenKind::Type),
        SymbolKind::Field => Mark::from_kind(TokenKind::Property),
        SymbolKind::Enum => Mark::from_kind(TokenKind::Enum),
        SymbolKind::EnumValue => Mark::from_kind(TokenKind::EnumMember),
        SymbolKind::Function | SymbolKind::Effect | SymbolKind::Predicate => {
            Mark::from_kind(TokenKind::Function)
        }
        SymbolKind::Client => Mark::from_kind(TokenKind::Client),
        SymbolKind::Component => Mark::from_kind(TokenKind::Component),
        SymbolKind::Test => Mark::from_kind(TokenKind::String),
    }
}
