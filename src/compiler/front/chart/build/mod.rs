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

mod expr;
pub(in crate::front) mod recover;
mod states;

pub(super) use expr::just as just_expr;

use super::expected;
use super::grammar::Rule;
use super::scan::Comment as Token;
use crate::rules::SYNTAX;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Span, Spanned};
use crate::syntax::{
    self, Argument, Chart, ChartItem, Check, CheckSubject, Claim, Client, ClientOption, Component,
    Ends, Entry, Enum, Expr, ExprKind, Field, Function, FunctionKind, Import, Insert,
    InsertPosition as At, Item, Meta, MetaValue, Method, Noted, Param, Predicate, Record,
    SubjectKind, Template, TemplatePart, Tool, ToolPattern, ToolSet, ToolSum, TypeExpr, TypeKind,
    UnaryOp, UnitBound, Variable, VariableKind, is_lower_snake, is_upper_camel,
};
use pest::iterators::{Pair, Pairs};
use recover::BodyKind;

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
                recover::report_typos(self, place, span);
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
    let body = cx.body(pair.into_inner(), BodyKind::Top, |cx, pair| Some(item(cx, pair)));
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

// Builds charts, and the items that only charts have.

type P<'i> = Pair<'i, Rule>;

fn chart(cx: &mut Cx<'_>, pair: P<'_>) -> Chart {
    let mut inner = parts(pair);
    let name = inner.next().expect("a chart has a name");
    let name = cx.declared(&name, Spelling::Upper, "a chart");
    let renamed = match inner.peek() {
        Some(part) if part.as_rule() == Rule::renamed => {
            inner.next();
            cx.renamed(part)
        }
        _ => Vec::new(),
    };
    let body = cx.body(inner, BodyKind::Chart, |cx, p| Some(chart_item(cx, p)));
    Chart { name, renamed, items: body.items, end: body.end, supplied: Vec::new() }
}

fn chart_item(cx: &mut Cx<'_>, pair: P<'_>) -> ChartItem {
    match pair.as_rule() {
        Rule::variable => ChartItem::Variable(variable(cx, pair)),
        Rule::event => {
            let mut inner = parts(pair);
            let path = inner.next().map(|p| cx.path(p)).expect("an event has a name");
            ChartItem::Event(path, inner.next().map(|p| params(cx, p)).unwrap_or_default())
        }
        Rule::predicate => {
            let mut inner = parts(pair);
            let name = inner.next().expect("a predicate has a name");
            let name = cx.declared(&name, Spelling::Lower, "a predicate");
            let expr = first_of(inner, Rule::expr);
            ChartItem::Predicate(Predicate { name, expr: cx.expr(expr) })
        }
        Rule::function | Rule::effect => ChartItem::Function(function(cx, pair)),
        Rule::tool => ChartItem::Tool(tool(cx, pair)),
        Rule::tool_set => ChartItem::ToolSet(tool_set(cx, pair)),
        Rule::client => ChartItem::Client(client(cx, pair)),
        Rule::component => ChartItem::Component(component(cx, pair)),
        Rule::check => ChartItem::Check(check(cx, pair)),
        Rule::defaults => {
            let policy = child(pair, Rule::policy);
            ChartItem::Defaults(cx.policy(policy))
        }
        Rule::trace => {
            let count = pair.into_inner().find(|p| p.as_rule() == Rule::int);
            ChartItem::Trace(count.map(|p| cx.count(&p)))
        }
        Rule::meta => {
            let inner = parts(pair);
            let entries = cx.without_trivia(|cx| {
                cx.items(inner, BodyKind::Meta, |cx, p| {
                    (p.as_rule() == Rule::meta_entry).then(|| meta_entry(cx, p))
                })
            });
            ChartItem::Meta(entries.into_iter().map(|n: Noted<Meta>| n.node).collect())
        }
        _ => ChartItem::State(cx.state_item(pair)),
    }
}

