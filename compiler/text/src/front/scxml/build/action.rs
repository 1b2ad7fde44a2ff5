//! Builds actions from executable content.

use super::super::convert::{ExprContext, Value, fails, literal, shown, text_value};
use super::super::document::{ActKind, Event, Executable, Payload};
use super::super::script::Expr as Script;
use super::{Builder, comments, noted, path};
use crate::span::{Ident, Span};
use crate::syntax::{Action, Block, Entry, Expr, ExprKind, Noted, Template, TemplatePart};

impl Builder<'_, '_> {
    /// Builds a block of actions.
    pub(super) fn actions(
        &mut self,
        acts: &[Executable],
        at: &mut ExprContext,
        span: Span,
    ) -> Block {
        let mut actions = Vec::new();
        self.acts(acts, at, &mut actions);
        Block { actions, span }
    }

    pub(super) fn acts(
        &mut self,
        acts: &[Executable],
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        for act in acts {
            let first = to.len();
            self.act(act, at, to);
            if let Some(made) = to.get_mut(first) {
                made.trivia.before = comments(&act.before);
            }
        }
    }

    fn act(&mut self, act: &Executable, at: &mut ExprContext, to: &mut Vec<Noted<Action>>) {
        let span = act.span;
        match &act.kind {
            ActKind::Assign(place, value) => self.assign(place, value, span, at, to),
            ActKind::Raise(event, data) => {
                let arguments = self.arguments(event, data.as_ref(), at);
                let path = path(event.names.clone(), event.span);
                to.push(noted(Action::Raise(path, arguments), span, &[]));
            }
            ActKind::Send(send) => self.send(send, span, at, to),
            ActKind::Cancel(id) => to.push(noted(Action::Cancel(id.clone()), span, &[])),
            ActKind::If(branches) => self.branches(branches, span, at, to),
            ActKind::ForEach(each) => self.foreach(each, span, at, to),
            ActKind::Log(label, value) => {
                let value = value.as_ref().map(|value| self.converter().value(value, at));
                to.push(noted(Action::Log(message(label.as_deref(), value, span)), span, &[]));
            }
            ActKind::Script(statements) => self.statements(statements, at, to),
            ActKind::Faulty(why) => to.push(failing(why, span)),
        }
    }

    /// Builds the assignment `place = value`.
    pub(super) fn assign(
        &mut self,
        place: &Script,
        value: &Script,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let value = self.converter().value(value, at);
        self.put(place, value, span, at, to);
    }

    /// Builds an assignment of a translated value.
    pub(super) fn put(
        &mut self,
        place: &Script,
        value: Value,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        match self.converter().assignment(place, value, at) {
            Ok((nth, value)) => {
                let name = Ident::new(self.scope.variables[nth].name.clone(), place.span);
                to.push(noted(Action::Assign(name, value.expr), span, &[]));
            }
            Err(why) => to.push(failing(&why, span)),
        }
    }

    /// The arguments of an event that is raised or sent: its data, if the event has any.
    pub(super) fn arguments(
        &mut self,
        event: &Event,
        data: Option<&Payload>,
        at: &ExprContext,
    ) -> Vec<Expr> {
        match data {
            Some(data) => vec![self.payload(data, at)],
            None if self.scope.has_data(&event.text()) => {
                // Elsewhere the event is sent with data, so it has a field.
                vec![Expr { kind: ExprKind::None, span: event.span }]
            }
            None => Vec::new(),
        }
    }

    /// The data of an event as one value.
    pub(super) fn payload(&mut self, data: &Payload, at: &ExprContext) -> Expr {
        match data {
            Payload::Value(value) => self.converter().value(value, at).expr,
            Payload::Fields(fields, span) => {
                let entry = |(name, value): &(Ident, Script)| Entry {
                    key: text_value(&name.node, name.span).expr,
                    value: self.converter().value(value, at).expr,
                };
                Expr { kind: ExprKind::Map(fields.iter().map(entry).collect()), span: *span }
            }
        }
    }
}

/// The text of a log message: `label: value`.
pub(super) fn message(label: Option<&str>, value: Option<Value>, span: Span) -> Template {
    let value = value.map(shown);
    match (label, value) {
        (None, Some(value)) => value,
        (Some(label), None) => literal(label, span),
        (None, None) => literal("", span),
        (Some(label), Some(mut value)) => {
            let head = format!("{label}: ");
            if let Some(TemplatePart::Text(first, _)) = value.parts.first_mut() {
                first.insert_str(0, &head);
            } else {
                value.parts.insert(0, TemplatePart::Text(head, span));
            }
            value
        }
    }
}

/// An action that always fails, for an element of which SCXML says so.
pub(super) fn failing(why: &str, span: Span) -> Noted<Action> {
    noted(Action::Log(shown(fails(why, span))), span, &[])
}
