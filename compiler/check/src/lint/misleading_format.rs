//! Format specs that look like a number of decimals but count significant digits.

use super::{Context, Lint};
use crate::notation::expression;
use chartc_core::model::{Chart, Template, TemplatePart, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::MISLEADING_FORMAT;
use chartc_text::span::Span;

pub(super) static LINT: Lint = Lint { rule: &MISLEADING_FORMAT, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (step, spans) in chart.steps.iter().zip(&map.steps) {
        let at = spans.prompt.unwrap_or(spans.name);
        step.prompt.iter().for_each(|t| look(chart, t, &spans.prompt_parts, at, diagnostics));
    }
    for (i, component) in chart.components.iter().enumerate() {
        look(chart, &component.text, &map.component_parts[i], map.components[i], diagnostics);
    }
}

/// Checks the placeholders of a text; `parts` are their spans, `whole` is the span of the text.
fn look(
    chart: &Chart,
    text: &Template,
    parts: &[Span],
    whole: Span,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (i, part) in text.parts.iter().enumerate() {
        let TemplatePart::Hole { expr, spec } = part else { continue };
        if expr.ty != Type::Float || !(spec.ends_with(".0") || spec.ends_with(".1")) {
            continue;
        }
        let shown = if spec.ends_with('0') { "1e+02" } else { "1e+03" };
        let number = if spec.ends_with('0') { "123.4" } else { "1234.5" };
        let message = format!("`{spec}` counts significant digits: {number} is shown as `{shown}`");
        let name = expression(chart, expr);
        diagnostics.push(
            MISLEADING_FORMAT
                .at(parts.get(i).copied().unwrap_or(whole), message)
                .help(format!("for digits after the decimal point, write `{{{name}:{spec}f}}`")),
        );
    }
}