fn variable(cx: &mut Cx<'_>, pair: P<'_>) -> Variable {
    let mut kind = VariableKind::Param;
    let (mut name, mut ty, mut range, mut default) = (None, None, None, None);
    let mut renamed = Vec::new();
    for part in pair.into_inner() {
        let span = cx.span(&part);
        match part.as_rule() {
            Rule::kw_input => kind = VariableKind::Input,
            Rule::kw_var => kind = VariableKind::Var { per_turn: false },
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a variable")),
            Rule::renamed => renamed = cx.renamed(part),
            Rule::type_expr => ty = Some(type_expr(cx, part)),
            Rule::range => {
                if kind != VariableKind::Param {
                    cx.error_help(
                        span,
                        "only a `param` has a range",
                        "remove it, or test the value where it is used",
                    );
                }
                range = ends(cx, part);
            }
            Rule::expr => default = Some(cx.expr(part)),
            Rule::kw_per => {
                if matches!(kind, VariableKind::Var { .. }) {
                    kind = VariableKind::Var { per_turn: true };
                } else {
                    cx.error(span, "only a `var` starts afresh `per turn`");
                }
            }
            _ => {}
        }
    }
    Variable {
        kind,
        name: name.expect("a variable has a name"),
        renamed,
        ty: ty.expect("a variable has a type"),
        range,
        default,
    }
}

