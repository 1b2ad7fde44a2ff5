//! Marks the names of a file by a walk over its syntax.
//!
//! The kind of most names follows from their place: what stands behind `->` is a state. A name in an expression has to be looked up:
//! first among the names that are bound around it, then among the declarations of the chart, then of the file. In
//! `on reply(text) if text != last { }`:
//!
//! 1. `reply` is an event, because it is an event pattern.
//! 2. `text` is bound by the pattern: it is a parameter, and is remembered in `locals` up to the end of the line.
//! 3. In the guard, `text` is found in `locals`, and `last` among the variables of the chart.
//!
//! The first mark of a span stays. So a part whose names mean something else than usual, such as the state in `in(a.b)`, marks them
//! before the walk comes to them.

use super::{Mark, Names, Sink, TokenKind, used};
use crate::ide::outline::SymbolKind;
use chartc_compiler::syntax::source::{Ident, Span};
use chartc_compiler::syntax::visit::{self, Mode, Node, Role};
use chartc_compiler::syntax::{
    Chart, Client, Entry, Expr, ExprKind, Item, Template, TemplatePart, TypeExpr, TypeKind, dotted,
};

/// The state of the walk.
pub(super) struct TokenWalk<'c> {
    pub(super) sink: Sink<'c>,
    names: Names,
    /// The names that the lines, steps and comprehensions around bind.
    locals: Vec<String>,
    /// For each of those, the number of names that were bound before it.
    depths: Vec<usize>,
}

impl<'c> TokenWalk<'c> {
    pub(super) fn new(sink: Sink<'c>, names: Names) -> Self {
        Self { sink, names, locals: Vec::new(), depths: Vec::new() }
    }

