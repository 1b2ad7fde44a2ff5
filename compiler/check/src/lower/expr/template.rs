//! Lowers texts with placeholders.

use super::{Env, expr, inner, is_faulty, may_be_missing};
use crate::lower::context::Cx;
use crate::lower::format;
use chartc_core::model::{Template, TemplatePart, Type};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::rules::{unescaped_brace, unknown_placeholder};
use chartc_text::span::Span;
use chartc_text::syntax::{self, ExprKind};

/// Whether `{options}` may stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Options {
    /// The prompt of an `ask`, or a component.
    Yes,
    /// Any other text.
    No,
}

/// Lowers a text. The spans are parallel to its parts.
pub(in crate::lower) fn template(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Template,
    options: Options,
) -> (Template, Vec<Span>) {
    let mut parts: Vec<TemplatePart> = Vec::new();
    let mut spans: Vec<Span> = Vec::new();
    for part in &written.parts {
        match part {
            syntax::TemplatePart::Text(text, span) => {
                if text.is_empty() {
                    continue;
                }
                if let Some(TemplatePart::Text(before)) = parts.last_mut() {
                    before.push_str(text);
                    if let Some(last) = spans.last_mut() {
                        *last = last.to(*span);
                    }
                    continue;
                }
                parts.push(TemplatePart::Text(text.clone()));
                spans.push(*span);
            }
            syntax::TemplatePart::Hole(hole) => {
                parts.push(placeholder(cx, env, hole, options));
                spans.push(hole.span);
            }
            syntax::TemplatePart::Bad { text, why, span } => {
                cx.report(unescaped_brace::stray(why, *span));
                parts.push(TemplatePart::Bad(text.clone()));
                spans.push(*span);
            }
        }
    }
    (Template { parts }, spans)
}

fn placeholder(
    cx: &mut Cx<'_>,
    env: &mut Env,
    hole: &syntax::Hole,
    options: Options,
) -> TemplatePart {
    if let ExprKind::Name(name) = &hole.expr.kind
        && name == "options"
        && options == Options::Yes
        && !cx.names.variables.contains_key("options")
    {
        if !hole.spec.node.is_empty() {
            cx.report(TYPE_ERROR.at(hole.spec.span, "`{options}` takes no format"));
        }
        return TemplatePart::Options;
    }
    let outer = (env.placeholder, env.offers);
    (env.placeholder, env.offers) = (true, options == Options::Yes);
    let shown = expr(cx, env, &hole.expr, None);
    (env.placeholder, env.offers) = outer;
    if !is_faulty(&shown) {
        if matches!(shown.ty, Type::Optional(_)) {
            let finding = may_be_missing(hole.expr.span);
            cx.report(match (&hole.expr.kind, inner(&shown.ty)) {
                (_, Type::Text) => finding,
                (ExprKind::Name(name), _) => finding.help(format!(
                    "say what to show without it: `{{if {name} != none then str({name}) else \"…\"}}`"
                )),
                _ => finding,
            });
        } else if let Err(why) = format::check(cx, &hole.spec.node, &shown.ty) {
            let message = format!("`{}` cannot show {}", hole.spec.node, cx.a(&shown.ty));
            cx.report(TYPE_ERROR.at(hole.spec.span, message).label(why));
        }
    }
    TemplatePart::Hole { expr: shown, spec: hole.spec.node.clone() }
}

/// Reports `{options}` in a text for steps that have none.
pub(in crate::lower) fn refuse_options(cx: &mut Cx<'_>, text: &Template, spans: &[Span]) {
    for (part, span) in text.parts.iter().zip(spans) {
        if *part == TemplatePart::Options {
            cx.report(unknown_placeholder::options_elsewhere(*span));
        }
    }
}