/// Builds the ends of a range: `in a..b`.
fn ends(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Ends> {
    let mut ends = pair.into_inner().filter(|p| p.as_rule() == Rule::expr);
    let (from, to) = (ends.next()?, ends.next()?);
    Some((cx.expr(from), cx.expr(to)))
}

fn check(cx: &mut Cx<'_>, pair: P<'_>) -> Check {
    let mut inner = pair.into_inner().filter(|p| p.as_rule() != Rule::kw_check);
    let claim = claim(cx, inner.next().expect("a check has a claim"));
    let ranges = inner.flat_map(Pair::into_inner).filter(|p| p.as_rule() == Rule::check_range);
    Check { claim, given: ranges.map(|p| check_range(cx, p)).collect() }
}

fn claim(cx: &mut Cx<'_>, pair: P<'_>) -> Claim {
    match pair.as_rule() {
        Rule::before => {
            let (first, second) = two_subjects(cx, pair);
            Claim::Before(first, second)
        }
        Rule::at_most => {
            let mut inner = pair.into_inner();
            let of = inner.next().map(|p| check_subject(cx, p)).expect("a bound has a subject");
            let most = inner.last().map(|p| cx.expr(p)).expect("a bound has a number");
            Claim::AtMost(of, most)
        }
        _ => {
            let mut inner = pair.into_inner();
            let name = inner.next().map(|p| cx.ident(&p)).expect("a property has a name");
            let arguments = inner.filter(|p| p.as_rule() == Rule::argument);
            let arguments = arguments.filter_map(|p| p.into_inner().next());
            Claim::Property(name, arguments.map(|p| argument(cx, p)).collect())
        }
    }
}

/// `p in a..b`.
fn check_range(cx: &mut Cx<'_>, pair: P<'_>) -> (Ident, Expr, Expr) {
    let mut inner = pair.into_inner();
    let name = inner.next().map(|p| cx.ident(&p)).expect("a range has a name");
    let mut ends = inner.flat_map(Pair::into_inner).filter(|p| p.as_rule() == Rule::expr);
    let mut end = || ends.next().map(|p| cx.expr(p)).expect("a range has two ends");
    (name, end(), end())
}

fn two_subjects(cx: &mut Cx<'_>, pair: P<'_>) -> (CheckSubject, CheckSubject) {
    let mut inner = pair.into_inner().filter(|p| p.as_rule() == Rule::checked);
    let mut subject = || inner.next().map(|p| check_subject(cx, p)).expect("two subjects");
    (subject(), subject())
}

fn check_subject(cx: &mut Cx<'_>, pair: P<'_>) -> CheckSubject {
    let mut inner = pair.into_inner();
    let first = inner.next().expect("a subject has a name");
    if first.as_rule() == Rule::path {
        return CheckSubject { kind: None, name: cx.path(first) };
    }
    let kind = SubjectKind::ALL.into_iter().find(|kind| kind.word() == first.as_str());
    CheckSubject { kind, name: inner.next().map(|p| cx.path(p)).expect("a subject has a name") }
}

fn argument(cx: &mut Cx<'_>, pair: P<'_>) -> Argument {
    match pair.as_rule() {
        Rule::unless => {
            let (first, second) = two_subjects(cx, pair);
            Argument::Unless(first, second)
        }
        Rule::before => {
            let (first, second) = two_subjects(cx, pair);
            Argument::Before(first, second)
        }
        Rule::bound => {
            let mut inner = pair.into_inner();
            let expr = inner.next().map(|p| cx.expr(p)).expect("a bound has a number");
            let unit = inner.next().map(|p| cx.ident(&p)).expect("a bound has a unit");
            Argument::Bound(UnitBound { expr, unit })
        }
        _ => Argument::State(cx.path(pair)),
    }
}

fn meta_entry(cx: &mut Cx<'_>, pair: P<'_>) -> Meta {
    let mut inner = pair.into_inner().filter(|p| p.as_rule() != Rule::colon);
    let key = inner.next().expect("an entry has a key");
    let key = if key.as_rule() == Rule::name { cx.ident(&key) } else { cx.plain_text(&key) };
    let value = inner.next().map_or(MetaValue::None, |p| meta_value(cx, p));
    Meta { key, value }
}

fn meta_value(cx: &mut Cx<'_>, pair: P<'_>) -> MetaValue {
    let mut minus = false;
    for part in pair.into_inner() {
        return match part.as_rule() {
            Rule::negative => {
                minus = true;
                continue;
            }
            // The sign belongs to the number: the least Int has no positive counterpart.
            Rule::int if minus => MetaValue::Int(
                format!("-{}", part.as_str()).parse().unwrap_or_else(|_| cx.int(&part)),
            ),
            Rule::int => MetaValue::Int(cx.int(&part)),
            Rule::float => {
                let value = cx.float(&part);
                MetaValue::Float(if minus { -value } else { value })
            }
            Rule::kw_true => MetaValue::Bool(true),
            Rule::kw_false => MetaValue::Bool(false),
            Rule::line_string | Rule::block_string => MetaValue::Text(cx.plain_text(&part).node),
            Rule::meta_list => {
                let values = part.into_inner().filter(|p| p.as_rule() == Rule::meta_value);
                MetaValue::List(values.map(|p| meta_value(cx, p)).collect())
            }
            Rule::meta_map => {
                let entries = part.into_inner().filter(|p| p.as_rule() == Rule::meta_entry);
                let entries = entries.map(|p| meta_entry(cx, p)).map(|m| (m.key.node, m.value));
                MetaValue::Map(entries.collect())
            }
            _ => MetaValue::None,
        };
    }
    MetaValue::None
}

// Builds top level items, and the declarations that charts share with them.

/// Builds a top level item.
fn item(cx: &mut Cx<'_>, pair: P<'_>) -> Item {
    match pair.as_rule() {
        Rule::import => Item::Import(import(cx, pair)),
        Rule::record_type => Item::Record(record(cx, pair)),
        Rule::enum_type => Item::Enum(enumeration(cx, pair)),
        Rule::function | Rule::effect => Item::Function(function(cx, pair)),
        Rule::tool => Item::Tool(tool(cx, pair)),
        Rule::tool_set => Item::ToolSet(tool_set(cx, pair)),
        Rule::client => Item::Client(client(cx, pair)),
        Rule::component => Item::Component(component(cx, pair)),
        Rule::chart => Item::Chart(chart(cx, pair)),
        Rule::scenario => Item::Scenario(states::scenario(cx, pair)),
        _ => Item::Bad(cx.span(&pair)),
    }
}

fn import(cx: &mut Cx<'_>, pair: P<'_>) -> Import {
    let text = child(pair, Rule::line_string);
    Import { path: cx.plain_text(&text) }
}

fn record(cx: &mut Cx<'_>, pair: P<'_>) -> Record {
    let mut inner = parts(pair);
    let name = inner.next().expect("a type has a name");
    let name = cx.declared(&name, Spelling::Upper, "a type");
    let fields = cx
        .items(inner, BodyKind::Record, |cx, p| (p.as_rule() == Rule::param).then(|| param(cx, p)));
    Record { name, fields }
}

fn enumeration(cx: &mut Cx<'_>, pair: P<'_>) -> Enum {
    let mut inner = parts(pair);
    let name = inner.next().expect("an enum has a name");
    let name = cx.declared(&name, Spelling::Upper, "an enum");
    let names = cx.items(inner, BodyKind::Enum, |cx, p| {
        let name = p.into_inner().next()?;
        Some(cx.declared(&name, Spelling::Lower, "an enum's value"))
    });
    Enum { name, names }
}

/// Builds a parameter or a field: `a: T in 1..9`.
fn param(cx: &mut Cx<'_>, pair: P<'_>) -> Field {
    let mut name = None;
    let mut ty = None;
    let mut range = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a field")),
            Rule::type_expr => ty = Some(type_expr(cx, part)),
            Rule::range => range = ends(cx, part),
            _ => {}
        }
    }
    Field { name: name.expect("a field has a name"), ty: ty.expect("a field has a type"), range }
}

