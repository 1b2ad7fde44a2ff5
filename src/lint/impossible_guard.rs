//! Conditions that no values fulfil.

use super::{Context, Lint, words};
use crate::analysis::guard::{Verdict, decide};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation::expression;
use crate::span::Span;
use chartc_core::model::Expr;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

static RULE: Rule = Rule {
    code: "C0308",
    name: "impossible-guard",
    severity: Severity::Warning,
    page: include_str!("impossible_guard.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let lines = chart.transitions.iter().zip(&map.lines);
    for (line, spans) in lines {
        check(
            context,
            line.guard.as_ref(),
            spans.guard.unwrap_or(spans.trigger),
            "line is never taken",
            diagnostics,
        );
    }
    for (step, spans) in chart.steps.iter().zip(&map.steps) {
        check(
            context,
            step.guard.as_ref(),
            spans.guard.unwrap_or(spans.name),
            "step never runs",
            diagnostics,
        );
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        check(context, permission.guard.as_ref(), *span, "permission is never given", diagnostics);
    }
}

fn check(
    context: &Context<'_>,
    guard: Option<&Expr>,
    span: Span,
    so: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(guard) = guard else { return };
    if decide(context.chart, &[(guard, true)]) == Verdict::Never {
        let text = words::short(&expression(context.chart, guard));
        let found = RULE.at(span, format!("`{text}` can never hold, so this {so}"));
        diagnostics.push(found.help("correct the condition, or remove what depends on it"));
    }
}
