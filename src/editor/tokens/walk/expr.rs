//! Marks names in expressions, texts and actions.

use super::{TokenWalk, used};
use crate::editor::outline::SymbolKind;
use crate::editor::tokens::TokenKind;
use crate::editor::tokens::marks::Mark;
use chartc_text::span::Ident;
use chartc_text::syntax::{Action, Block, Expr, ExprKind, Noted, Template, TemplatePart};

impl TokenWalk<'_> {
    pub(super) fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) {
        for one in all {
            self.expr(one);
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_) => {}
            ExprKind::Text(template) => self.template(template),
            ExprKind::Name(name) => {
                let local = self.locals.iter().any(|known| known == name);
                let mark = if local { bound() } else { self.names.value(name) };
                self.sink.name(name, expr.span, mark);
            }
            ExprKind::Field(base, field) => {
                self.expr(base);
                self.sink.ident(field, Mark::from_kind(self.field(base)));
            }
            ExprKind::Index(base, index) => self.exprs([base.as_ref(), index]),
            ExprKind::Slice(base, from, to) => {
                self.expr(base);
                self.exprs(from.iter().chain(to).map(AsRef::as_ref));
            }
            ExprKind::Call(name, arguments) => {
                let kind = self.names.kind(&name.node).map(used);
                self.sink.ident(name, kind.unwrap_or(Mark::from_kind(TokenKind::Function)));
                for argument in arguments {
                    match name.node.as_str() {
                        "in" | "turns_in" => self.dotted(argument, TokenKind::State),
                        "streak" | "repeated" => self.dotted(argument, TokenKind::Tool),
                        _ => self.expr(argument),
                    }
                }
            }
            ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => self.exprs([a.as_ref(), b]),
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                self.exprs(rest.iter().map(|(_, one)| one));
            }
            ExprKind::If(a, b, c) => self.exprs([a.as_ref(), b, c]),
            ExprKind::List(items) => self.exprs(items),
            ExprKind::Map(entries) => {
                self.exprs(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
            ExprKind::Record(name, fields) => {
                self.sink.ident(name, Mark::from_kind(TokenKind::Type));
                for (field, value) in fields {
                    self.sink.ident(field, Mark::from_kind(TokenKind::Property));
                    self.expr(value);
                }
            }
            ExprKind::Comprehension { item, name, source, filter } => {
                self.expr(source);
                self.sink.ident(name, declared());
                self.within(std::slice::from_ref(name), |walk| {
                    walk.expr(item);
                    walk.exprs(filter.as_deref());
                });
            }
        }
    }

    /// Marks a dotted name, which the parser reads as fields of a name.
    fn dotted(&mut self, expr: &Expr, kind: TokenKind) {
        if let ExprKind::Name(name) = &expr.kind {
            self.sink.name(name, expr.span, Mark::from_kind(kind));
        } else if let ExprKind::Field(base, field) = &expr.kind {
            self.dotted(base, kind);
            self.sink.ident(field, Mark::from_kind(kind));
        } else {
            self.expr(expr);
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

    pub(super) fn template(&mut self, template: &Template) {
        for part in &template.parts {
            match part {
                TemplatePart::Hole(hole) => {
                    self.sink.hole(hole.span, hole.spec.span);
                    self.expr(&hole.expr);
                }
                TemplatePart::Text(..) | TemplatePart::Bad { .. } => {}
            }
        }
    }

    /// Calls `work` while `names` are bound.
    pub(super) fn within(&mut self, names: &[Ident], work: impl FnOnce(&mut Self)) {
        let depth = self.locals.len();
        self.locals.extend(names.iter().map(|name| name.node.clone()));
        work(self);
        self.locals.truncate(depth);
    }

    pub(super) fn block(&mut self, block: Option<&Block>) {
        if let Some(block) = block {
            self.actions(&block.actions);
        }
    }

    pub(super) fn actions(&mut self, actions: &[Noted<Action>]) {
        for noted in actions {
            match &noted.node {
                Action::Assign(name, value) => {
                    let mark = self.names.value(&name.node);
                    self.sink.ident(name, mark);
                    self.expr(value);
                }
                Action::If(guard, then, otherwise) => {
                    self.expr(guard);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(name, list, inner) => {
                    self.expr(list);
                    self.sink.ident(name, declared());
                    self.within(std::slice::from_ref(name), |walk| walk.actions(inner));
                }
                Action::Do(name, arguments) => {
                    self.sink.ident(name, Mark::from_kind(TokenKind::Function));
                    self.exprs(arguments);
                }
                Action::Raise(event, arguments) => {
                    self.path(event, TokenKind::Event);
                    self.exprs(arguments);
                }
                Action::Send { event, arguments, to, after, id } => {
                    self.path(event, TokenKind::Event);
                    self.exprs(arguments);
                    if let Some((step, index)) = to.as_deref() {
                        self.sink.ident(step, Mark::from_kind(TokenKind::Step));
                        self.exprs(index);
                    }
                    self.exprs(after);
                    if let Some(id) = id {
                        self.sink.ident(id, Mark::from_kind(TokenKind::Property));
                    }
                }
                Action::Cancel(id) => self.sink.ident(id, Mark::from_kind(TokenKind::Property)),
                Action::Log(text) => self.template(text),
            }
        }
    }
}

/// The mark of a name that a line, a step or a loop binds.
pub(super) fn bound() -> Mark {
    Mark::from_kind(TokenKind::Parameter).readonly()
}

/// The mark of such a name where it is bound.
pub(super) fn declared() -> Mark {
    Mark::declared(TokenKind::Parameter).readonly()
}
