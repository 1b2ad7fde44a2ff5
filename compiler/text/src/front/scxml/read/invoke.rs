//! Reads an `<invoke>` of an inline document.

use super::content::is_place;
use super::send::{PROCESSORS, named};
use super::{Comments, Reader, ident, parts_of};
use crate::front::scxml::document::{ActKind, Block, Executable, Invoke, Payload};
use crate::front::scxml::script::{Expr, ScriptExprKind};
use crate::front::scxml::xml::Element;
use crate::rules::{faulty_expression, outside_subset};
use crate::span::{Ident, Span, Spanned};
use chartc_core::family::DEPTH;

/// The maximum number of documents in a file.
const MOST: usize = 1000;

impl Reader<'_> {
    /// Reads and records an invocation. Returns the block that stores its id in `idlocation`.
    pub(super) fn invoke(
        &mut self,
        element: &Element,
        before: Comments,
        state: usize,
    ) -> Option<Block> {
        self.refuse_kind(element);
        let content = element.elements().find(|e| e.name.node == "content");
        let Some(content) = content else {
            if element.attribute("src").or_else(|| element.attribute("srcexpr")).is_none() {
                self.refuse_with(
                    element.name.span,
                    "nothing is invoked here",
                    "write the document into a `<content>`",
                );
            }
            return None;
        };
        if let Some(expr) = content.attribute("expr") {
            self.refuse_with(
                expr.span,
                "a document that is computed is not translated: charts are checked before they run",
                "write the document into the `<content>`",
            );
            return None;
        }
        let (inner, comments) = parts_of(content);
        let Some((root, above)) = inner.into_iter().find(|(e, _)| e.name.node == "scxml") else {
            self.refuse_with(
                content.name.span,
                "there is no SCXML document in this `<content>`",
                "write `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">` into it",
            );
            return None;
        };
        if self.inside >= DEPTH {
            let message = format!("documents that invoke each other nest at most {DEPTH} deep");
            self.findings.push(outside_subset::at(root.name.span, message));
            return None;
        }
        if self.charts.len() >= MOST {
            // Inserts the empty name, which no chart has, so that this is reported once.
            if self.charts.insert(String::new()) {
                let message = format!("more than {MOST} documents in one file");
                self.findings.push(outside_subset::at(root.name.span, message));
            }
            return None;
        }
        let id = match element.attribute("id") {
            Some(text) if !text.value.trim().is_empty() => ident(text),
            _ => Ident::new(self.fresh("invoke"), element.name.span),
        };
        let given = match self.data_of(element, element.attribute("namelist"), false) {
            Some(Payload::Fields(fields, _)) => fields,
            Some(Payload::Value(_)) | None => Vec::new(),
        };
        let (source, inside) = (self.source, self.inside + 1);
        let reader = Reader::new(source, self.nearby, self.findings, self.charts, inside);
        let mut child = reader.read(root, id.node.clone());
        (child.before, child.after) = (above, comments);
        let forward = element.attribute("autoforward").filter(|t| t.value.trim() == "true");
        let forward = forward.map(|text| text.span);
        let place = self.expr_of(element, "idlocation");
        let (put, fault) = place.clone().map_or((None, None), |place| self.put_id(place, &id));
        let span = element.span;
        self.invokes.push(Invoke { state, id, child, given, forward, place, fault, span, before });
        put
    }

    /// Refuses kinds of `<invoke>` that are not translated.
    fn refuse_kind(&mut self, element: &Element) {
        if element.attribute("typeexpr").is_some() && named(element, "type").is_none() {
            let span = element.attribute("typeexpr").map_or(element.name.span, |t| t.span);
            self.refuse(span, "a type that is computed is not translated");
        }
        if let Some(kind) = named(element, "type")
            && !PROCESSORS.contains(&kind.node.as_str())
        {
            self.refuse_with(
                kind.span,
                &format!("what is invoked as `{}` is not known", kind.node),
                "SCXML documents are, with `type=\"scxml\"` and the document in `<content>`",
            );
        }
        for name in ["src", "srcexpr"] {
            if let Some(text) = element.attribute(name) {
                self.refuse_with(
                    text.span,
                    "a document of another file is not invoked: nothing is loaded but what is named when the chart is compiled",
                    "write the document into a `<content>` here",
                );
            }
        }
        if let Some(finalize) = element.elements().find(|e| e.name.node == "finalize") {
            self.refuse_with(
                finalize.name.span,
                "`<finalize>` is not translated: it would change data before it is known which transition is taken, if any",
                "write its content into the transitions that take the events of this `<invoke>`",
            );
        }
    }

    fn refuse_with(&mut self, span: Span, why: &str, help: &str) {
        self.findings.push(outside_subset::at(span, why).help(help));
    }

    /// The block that stores the id in `idlocation`, or the reason why that is impossible, which is reported.
    fn put_id(&mut self, place: Expr, id: &Ident) -> (Option<Block>, Option<Spanned<String>>) {
        let span = place.span;
        if !is_place(&place) {
            let why = "this cannot be assigned to".to_owned();
            self.findings.push(faulty_expression::at(span, why.clone()));
            return (None, Some(Spanned::new(why, span)));
        }
        let kind = ActKind::Assign(place, Expr::new(ScriptExprKind::Text(id.node.clone()), span));
        let body = vec![Executable { kind, span, before: Vec::new() }];
        (Some(Block { body, span, before: Vec::new() }), None)
    }

    /// The name of a document's chart: `traffic-light` becomes `TrafficLight`, and the next one of this name `TrafficLight2`.
    pub(super) fn chart_name(&mut self, name: &str) -> String {
        let wanted = camel(name);
        let mut found = wanted.clone();
        let mut nth = 1;
        while !self.charts.insert(found.clone()) {
            nth += 1;
            found = format!("{wanted}{nth}");
        }
        found
    }
}

/// Converts `traffic-light` to `TrafficLight`.
fn camel(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut made = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        made.push_str(&first.to_ascii_uppercase());
        made.push_str(rest);
    }
    if made.starts_with(|c: char| c.is_ascii_alphabetic()) { made } else { format!("Chart{made}") }
}
