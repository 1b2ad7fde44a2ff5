//! `<send>`.

use super::super::convert::{At, call, text_value};
use super::super::document::{Delay, Send};
use super::{Builder, noted, path};
use crate::span::Span;
use crate::syntax::{Action, Expr, ExprKind, Noted};

impl Builder<'_, '_> {
    pub(super) fn send(&mut self, send: &Send, span: Span, at: &At, to: &mut Vec<Noted<Action>>) {
        let arguments = self.arguments(&send.event, send.data.as_ref(), at);
        let after = send.delay.as_ref().map(|delay| self.delay(delay, at));
        let event = path(send.event.names.clone(), send.event.span);
        let action = Action::Send { event, arguments, after, id: send.id.clone() };
        to.push(noted(action, span, &[]));
        if let (Some(place), Some(id)) = (&send.put, &send.id) {
            self.put(place, text_value(&id.node, id.span), span, at, to);
        }
    }

    fn delay(&mut self, delay: &Delay, at: &At) -> Expr {
        match delay {
            Delay::Fixed(millis, span) => Expr { kind: ExprKind::Duration(*millis), span: *span },
            Delay::Computed(written) => {
                let value = self.converter().value(written, at);
                let span = value.expr.span;
                Expr { kind: call("js_duration", vec![value.expr], span), span }
            }
        }
    }
}
