//! Reads `<send>`, `<cancel>`, and the data of events.

use super::content::is_place;
use super::{Reader, ident, names};
use crate::front::scxml::document::{ActKind, Delay, Payload, Send, To};
use crate::front::scxml::script::{self, Expr, ScriptExprKind};
use crate::front::scxml::text::Text;
use crate::front::scxml::xml::Element;
use crate::rules::{faulty_expression, outside_subset};
use crate::span::{Ident, Span};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The permitted values of `type`: names of the SCXML event processor.
pub(super) const PROCESSORS: [&str; 4] = [
    "scxml",
    "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
    "http://www.w3.org/TR/scxml",
    "http://www.w3.org/TR/scxml/",
];

impl Reader<'_> {
    pub(super) fn send(&mut self, element: &Element) -> Option<ActKind> {
        for name in ["targetexpr", "typeexpr"] {
            let Some(text) = element.attribute(name) else { continue };
            let wanted = &name[..name.len() - "expr".len()];
            match literal(text) {
                Some(_) => {}
                None => self
                    .refuse(text.span, format!("a `{wanted}` that is computed is not translated")),
            }
        }
        if let Some(processor) = named(element, "type")
            && !PROCESSORS.contains(&processor.node.as_str())
        {
            self.refuse(processor.span, format!("the processor `{}` is not known", processor.node));
            return None;
        }
        let (mut internal, mut to) = (false, To::Own);
        if let Some(target) = named(element, "target") {
            let invoked = target.node.strip_prefix("#_").filter(|id| !id.starts_with("scxml_"));
            match invoked {
                Some("internal") => internal = true,
                Some("parent") => to = To::Parent(target.span),
                Some(id) if !id.is_empty() => {
                    to = To::Invoked(Ident::new(id.to_owned(), target.span));
                }
                _ => {
                    let message = format!("the target `{}` is not known", target.node);
                    self.findings.push(outside_subset::at(target.span, message).help(
                        "events go to the session itself, without `target` or to `#_internal`, to `#_parent`, \
                         and to `#_` with the id of an `<invoke>`",
                    ));
                    return None;
                }
            }
        }
        let Some(name) = self.event_of(element) else {
            if element.attribute("event").is_none() && element.attribute("eventexpr").is_none() {
                self.refuse(element.name.span, "a `<send>` without `event` is not translated");
            }
            return None;
        };
        let event = self.event_name(&name.node, name.span)?;
        let data = self.data_of(element, element.attribute("namelist"), true);
        let put = self.expr_of(element, "idlocation");
        let delay = self.delay(element);
        if internal && delay.is_none() && element.attribute("id").is_none() && put.is_none() {
            return Some(ActKind::Raise(event, data));
        }
        if internal {
            self.refuse(element.name.span, "an internal event is neither delayed nor canceled");
        }
        let mut id = element.attribute("id").map(ident);
        if let Some(place) = &put {
            if !is_place(place) {
                let why = "this cannot be assigned to".to_owned();
                self.findings.push(faulty_expression::at(place.span, why.clone()));
                return Some(ActKind::Faulty(why));
            }
            id = id.or_else(|| Some(Ident::new(self.fresh("send"), place.span)));
        }
        Some(ActKind::Send(Box::new(Send { event, data, delay, id, put, to })))
    }

    /// Reads the name of the event; reports a computed one.
    fn event_of(&mut self, element: &Element) -> Option<Ident> {
        let found = named(element, "event");
        if found.is_none()
            && let Some(text) = element.attribute("eventexpr")
        {
            self.refuse(text.span, "the name of an event that is computed is not translated");
        }
        found
    }

    fn delay(&mut self, element: &Element) -> Option<Delay> {
        if let Some(text) = element.attribute("delay") {
            return self.fixed(&text.value, text.trimmed());
        }
        let text = element.attribute("delayexpr")?;
        if let Some(value) = literal(text) {
            return self.fixed(&value, text.trimmed());
        }
        Some(Delay::Computed(self.expr(text)))
    }

    fn fixed(&mut self, written: &str, span: Span) -> Option<Delay> {
        match millis(written.trim()) {
            Some(0) => None,
            Some(millis) => Some(Delay::Fixed(millis, span)),
            None => {
                let why = format!("`{}` is no duration", written.trim());
                self.findings
                    .push(faulty_expression::at(span, why.clone()).help("write `10ms` or `1.5s`"));
                Some(Delay::Computed(Expr::new(ScriptExprKind::Faulty(why), span)))
            }
        }
    }

    pub(super) fn cancel(&mut self, element: &Element) -> Option<ActKind> {
        if let Some(id) = element.attribute("sendid").map(ident) {
            return Some(ActKind::Cancel(id));
        }
        let Some(text) = element.attribute("sendidexpr") else {
            self.required(element, "sendid");
            return None;
        };
        match literal(text) {
            Some(id) => Some(ActKind::Cancel(Ident::new(id, text.trimmed()))),
            None => {
                self.refuse(text.span, "an id that is computed is not translated");
                None
            }
        }
    }

    /// Reads the data of an event: `<param>`, the variables of a `namelist`, and `<content>` if it is data.
    pub(super) fn data_of(
        &mut self,
        element: &Element,
        namelist: Option<&Text>,
        content: bool,
    ) -> Option<Payload> {
        let mut fields: Vec<(Ident, Expr)> = Vec::new();
        let mut known = BTreeMap::new();
        for name in names(namelist) {
            if let Entry::Vacant(free) = known.entry(name.node.clone()) {
                free.insert(fields.len());
                let value = Expr::new(ScriptExprKind::Name(name.node.clone()), name.span);
                fields.push((name, value));
            }
        }
        for child in element.elements() {
            match child.name.node.as_str() {
                "content" if content => return Some(Payload::Value(self.content(child))),
                "param" => {
                    let Some(name) = self.required(child, "name").map(ident) else { continue };
                    let value = child.attribute("expr").or_else(|| child.attribute("location"));
                    let value = match value {
                        Some(text) => self.expr(text),
                        None => Expr::new(ScriptExprKind::None, child.span),
                    };
                    match known.entry(name.node.clone()) {
                        Entry::Vacant(free) => {
                            free.insert(fields.len());
                            fields.push((name, value));
                        }
                        // A later `<param>` of the same name replaces the value.
                        Entry::Occupied(place) => fields[*place.get()].1 = value,
                    }
                }
                _ => {}
            }
        }
        let none = fields.is_empty();
        (!none).then_some(Payload::Fields(fields, element.span))
    }

    fn content(&mut self, element: &Element) -> Expr {
        match self.expr_of(element, "expr") {
            Some(value) => value,
            None => self.written(element),
        }
    }
}

/// The value of `name`, or of `nameexpr` if that is a literal.
pub(super) fn named(element: &Element, name: &str) -> Option<Ident> {
    if let Some(text) = element.attribute(name) {
        return Some(ident(text));
    }
    let text = element.attribute(&format!("{name}expr"))?;
    literal(text).map(|value| Ident::new(value, text.trimmed()))
}

/// The value of an expression, if it is a text literal.
fn literal(text: &Text) -> Option<String> {
    let found = script::expression(text).ok()?;
    if let ScriptExprKind::Text(value) = found.kind { Some(value) } else { None }
}

/// Reads a delay such as `10ms`, `1.5s`, `2m`, `1h` or `1d`, in milliseconds; `None` if it is not one.
fn millis(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let unit: f64 = match unit {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    if number.is_empty() || number.starts_with(['+', '-']) {
        return None;
    }
    let millis = (number.parse::<f64>().ok()? * unit).round();
    (0.0..9e15).contains(&millis).then_some(millis as u64)
}
