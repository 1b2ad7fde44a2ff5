//! Walks through the syntax of a file and marks its names.
//!
//! The kind of most names follows from their place: what stands behind `->` is a state. A name in an expression has to be looked up:
//! first among the names that are bound around it, then among the declarations of the chart, then of the file. In
//! `on reply(text) if text != last { }`:
//!
//! 1. `reply` is an event, because it is an event pattern.
//! 2. `text` is bound by the pattern: it is a parameter, and is remembered in `locals` up to the end of the line.
//! 3. In the guard, `text` is found in `locals`, and `last` among the variables of the chart.

mod expr;
mod line;
mod test;

use super::TokenKind;
use super::marks::{Mark, Sink};
use super::names::{Names, used};
use crate::editor::outline::SymbolKind;
use chartc_text::span::Ident;
use chartc_text::syntax::{
    Argument, Chart, ChartItem, Client, Component, Entry, Enum, Expr, ExprKind, Function,
    FunctionKind, Item, Limit, Noted, Param, Path, Record, State, StateItem, StateKind,
    TemplatePart, Tool, ToolPattern, ToolSet, TypeExpr, TypeKind, VariableKind,
};

/// The state of the walk.
pub(super) struct TokenWalk<'c> {
    pub(super) sink: Sink<'c>,
    names: Names,
    /// The names that the lines, steps and comprehensions around bind.
    locals: Vec<String>,
}

impl<'c> TokenWalk<'c> {
    pub(super) fn new(sink: Sink<'c>, names: Names) -> Self {
        Self { sink, names, locals: Vec::new() }
    }

    fn declare(&mut self, name: &Ident, kind: TokenKind) {
        self.sink.ident(name, Mark::declared(kind));
    }

    /// Marks each name of a path.
    fn path(&mut self, path: &Path, kind: TokenKind) {
        for name in &path.names {
            self.sink.ident(name, Mark::from_kind(kind));
        }
    }

    fn declare_path(&mut self, path: &Path, kind: TokenKind) {
        for name in &path.names {
            self.declare(name, kind);
        }
    }

    fn renamed(&mut self, names: &[Ident], kind: TokenKind) {
        for name in names {
            let mut mark = Mark::from_kind(kind);
            mark.modifiers.deprecated = true;
            self.sink.ident(name, mark);
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Name(name) => {
                let span = ty.span;
                let kind = match self.names.kind(name) {
                    Some(SymbolKind::Enum) => TokenKind::Enum,
                    _ => TokenKind::Type,
                };
                self.sink.name(name, span, Mark::from_kind(kind));
            }
            TypeKind::List(inner) => {
                self.head(ty, "List");
                self.ty(inner);
            }
            TypeKind::Map(key, value) => {
                self.head(ty, "Map");
                self.ty(key);
                self.ty(value);
            }
            TypeKind::Optional(inner) => self.ty(inner),
        }
    }

    /// Marks the word before the parentheses of a type.
    fn head(&mut self, ty: &TypeExpr, word: &str) {
        let mut span = ty.span;
        span.end = span.start + word.len() as u32;
        self.sink.name(word, span, Mark::from_kind(TokenKind::Type));
    }

    fn params(&mut self, params: &[Param], kind: TokenKind) {
        for param in params {
            self.declare(&param.name, kind);
            self.ty(&param.ty);
        }
    }

    /// Marks the names in an item outside of charts, except charts and tests.
    pub(super) fn outside(&mut self, item: &Item) {
        match item {
            Item::Record(one) => self.record(one),
            Item::Enum(one) => self.enumeration(one),
            Item::Function(one) => self.function(one),
            Item::Tool(one) => self.tool(one),
            Item::ToolSet(one) => self.tool_set(one),
            Item::Client(one) => self.client(one),
            Item::Component(one) => self.component(one),
            _ => {}
        }
    }

    fn record(&mut self, one: &Record) {
        self.declare(&one.name, TokenKind::Type);
        for noted in &one.fields {
            self.declare(&noted.node.name, TokenKind::Property);
            self.ty(&noted.node.ty);
        }
    }

    fn enumeration(&mut self, one: &Enum) {
        self.declare(&one.name, TokenKind::Enum);
        for noted in &one.names {
            self.declare(&noted.node, TokenKind::EnumMember);
        }
    }

