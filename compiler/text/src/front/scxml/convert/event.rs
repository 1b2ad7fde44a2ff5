//! Translates reads of `_event`.

use super::{Brings, Converter, ExprContext, Value, call, fails, text_value, value};
use crate::front::scxml::kinds::{Class, Kinds};
use crate::rules::outside_subset;
use crate::span::Span;
use crate::syntax::{Entry, Expr, ExprKind};

/// The help where the data of the event are no longer available.
const KEEP: &str =
    "keep the data in a `<data>`, with `<assign>` in the transition that takes the event";

impl Converter<'_, '_> {
    /// Translates `_event` as a whole: a map of its name and data.
    pub(super) fn event(&mut self, span: Span, at: &ExprContext) -> Value {
        let entry = |key: &str, of: Expr| Entry { key: text_value(key, span).expr, value: of };
        let name = self.event_name(span, at);
        if name.kinds == Kinds::NEVER {
            return name;
        }
        let entries = vec![entry("name", name.expr), entry("data", self.event_data(span, at).expr)];
        value(ExprKind::Map(entries), span, Kinds::MAP, Class::Map)
    }

    fn event_name(&mut self, span: Span, at: &ExprContext) -> Value {
        if let Some(name) = &at.named {
            return text_value(name, span);
        }
        let keep =
            "keep the name in a `<data>`, with `<assign>` in the transition that takes the event";
        match at.brings {
            Brings::Nothing => self.refuse_event(
                span,
                "which event has led here is not known: several may, those that the document raises among them, or none",
                keep,
            ),
            Brings::Eventless => self.refuse_event(
                span,
                "a transition without `event` takes no event: it is asked at every stable point, whatever came last",
                keep,
            ),
            _ if at.inside => self.refuse_event(
                span,
                "what the event is called is known of those from outside, and this may be another one",
                "write a transition for each event, with its name",
            ),
            _ => {
                value(ExprKind::Name("event".to_owned()), span, Kinds::TEXT, Class::Text)
            }
        }
    }

    fn event_data(&mut self, span: Span, at: &ExprContext) -> Value {
        match at.brings {
            Brings::Data => {
                let kind = ExprKind::Name(self.scope.data.clone());
                value(kind, span, Kinds::ANY, Class::Json)
            }
            Brings::Done(nth) => self.variable(nth, span),
            Brings::Answer => {
                let kind = ExprKind::Name(self.scope.data.clone());
                let arguments = vec![Expr { kind, span }, text_value("data", span).expr];
                value(call("js_get", arguments, span), span, Kinds::ANY, Class::Json)
            }
            Brings::NoData => value(ExprKind::None, span, Kinds::NONE, Class::None),
            Brings::Nothing => self.refuse_event(
                span,
                "which event has led here is not known, and its data are not kept: several may, and some have none",
                KEEP,
            ),
            Brings::Eventless => self.refuse_event(
                span,
                "a transition without `event` takes no event: it is asked at every stable point, whatever came last",
                KEEP,
            ),
        }
    }

    fn refuse_event(&mut self, span: Span, why: &str, help: &str) -> Value {
        self.findings.push(outside_subset::at(span, why).help(help));
        fails(why, span)
    }

    /// Translates a property of `_event`.
    pub(super) fn of_event(&mut self, name: &str, span: Span, at: &ExprContext) -> Value {
        match name {
            "name" => self.event_name(span, at),
            "data" => self.event_data(span, at),
            other => self.refuse(span, &format!("`_event.{other}` is not translated")),
        }
    }
}