    /// Marks the names in an item, which is `chart` or belongs to it.
    pub(super) fn item(&mut self, item: &Item, chart: Option<&Chart>) {
        self.names.enter(chart);
        visit::item(item, &mut |node| self.node(node));
        self.names.enter(None);
    }

    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Enter => self.depths.push(self.locals.len()),
            Node::Leave => self.locals.truncate(self.depths.pop().unwrap_or_default()),
            Node::Name { parts, role, mode } => self.name(parts, role, mode),
            Node::Client(client) => self.client(client),
            Node::Type(ty) => self.ty(ty),
            Node::Template(template) => self.template(template),
            Node::Expr(expr) => self.expr(expr),
            _ => {}
        }
    }

    fn name(&mut self, parts: &[Ident], role: Role, mode: Mode) {
        if mode == Mode::Declared && matches!(role, Role::Local | Role::OptionField) {
            self.locals.extend(parts.iter().map(|part| part.node.clone()));
        }
        for part in parts {
            if role == Role::MachineEvent {
                self.dots(part);
            } else if let Some(mut mark) = self.mark(parts, role) {
                if mode == Mode::Former {
                    mark = Mark::from_kind(mark.kind);
                    mark.modifiers.deprecated = true;
                }
                mark.modifiers.declaration = mode == Mode::Declared;
                self.sink.ident(part, mark);
            }
        }
    }

    /// Marks the parts of a dotted name that is one word of the syntax.
    fn dots(&mut self, name: &Ident) {
        let mut start = name.span.start;
        for part in name.node.split('.') {
            let end = start + part.len() as u32;
            let span = Span { start, end, ..name.span };
            self.sink.name(part, span, Mark::from_kind(TokenKind::Event));
            start = end + 1;
        }
    }

    /// The mark of a dotted name where it is used.
    fn mark(&self, parts: &[Ident], role: Role) -> Option<Mark> {
        let known = || self.names.kind(&dotted(parts));
        let kind = match role {
            Role::Test => return None,
            Role::Value => return parts.first().map(|part| self.names.value(&part.node)),
            Role::Param => return Some(used(SymbolKind::Param)),
            Role::Input => return Some(used(SymbolKind::Input)),
            Role::Local => return Some(bound()),
            Role::StepOrState if known() == Some(SymbolKind::Step) => TokenKind::Step,
            Role::CheckSubject => match known() {
                Some(SymbolKind::Tool) => TokenKind::Tool,
                Some(SymbolKind::Step) => TokenKind::Step,
                Some(SymbolKind::Option) => TokenKind::Option,
                Some(SymbolKind::Event) => TokenKind::Event,
                Some(SymbolKind::Effect) => TokenKind::Function,
                _ => TokenKind::State,
            },
            Role::ToolOrOption => match known() {
                Some(SymbolKind::Tool | SymbolKind::ToolSet) => TokenKind::Tool,
                _ => TokenKind::Option,
            },
            Role::ToolOrFunction if known() == Some(SymbolKind::Tool) => TokenKind::Tool,
            Role::Chart => TokenKind::Chart,
            Role::Type => TokenKind::Type,
            Role::Enum => TokenKind::Enum,
            Role::EnumValue | Role::Word => TokenKind::EnumMember,
            Role::Function | Role::Predicate | Role::Property | Role::ToolOrFunction => {
                TokenKind::Function
            }
            Role::Parameter | Role::EventField | Role::OptionField => TokenKind::Parameter,
            Role::Tool | Role::ToolSet => TokenKind::Tool,
            Role::Client => TokenKind::Client,
            Role::Component => TokenKind::Component,
            Role::Variable => TokenKind::Variable,
            Role::Event | Role::MachineEvent => TokenKind::Event,
            Role::State | Role::StepOrState => TokenKind::State,
            Role::Step => TokenKind::Step,
            Role::Option => TokenKind::Option,
            Role::Field | Role::SendId | Role::Setting => TokenKind::Property,
            Role::Unit => TokenKind::Keyword,
        };
        Some(Mark::from_kind(kind))
    }

    fn ty(&mut self, ty: &TypeExpr) {
        let (name, kind) = match &ty.kind {
            TypeKind::Name(name) => {
                let is_enum = self.names.kind(name) == Some(SymbolKind::Enum);
                let kind = if is_enum { TokenKind::Enum } else { TokenKind::Type };
                return self.sink.name(name, ty.span, Mark::from_kind(kind));
            }
            TypeKind::List(_) => ("List", TokenKind::Type),
            TypeKind::Map(..) => ("Map", TokenKind::Type),
            TypeKind::Optional(_) => return,
        };
        // The word before the parentheses.
        let span = Span { end: ty.span.start + name.len() as u32, ..ty.span };
        self.sink.name(name, span, Mark::from_kind(kind));
    }

    fn client(&mut self, client: &Client) {
        for noted in &client.options {
            // `fallback` has the name of a client. The other options have one of a few words.
            if let ExprKind::Name(name) = &noted.node.value.kind
                && noted.node.name.node == "fallback"
            {
                let mark = Mark::from_kind(TokenKind::Client);
                self.sink.name(name, noted.node.value.span, mark);
            }
            self.option_value(&noted.node.value);
        }
    }

    /// Marks the names in the value of a client's option. The parser bounds the depth of nesting.
    fn option_value(&mut self, value: &Expr) {
        if let ExprKind::Name(name) = &value.kind {
            self.sink.name(name, value.span, Mark::from_kind(TokenKind::EnumMember));
        }
        let ExprKind::Map(entries) = &value.kind else { return };
        for Entry { key, value } in entries {
            if let ExprKind::Text(name) = &key.kind
                && let [TemplatePart::Text(text, span)] = name.parts.as_slice()
            {
                self.sink.name(text, *span, Mark::from_kind(TokenKind::Property));
            }
            self.option_value(value);
        }
    }

    fn template(&mut self, template: &Template) {
        for part in &template.parts {
            if let TemplatePart::Hole(hole) = part {
                self.sink.hole(hole.span, hole.spec.span);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                let mark =
                    if self.locals.contains(name) { bound() } else { self.names.value(name) };
                self.sink.name(name, expr.span, mark);
            }
            ExprKind::Field(base, field) => {
                self.sink.ident(field, Mark::from_kind(self.field(base)));
            }
            ExprKind::Call(name, arguments) => {
                let kind = self.names.kind(&name.node).map(used);
                self.sink.ident(name, kind.unwrap_or(Mark::from_kind(TokenKind::Function)));
                let kind = match name.node.as_str() {
                    "in" | "turns_in" => TokenKind::State,
                    "streak" | "repeated" => TokenKind::Tool,
                    _ => return,
                };
                for argument in arguments {
                    self.path(argument, kind);
                }
            }
            ExprKind::Record(name, fields) => {
                self.sink.ident(name, Mark::from_kind(TokenKind::Type));
                for (field, _) in fields {
                    self.sink.ident(field, Mark::from_kind(TokenKind::Property));
                }
            }
            _ => {}
        }
    }

    /// Marks a dotted name, which the parser reads as fields of a name.
    fn path(&mut self, expr: &Expr, kind: TokenKind) {
        if let ExprKind::Name(name) = &expr.kind {
            self.sink.name(name, expr.span, Mark::from_kind(kind));
        } else if let ExprKind::Field(base, field) = &expr.kind {
            self.path(base, kind);
            self.sink.ident(field, Mark::from_kind(kind));
        }
    }

    fn field(&self, base: &Expr) -> TokenKind {
        if let ExprKind::Name(name) = &base.kind
            && !self.locals.contains(name)
            && self.names.kind(name) == Some(SymbolKind::Enum)
        {
            return TokenKind::EnumMember;
        }
        TokenKind::Property
    }
}

/// The mark of a name that a line, a step or a loop binds.
fn bound() -> Mark {
    Mark::from_kind(TokenKind::Parameter).readonly()
}
