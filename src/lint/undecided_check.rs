//! `check` lines that are not decided.

use super::{Context, Lint, check_failed::decides};
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

static RULE: Rule = Rule {
    code: "C0391",
    name: "undecided-check",
    severity: Severity::Note,
    page: include_str!("undecided_check.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (check, span) in context.chart.checks.iter().zip(&context.map.checks) {
        if !decides(&check.name) {
            diagnostics.push(
                RULE.at(*span, format!("`{}` is not decided yet: it may hold or not", check.name)),
            );
        }
    }
}