/// Builds a list of parameters: `(a: T, b: T)`.
fn params(cx: &mut Cx<'_>, pair: P<'_>) -> Vec<Param> {
    pair.into_inner().filter(|p| p.as_rule() == Rule::param).map(|p| param(cx, p)).collect()
}

/// Builds a type, such as `List(T)?`.
fn type_expr(cx: &mut Cx<'_>, pair: P<'_>) -> TypeExpr {
    let span = cx.span(&pair);
    let mut name = Ident::new(String::new(), span);
    let mut arguments = Vec::new();
    let mut optional = 0;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = cx.ident(&part),
            Rule::type_args => {
                let types = part.into_inner().filter(|p| p.as_rule() == Rule::type_expr);
                arguments = types.map(|p| type_expr(cx, p)).collect();
            }
            _ => optional += 1,
        }
    }
    let (count, wanted) =
        (arguments.len(), usize::from(name.node == "List") + 2 * usize::from(name.node == "Map"));
    let mut arguments = arguments.into_iter().map(Box::new);
    let inner = match (arguments.next(), arguments.next()) {
        (Some(item), None) if wanted == 1 => TypeKind::List(item),
        (Some(key), Some(value)) if wanted == 2 && count == 2 => TypeKind::Map(key, value),
        _ => {
            if count != wanted {
                let message = match wanted {
                    0 => format!("`{}` holds no other type", name.node),
                    1 => "`List` holds one type".to_owned(),
                    _ => "`Map` holds two types, of keys and of values".to_owned(),
                };
                cx.error_help(
                    span,
                    message,
                    "write it as in `Int`, `List(Int)` or `Map(Text, Int)`",
                );
            }
            TypeKind::Name(name.node)
        }
    };
    if optional > 1 {
        cx.error(span, "one `?` is enough");
    }
    if optional == 0 {
        return TypeExpr { kind: inner, span };
    }
    // The inner type ends before the `?`.
    let end = span.end as usize;
    let bare = crate::syntax::source::Span { end: (end - 1) as u32, ..span };
    TypeExpr { kind: TypeKind::Optional(Box::new(TypeExpr { kind: inner, span: bare })), span }
}

fn function(cx: &mut Cx<'_>, pair: P<'_>) -> Function {
    let pure = pair.as_rule() == Rule::function;
    let mut name = None;
    let (mut all, mut result, mut otherwise) = (Vec::new(), None, None);
    let mut from = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a function")),
            Rule::params => all = params(cx, part),
            Rule::type_expr => result = Some(type_expr(cx, part)),
            Rule::method if pure => from = method(cx, part),
            Rule::method => {
                let span = cx.span(&part);
                cx.error_help(span, "an effect is no method", "only `fn` has `from`");
            }
            Rule::expr => otherwise = Some(cx.expr(part)),
            _ => {}
        }
    }
    let kind = match result {
        Some(result) if pure => FunctionKind::Pure(result, from, otherwise),
        _ => FunctionKind::Effect,
    };
    Function { name: name.expect("a function has a name"), params: all, kind }
}

fn method(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Method> {
    let span = cx.span(&pair);
    let texts = pair.into_inner().filter(|part| part.as_rule() == Rule::line_string);
    let texts: Vec<Spanned<String>> = texts.map(|part| cx.plain_text(&part)).collect();
    if let Ok([artifact, name]) = <[Spanned<String>; 2]>::try_from(texts) {
        return Some(Method { artifact, name });
    }
    let help = "write it as in `from \"shop\" \"price\"`";
    cx.error_help(span, "the artifact stands here without its method", help);
    None
}

fn tool(cx: &mut Cx<'_>, pair: P<'_>) -> Tool {
    let (mut name, mut all, mut result, mut idempotent) = (None, Vec::new(), None, false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::kw_idempotent => idempotent = true,
            Rule::path => name = Some(cx.path(part)),
            Rule::params => all = params(cx, part),
            Rule::type_expr => result = Some(type_expr(cx, part)),
            _ => {}
        }
    }
    Tool {
        name: name.expect("a tool has a name"),
        params: all,
        result: result.expect("a tool has a result"),
        idempotent,
    }
}

