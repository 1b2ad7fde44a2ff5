//! Builds branches, loops and scripts.

use super::super::convert::{ExprContext, Value, call};
use super::super::document::{Executable, ForEach};
use super::super::infer::items;
use super::super::kinds::{Class, Kinds};
use super::super::script::{Expr as Script, Statement, StatementKind};
use super::action::{failing, message};
use super::{Builder, noted};
use crate::span::{Ident, Span};
use crate::syntax::{Action, BinaryOp, Expr, ExprKind, Noted};

impl Builder<'_, '_> {
    pub(super) fn branches(
        &mut self,
        branches: &[(Option<Script>, Vec<Executable>)],
        span: Span,
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let mut otherwise = Vec::new();
        // From the last branch to the first: each one becomes the `else` of the one before it.
        for (test, body) in branches.iter().rev() {
            let mut made = Vec::new();
            self.acts(body, at, &mut made);
            otherwise = match test {
                None => made,
                Some(test) => {
                    let test = self.converter().condition(test, at);
                    vec![noted(Action::If(test, made, otherwise), span, &[])]
                }
            };
        }
        to.append(&mut otherwise);
    }

    /// Builds `<foreach>`. Its item and index are variables that keep their values after the loop.
    pub(super) fn foreach(
        &mut self,
        each: &ForEach,
        span: Span,
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let source = listed(self.converter().value(&each.array, at));
        let local = Ident::new(self.scope.free("each"), each.item.span);
        let named = |name: &str, span: Span| Expr { kind: ExprKind::Name(name.to_owned()), span };
        let mut body = Vec::new();
        if let Some(item) = self.named(&each.item) {
            let value = named(&local.node, item.span);
            body.push(noted(Action::Assign(item, value), each.item.span, &[]));
        }
        if let Some((index, place)) =
            each.index.as_ref().and_then(|i| Some((self.named(i)?, i.span)))
        {
            // The index cannot count by itself: the body may assign to it.
            let counter = self.scope.hidden("place", place, Kinds::INT);
            let counter = self.scope.variables[counter].name.clone();
            let set = |name: &str, value: ExprKind| {
                let value = Expr { kind: value, span: place };
                noted(Action::Assign(Ident::new(name.to_owned(), place), value), place, &[])
            };
            let next = ExprKind::Binary(
                BinaryOp::Add,
                Box::new(named(&counter, place)),
                Box::new(Expr { kind: ExprKind::Int(1), span: place }),
            );
            to.push(set(&counter, ExprKind::Int(0)));
            body.push(set(&index.node, ExprKind::Name(counter.clone())));
            body.push(set(&counter, next));
        }
        self.acts(&each.body, at, &mut body);
        to.push(noted(Action::For(local, source, body), span, &[]));
    }

    /// The name of a variable in the chart.
    fn named(&self, name: &Ident) -> Option<Ident> {
        let nth = self.scope.variable(&name.node)?;
        Some(Ident::new(self.scope.variables[nth].name.clone(), name.span))
    }

    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        for statement in statements {
            let span = statement.span;
            match &statement.kind {
                StatementKind::Assign(place, value) => self.assign(place, value, span, at, to),
                StatementKind::Declare(_, None) => {}
                StatementKind::Declare(name, Some(value)) => {
                    let value = self.converter().value(value, at).expr;
                    if let Some(name) = self.named(name) {
                        to.push(noted(Action::Assign(name, value), span, &[]));
                    }
                }
                StatementKind::Push(list, item) => {
                    let mut old = self.converter().value(list, at);
                    let item = self.converter().value(item, at).expr;
                    let item = Expr { kind: ExprKind::List(vec![item]), span };
                    let both = ExprKind::Binary(BinaryOp::Add, Box::new(old.expr), Box::new(item));
                    old.expr = Expr { kind: both, span };
                    self.put(list, old, span, at, to);
                }
                StatementKind::If(test, then, other) => {
                    let test = self.converter().condition(test, at);
                    let (mut yes, mut no) = (Vec::new(), Vec::new());
                    self.statements(then, at, &mut yes);
                    self.statements(other, at, &mut no);
                    to.push(noted(Action::If(test, yes, no), span, &[]));
                }
                StatementKind::ForOf(name, source, body) => {
                    let source = self.converter().value(source, at);
                    let (kinds, mut made) = (items(&source), Vec::new());
                    at.locals.push((name.node.clone(), name.node.clone(), kinds));
                    self.statements(body, at, &mut made);
                    at.locals.pop();
                    to.push(noted(Action::For(name.clone(), listed(source), made), span, &[]));
                }
                StatementKind::Log(all) => {
                    for value in all {
                        let value = self.converter().value(value, at);
                        to.push(noted(Action::Log(message(None, Some(value), span)), span, &[]));
                    }
                }
                StatementKind::Faulty(why) => to.push(failing(why, span)),
            }
        }
    }
}

/// The list over which a loop runs. Fails at run time if the value is not a list.
fn listed(of: Value) -> Expr {
    if of.class == Class::List || of.kinds.is_list() {
        return of.expr;
    }
    let span = of.expr.span;
    Expr { kind: call("js_list", vec![of.expr], span), span }
}
