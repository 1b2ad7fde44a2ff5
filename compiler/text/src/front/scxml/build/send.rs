//! Builds `send` actions.

use super::super::convert::{ExprContext, call, text_value};
use super::super::document::{Delay, Send, To};
use super::{Builder, noted, path};
use crate::diagnostic::nearest;
use crate::rules::outside_subset;
use crate::span::{Ident, Span};
use crate::syntax::{Action, Expr, ExprKind, Noted};

impl Builder<'_, '_> {
    pub(super) fn send(
        &mut self,
        send: &Send,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let arguments = self.arguments(&send.event, send.data.as_ref(), at);
        let after = send.delay.as_ref().map(|delay| self.delay(delay, at));
        let event = path(send.event.names.clone(), send.event.span);
        let Some(to_whom) = self.receiver(&send.to) else { return };
        let action = Action::Send {
            event,
            arguments,
            to: to_whom.map(|to| Box::new((to, None))),
            after,
            id: send.id.clone(),
        };
        to.push(noted(action, span, &[]));
        if let (Some(place), Some(id)) = (&send.put, &send.id) {
            self.put(place, text_value(&id.node, id.span), span, at, to);
        }
    }

    /// The receiver in the chart's notation. `Some(None)` is the chart itself; `None` is an unknown receiver, which is reported.
    fn receiver(&mut self, to: &To) -> Option<Option<Ident>> {
        match to {
            To::Own => Some(None),
            To::Parent(span) => Some(Some(Ident::new("parent".to_owned(), *span))),
            To::Invoked(id) => {
                let invokes = &self.document.invokes;
                let Some(nth) = invokes.iter().position(|i| i.id.node == id.node) else {
                    let known = invokes.iter().map(|i| i.id.node.as_str());
                    let message =
                        format!("no `<invoke>` of this document has the id `{}`", id.node);
                    let mut finding = outside_subset::at(id.span, message);
                    finding.help =
                        nearest(&id.node, known).map(|near| format!("did you mean `#_{near}`?"));
                    self.findings.push(finding);
                    return None;
                };
                Some(Some(Ident::new(self.scope.steps[nth].clone(), id.span)))
            }
        }
    }

    fn delay(&mut self, delay: &Delay, at: &ExprContext) -> Expr {
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
