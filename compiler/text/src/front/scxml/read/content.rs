//! Reads executable content.

use super::{Reader, ident, parts_of};
use crate::front::scxml::document::{ActKind, Executable, ForEach};
use crate::front::scxml::script::{self, Expr, ScriptExprKind};
use crate::front::scxml::xml::Element;
use crate::rules::ILLEGAL_STRUCTURE;
use crate::rules::faulty_expression;
use crate::span::Spanned;

/// An element with the comments before it.
type CommentedElement<'e> = (&'e Element, Vec<Spanned<String>>);

/// The maximum depth to which executable content may nest.
const DEEPEST: usize = 40;

/// The maximum number of branches of an `<if>`.
const MOST_BRANCHES: usize = 60;

impl Reader<'_> {
    /// Reads a block of executable content.
    pub(super) fn acts(&mut self, parts: &[CommentedElement<'_>]) -> Vec<Executable> {
        let mut found = Vec::new();
        for (element, before) in parts {
            if let Some(kind) = self.act(element) {
                found.push(Executable { kind, span: element.span, before: before.clone() });
            }
        }
        found
    }

    fn act(&mut self, element: &Element) -> Option<ActKind> {
        if self.depth >= DEEPEST {
            let message = format!("executable content nests more than {DEEPEST} deep");
            self.findings.push(ILLEGAL_STRUCTURE.at(element.name.span, message));
            return None;
        }
        self.depth += 1;
        let made = self.act_of(element);
        self.depth -= 1;
        made
    }

    fn act_of(&mut self, element: &Element) -> Option<ActKind> {
        match element.name.node.as_str() {
            "assign" => self.assign(element),
            "raise" => {
                let name = self.required(element, "event").map(ident)?;
                let event = self.event_name(&name.node, name.span)?;
                Some(ActKind::Raise(event, None))
            }
            "send" => self.send(element),
            "cancel" => self.cancel(element),
            "if" => Some(self.branches(element)),
            "foreach" => self.foreach(element),
            "log" => {
                let label = element.attribute("label").map(|text| text.value.clone());
                Some(ActKind::Log(label, self.expr_of(element, "expr")))
            }
            "script" => Some(ActKind::Script(self.script(element))),
            "elseif" | "else" => {
                let message = format!("`<{}>` is not inside an `<if>`", element.name.node);
                self.findings.push(ILLEGAL_STRUCTURE.at(element.name.span, message));
                None
            }
            _ => None,
        }
    }

    fn assign(&mut self, element: &Element) -> Option<ActKind> {
        let place = self.required(element, "location").cloned()?;
        let location = self.expr(&place);
        let value = match self.expr_of(element, "expr") {
            Some(value) => value,
            None if element.has_text() => self.written(element),
            None => Expr::new(ScriptExprKind::None, element.span),
        };
        if !is_place(&location) {
            let why = format!("`{}` cannot be assigned to", place.value.trim());
            self.findings.push(faulty_expression::at(place.trimmed(), why.clone()));
            return Some(ActKind::Faulty(why));
        }
        Some(ActKind::Assign(location, value))
    }

    fn branches(&mut self, element: &Element) -> ActKind {
        let cond = self.required(element, "cond").cloned();
        let first = cond.map(|text| self.expr(&text));
        let (parts, _) = parts_of(element);
        let mut branches: Vec<(Option<Expr>, Vec<CommentedElement<'_>>)> = vec![(
            Some(first.unwrap_or_else(|| Expr::new(ScriptExprKind::Bool(false), element.span))),
            Vec::new(),
        )];
        let mut over = false;
        for (part, before) in parts {
            let test = match part.name.node.as_str() {
                "elseif" => {
                    let cond = self.required(part, "cond").cloned();
                    cond.map(|text| Some(self.expr(&text)))
                }
                "else" => Some(None),
                _ => {
                    if let Some((_, body)) = branches.last_mut() {
                        body.push((part, before));
                    }
                    continue;
                }
            };
            if over || branches.len() > MOST_BRANCHES {
                let message = if over {
                    "nothing may follow `<else/>`".to_owned()
                } else {
                    format!("an `<if>` with more than {MOST_BRANCHES} branches")
                };
                self.findings.push(ILLEGAL_STRUCTURE.at(part.name.span, message));
                break;
            }
            let Some(test) = test else { continue };
            over = test.is_none();
            branches.push((test, Vec::new()));
        }
        let branches = branches.into_iter().map(|(test, body)| (test, self.acts(&body)));
        ActKind::If(branches.collect())
    }

    fn foreach(&mut self, element: &Element) -> Option<ActKind> {
        let array = self.required(element, "array").cloned();
        let item = self.required(element, "item").cloned();
        let array = self.expr(&array?);
        let item = ident(&item?);
        let index = element.attribute("index").map(ident);
        let (parts, _) = parts_of(element);
        let body = self.acts(&parts);
        for name in std::iter::once(&item).chain(&index) {
            if !script::is_variable(&name.node) {
                let why = format!("`{}` is no name of a variable", name.node);
                self.findings.push(faulty_expression::at(name.span, why.clone()));
                return Some(ActKind::Faulty(why));
            }
        }
        Some(ActKind::ForEach(Box::new(ForEach { array, item, index, body })))
    }

    /// The text content of an element: parsed as a literal if it is one, else the text with single blanks.
    pub(super) fn written(&mut self, element: &Element) -> Expr {
        let text = element.text(self.source);
        if element.elements().next().is_some() {
            self.refuse(element.span, "XML as data is not translated");
            return Expr::new(ScriptExprKind::None, element.span);
        }
        match script::expression(&text) {
            Ok(found) if is_literal(&found) => found,
            _ => {
                let words: Vec<&str> = text.value.split_whitespace().collect();
                Expr::new(ScriptExprKind::Text(words.join(" ")), text.trimmed())
            }
        }
    }
}

/// Whether an expression is a location: a variable, or a part of one.
pub(super) fn is_place(expr: &Expr) -> bool {
    if let ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) = &expr.kind {
        return is_place(of);
    }
    matches!(expr.kind, ScriptExprKind::Name(_))
}

/// Whether an expression is a literal, with the same value everywhere.
fn is_literal(expr: &Expr) -> bool {
    if let ScriptExprKind::Array(items) = &expr.kind {
        return items.iter().all(is_literal);
    }
    if let ScriptExprKind::Object(entries) = &expr.kind {
        return entries.iter().all(|(_, value)| is_literal(value));
    }
    matches!(
        expr.kind,
        ScriptExprKind::None
            | ScriptExprKind::Bool(_)
            | ScriptExprKind::Int(_)
            | ScriptExprKind::Float(_)
            | ScriptExprKind::Text(_)
    )
}