    fn function(&mut self, one: &Function) {
        self.declare(&one.name, TokenKind::Function);
        self.params(&one.params, TokenKind::Parameter);
        match &one.kind {
            FunctionKind::Pure(result, _, otherwise) => {
                self.ty(result);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            FunctionKind::Effect => {}
        }
    }

    fn tool(&mut self, one: &Tool) {
        self.declare_path(&one.name, TokenKind::Tool);
        self.params(&one.params, TokenKind::Parameter);
        self.ty(&one.result);
    }

    fn tool_set(&mut self, one: &ToolSet) {
        self.declare(&one.name, TokenKind::Tool);
        for pattern in one.plus.iter().chain(&one.minus) {
            match pattern {
                ToolPattern::Any(_) => {}
                ToolPattern::Name(path) | ToolPattern::Prefix(path) => {
                    self.path(path, TokenKind::Tool);
                }
            }
        }
    }

    fn client(&mut self, one: &Client) {
        self.declare(&one.name, TokenKind::Client);
        for noted in &one.options {
            self.sink.ident(&noted.node.name, Mark::from_kind(TokenKind::Property));
            // `fallback` has the name of a client. The other options have one of a few words.
            if let ExprKind::Name(name) = &noted.node.value.kind {
                let kind = if noted.node.name.node == "fallback" {
                    TokenKind::Client
                } else {
                    TokenKind::EnumMember
                };
                self.sink.name(name, noted.node.value.span, Mark::from_kind(kind));
            }
            self.server_options(&noted.node.value);
        }
    }

    /// Marks the names in `options { … }` of a client. The parser bounds the depth of nesting.
    fn server_options(&mut self, value: &Expr) {
        let ExprKind::Map(entries) = &value.kind else { return };
        for Entry { key, value } in entries {
            if let ExprKind::Text(name) = &key.kind
                && let [TemplatePart::Text(text, span)] = name.parts.as_slice()
            {
                self.sink.name(text, *span, Mark::from_kind(TokenKind::Property));
            }
            if let ExprKind::Name(name) = &value.kind {
                self.sink.name(name, value.span, Mark::from_kind(TokenKind::EnumMember));
            }
            self.server_options(value);
        }
    }

    fn component(&mut self, one: &Component) {
        self.declare(&one.name, TokenKind::Component);
        for insert in &one.inserts {
            self.sink.ident(&insert.step, Mark::from_kind(TokenKind::Step));
            if let Some(guard) = &insert.guard {
                self.expr(guard);
            }
        }
        self.template(&one.text);
    }

    pub(super) fn chart(&mut self, chart: &Chart) {
        self.names.enter(Some(chart));
        self.declare(&chart.name, TokenKind::Chart);
        for Noted { node, .. } in &chart.items {
            match node {
                ChartItem::Meta(entries) => {
                    for entry in entries {
                        self.sink.ident(&entry.key, Mark::from_kind(TokenKind::Property));
                    }
                }
                ChartItem::Variable(one) => {
                    let kind = match one.kind {
                        VariableKind::Param => SymbolKind::Param,
                        VariableKind::Input => SymbolKind::Input,
                        VariableKind::Var { .. } => SymbolKind::Variable,
                    };
                    let mut mark = used(kind);
                    self.renamed(&one.renamed, mark.kind);
                    mark.modifiers.declaration = true;
                    self.sink.ident(&one.name, mark);
                    self.ty(&one.ty);
                    for value in one.range.iter().flat_map(|(a, b)| [a, b]).chain(&one.default) {
                        self.expr(value);
                    }
                }
                ChartItem::Event(name, params) => {
                    self.declare_path(name, TokenKind::Event);
                    self.params(params, TokenKind::Parameter);
                }
                ChartItem::Function(one) => self.function(one),
                ChartItem::Tool(one) => self.tool(one),
                ChartItem::ToolSet(one) => self.tool_set(one),
                ChartItem::Predicate(one) => {
                    self.declare(&one.name, TokenKind::Function);
                    self.expr(&one.expr);
                }
                ChartItem::Client(one) => self.client(one),
                ChartItem::Component(one) => self.component(one),
                ChartItem::Defaults(policy) => self.policy(policy),
                ChartItem::Trace(_) => {}
                ChartItem::Check(check) => {
                    self.sink.ident(&check.name, Mark::from_kind(TokenKind::Function));
                    for argument in &check.arguments {
                        match argument {
                            Argument::State(path) => self.path(path, TokenKind::State),
                            Argument::Before(a, b) => {
                                self.path(a, TokenKind::State);
                                self.path(b, TokenKind::State);
                            }
                            Argument::Bound(bound) => {
                                self.expr(&bound.expr);
                                self.sink.ident(&bound.unit, Mark::from_kind(TokenKind::Keyword));
                            }
                        }
                    }
                }
                ChartItem::State(item) => self.state_item(item),
            }
        }
        self.names.enter(None);
    }

    fn state_item(&mut self, item: &StateItem) {
        match item {
            StateItem::Initial(one) => {
                for target in &one.targets {
                    self.path(target, TokenKind::State);
                }
                self.block(one.actions.as_ref());
            }
            StateItem::State(state) => self.state(state),
            StateItem::History(one) => {
                self.declare(&one.name, TokenKind::State);
                self.renamed(&one.renamed, TokenKind::State);
                for target in &one.default {
                    self.path(target, TokenKind::State);
                }
                self.block(one.actions.as_ref());
            }
            StateItem::Line(line) => self.line(line),
            StateItem::From(from) => {
                for state in from.states.iter().chain(&from.except) {
                    self.path(state, TokenKind::State);
                }
                for line in &from.lines {
                    self.line(&line.node);
                }
            }
            StateItem::Enter(block) | StateItem::Exit(block) => self.block(Some(block)),
            StateItem::Step(step) => self.step(step),
            StateItem::Allow(allow) => {
                for state in allow.from.iter().chain([&allow.to]) {
                    self.path(state, TokenKind::State);
                }
                if let Some(guard) = &allow.guard {
                    self.expr(guard);
                }
            }
            StateItem::Advice(text) => self.template(text),
            StateItem::Limits(limits) => {
                for limit in limits {
                    self.limit(&limit.node);
                }
            }
            StateItem::Bad(_) => {}
        }
    }

    fn limit(&mut self, limit: &Limit) {
        self.sink.ident(&limit.what, Mark::from_kind(TokenKind::Property));
        self.expr(&limit.bound);
        if let Some(warn) = &limit.warn {
            self.expr(warn);
        }
    }

    fn state(&mut self, state: &State) {
        self.declare(&state.name, TokenKind::State);
        self.renamed(&state.renamed, TokenKind::State);
        match &state.kind {
            StateKind::State | StateKind::Parallel => {}
            StateKind::Final(params, values, status) => {
                self.params(params, TokenKind::Parameter);
                for value in values.iter().flatten() {
                    self.expr(value);
                }
                if let Some(status) = status {
                    self.sink.ident(status, Mark::from_kind(TokenKind::EnumMember));
                }
            }
        }
        for noted in state.body.iter().flat_map(|body| &body.items) {
            self.state_item(&noted.node);
        }
    }
}
