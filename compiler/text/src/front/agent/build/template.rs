//! Prompts, with their names resolved.

use super::prepare::Words;
use crate::front::agent::code::{Role, Scope};
use crate::front::agent::format::{Access, Field, FormatPart};
use crate::front::agent::make::{expr, text};
use crate::span::Span;
use crate::syntax::{Expr, ExprKind, Hole, Template, TemplatePart};

/// Builds a prompt; its names are resolved in a scope.
pub(super) fn words(words: &Words, scope: &Scope) -> Template {
    template(&words.parts, words.span, words.block, scope)
}

/// Builds a template from the parts of a text; its names are resolved in a scope.
pub(super) fn template(parts: &[FormatPart], span: Span, block: bool, scope: &Scope) -> Template {
    let parts = parts.iter().map(|p| part(p, scope)).collect();
    Template { parts, span, block }
}

fn part(part: &FormatPart, scope: &Scope) -> TemplatePart {
    match part {
        FormatPart::Text(text, span) => TemplatePart::Text(text.clone(), *span),
        FormatPart::Bad { text, why, span } => {
            TemplatePart::Bad { text: kept(text), why: why.clone(), span: *span }
        }
        FormatPart::Field(field) => {
            let name = &field.name.node;
            if matches!(scope.roles.get(name), Some(Role::Missing)) {
                let spec = &field.spec.node;
                let colon = if spec.is_empty() { "" } else { ":" };
                let why = format!("`{name}` is not in the context");
                return TemplatePart::Bad {
                    text: kept(&format!("{{{name}{colon}{spec}}}")),
                    why,
                    span: field.span,
                };
            }
            let hole =
                Hole { expr: value(field, scope), spec: field.spec.clone(), span: field.span };
            TemplatePart::Hole(Box::new(hole))
        }
    }
}

/// Encloses text that is no placeholder in `{!"…"}`. In a `.chart`, where braces contain expressions, it could be one. A converted chart
/// gets the same finding.
fn kept(written: &str) -> String {
    let mut out = String::from("{!\"");
    for c in written.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push_str("\"}");
    out
}

fn value(field: &Field, scope: &Scope) -> Expr {
    let mut value = scope.expr(&field.name.node, field.name.span);
    for access in &field.path {
        let (kind, end) = match access {
            Access::Attribute(name) => (ExprKind::Field(Box::new(value), name.clone()), name.span),
            Access::Key(key) => {
                let index = text(key.node.clone(), key.span);
                (ExprKind::Index(Box::new(value), Box::new(index)), key.span)
            }
            Access::Index(i, span) => {
                let index = expr(ExprKind::Int(*i), *span);
                (ExprKind::Index(Box::new(value), Box::new(index)), *span)
            }
        };
        value = expr(kind, field.name.span.to(end));
    }
    value
}