fn tool_set(cx: &mut Cx<'_>, pair: P<'_>) -> ToolSet {
    let (mut name, mut tools) = (None, None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a tool set")),
            Rule::tool_sum => tools = Some(tool_sum(cx, part)),
            _ => {}
        }
    }
    ToolSet {
        name: name.expect("a tool set has a name"),
        tools: tools.expect("a tool set has tools"),
    }
}

/// Builds a `Rule::tool_sum`.
fn tool_sum(cx: &mut Cx<'_>, pair: P<'_>) -> ToolSum {
    let span = cx.span(&pair);
    let (mut plus, mut minus, mut away) = (Vec::new(), Vec::new(), false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::take_away => away = true,
            Rule::pipe => away = false,
            Rule::tool_pattern => {
                let pattern = tool_pattern(cx, part);
                if away { minus.push(pattern) } else { plus.push(pattern) }
            }
            _ => {}
        }
    }
    ToolSum { plus, minus, span }
}

fn tool_pattern(cx: &mut Cx<'_>, pair: P<'_>) -> ToolPattern {
    let span = cx.span(&pair);
    let mut path = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::path => path = Some(cx.path(part)),
            Rule::all_below => {
                return path.map_or(ToolPattern::Any(span), ToolPattern::Prefix);
            }
            _ => {}
        }
    }
    path.map_or(ToolPattern::Any(span), ToolPattern::Name)
}

fn client(cx: &mut Cx<'_>, pair: P<'_>) -> Client {
    let mut inner = parts(pair);
    let name = inner.next().expect("a client has a name");
    let name = cx.declared(&name, Spelling::Lower, "a client");
    let options = cx.items(inner, BodyKind::Client, |cx, p| match p.as_rule() {
        Rule::client_option => Some(client_option(cx, p)),
        Rule::retry => Some(client_retry(cx, p)),
        _ => None,
    });
    Client { name, options }
}

fn client_option(cx: &mut Cx<'_>, pair: P<'_>) -> ClientOption {
    let mut inner = pair.into_inner();
    let name = inner.next().expect("an option has a name");
    let name = cx.ident(&name);
    let mut sign = None;
    let mut value = Expr { kind: ExprKind::None, span: name.span };
    for part in inner.flat_map(Pair::into_inner) {
        let span = cx.span(&part);
        let kind = match part.as_rule() {
            Rule::negative => {
                sign = Some(span);
                continue;
            }
            Rule::int => ExprKind::Int(cx.int(&part)),
            Rule::grouped => ExprKind::GroupedInt(cx.int(&part)),
            Rule::float => ExprKind::Float(cx.float(&part)),
            Rule::duration => ExprKind::Duration(cx.duration(&part)),
            Rule::kw_true => ExprKind::Bool(true),
            Rule::kw_false => ExprKind::Bool(false),
            Rule::kw_none => ExprKind::None,
            Rule::name => ExprKind::Name(cx.ident(&part).node),
            Rule::server_options => {
                let options = part.into_inner().filter(|p| p.as_rule() == Rule::client_option);
                ExprKind::Map(options.map(|p| entry(client_option(cx, p))).collect())
            }
            rule => {
                let text = cx.plain_text(&part);
                let parts = if text.node.is_empty() {
                    Vec::new()
                } else {
                    vec![TemplatePart::Text(text.node, span)]
                };
                ExprKind::Text(Template { parts, span, block: rule == Rule::block_string })
            }
        };
        value = Expr { kind, span };
        if let Some(sign) = sign {
            let kind = ExprKind::Unary(UnaryOp::Negate, Box::new(value));
            value = Expr { kind, span: sign.to(span) };
        }
    }
    ClientOption { name, value, retry: None }
}

fn client_retry(cx: &mut Cx<'_>, pair: P<'_>) -> ClientOption {
    let start = cx.span(&pair).start as usize;
    let retry = cx.retry(pair);
    let span = Span::new(retry.times.span.file, start, start + "retry".len());
    let kind = ExprKind::Int(i64::from(retry.times.node));
    let value = Expr { kind, span: retry.times.span };
    ClientOption { name: Ident::new("retry".to_owned(), span), value, retry: Some(retry) }
}

/// Turns an option of a server into an entry of a map.
fn entry(option: ClientOption) -> Entry {
    let ClientOption { name: Ident { node, span }, value, .. } = option;
    let parts = vec![TemplatePart::Text(node, span)];
    let kind = ExprKind::Text(Template { parts, span, block: false });
    Entry { key: Expr { kind, span }, value }
}

