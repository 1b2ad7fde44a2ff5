//! Lines that count and ask for no bound.

use super::backward_count::guard;
use super::{Context, words};
use crate::analysis::miscount::Miscount;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use chartc_core::arena::TransitionId;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0423",
    name: "unasked-count",
    severity: Severity::Warning,
    page: include_str!("unasked_count.md"),
};

/// The finding; `twin` is a line that asks.
pub(super) fn told(context: &Context<'_>, found: &Miscount, twin: TransitionId) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "this bounds nothing: {} counts `{}` and leads back, and does not ask how far the count is",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name
    );
    RULE.at(map.line(found.line).whole, message)
        .help(format!("add the condition, such as `if {}`", guard(context, twin)))
        .related(map.line(twin).whole, "this line asks")
}