fn component(cx: &mut Cx<'_>, pair: P<'_>) -> Component {
    let span = cx.span(&pair);
    let mut name = None;
    let mut inserts = Vec::new();
    let mut text = Template { parts: Vec::new(), span, block: false };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a component")),
            Rule::insert => inserts.push(insert(cx, part)),
            Rule::line_string | Rule::block_string => text = cx.template(&part),
            _ => {}
        }
    }
    Component { name: name.expect("a component has a name"), inserts, text }
}

fn insert(cx: &mut Cx<'_>, pair: P<'_>) -> Insert {
    let (mut step, mut guard, mut place) = (None, None, At::End);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => step = Some(cx.ident(&part)),
            Rule::guard => guard = Some(cx.guard(part)),
            Rule::place => {
                place = match part.as_str() {
                    "start" => At::Start,
                    "replace" => At::Replace,
                    _ => At::End,
                }
            }
            _ => {}
        }
    }
    Insert { step: step.expect("an insertion names a step"), guard, place }
}

// Builds declared names, and undoes the escapes of names and texts.

/// The spelling of names of one kind, unless they are back-quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// `UpperCamel`.
    Upper,
    /// `lower_snake`.
    Lower,
    /// Any word, because states keep the names that other formats gave them.
    Any,
}

impl Cx<'_> {
    /// Builds the name of a declaration. Without back-quotes, it must follow the spelling of its kind.
    fn declared(&mut self, pair: &Pair<'_, Rule>, spelling: Spelling, what: &str) -> Ident {
        let ident = self.ident(pair);
        if pair.as_str().starts_with('`') {
            return ident;
        }
        let name = &ident.node;
        let (fits, wanted) = match spelling {
            Spelling::Upper => (is_upper_camel(name), "UpperCamel"),
            Spelling::Lower => (is_lower_snake(name), "lower_snake"),
            Spelling::Any => return ident,
        };
        if !fits {
            let fixed = match spelling {
                Spelling::Upper => to_upper_camel(name),
                Spelling::Lower | Spelling::Any => to_lower_snake(name),
            };
            let message = format!("the name of {what} is {wanted}, `{name}` is not");
            let help = format!("write `{fixed}`, or keep it in back-quotes");
            self.error_help(ident.span, message, help);
        }
        ident
    }

    /// The part of `text` before its closing back-quote, with escapes undone.
    fn unquote(&mut self, text: &str, at: usize) -> String {
        let mut out = String::new();
        let mut rest = text.char_indices();
        while let Some((i, c)) = rest.next() {
            match c {
                '`' => break,
                '\\' => {
                    let (c, length) = self.escape(&text[i..], at + i);
                    out.extend(c);
                    for _ in 1..length {
                        rest.next();
                    }
                }
                c => out.push(c),
            }
        }
        out
    }

    /// Reads the escape at the start of `text`: its character, and the length of the escape in characters. An unknown escape is reported.
    fn escape(&mut self, text: &str, at: usize) -> (Option<char>, usize) {
        let mut chars = text.chars().skip(1);
        let plain = match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some(c @ ('\\' | '"' | '`')) => c,
            Some('u') => return self.unicode_escape(text, at),
            Some(c) => {
                let span = self.range(at, at + 1 + c.len_utf8());
                let message = format!("`\\{c}` is no escape");
                self.error_help(span, message, "a backslash itself is `\\\\`");
                return (Some(c), 2);
            }
            None => return (Some('\\'), 1),
        };
        (Some(plain), 2)
    }

    /// Reads an escape such as `\u{1f600}`.
    fn unicode_escape(&mut self, text: &str, at: usize) -> (Option<char>, usize) {
        let digits = text[2..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let read = digits.filter(|(d, _)| d.len() <= 6).and_then(|(d, _)| {
            let c = u32::from_str_radix(d, 16).ok().and_then(char::from_u32)?;
            Some((c, d.len() + 4))
        });
        match read {
            Some((c, length)) => (Some(c), length),
            None => {
                let span = self.range(at, at + 2);
                self.error_help(
                    span,
                    "`\\u` names no character",
                    "write its number as in `\\u{e9}`",
                );
                (None, 2)
            }
        }
    }
}

fn to_upper_camel(name: &str) -> String {
    let word = |w: &str| {
        let mut chars = w.chars();
        chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let camel: String = name.split('_').map(word).collect();
    if is_upper_camel(&camel) { camel } else { format!("N{camel}") }
}

fn to_lower_snake(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_lowercase());
    }
    out
}
