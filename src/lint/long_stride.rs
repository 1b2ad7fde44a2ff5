//! Lines whose first step of counting is longer than the bound.

use super::backward_count::guard;
use super::{Context, words};
use crate::analysis::miscount::Miscount;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0419",
    name: "long-stride",
    severity: Severity::Warning,
    page: include_str!("long_stride.md"),
};

/// The finding.
pub(super) fn told(context: &Context<'_>, found: &Miscount, room: i64) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "{} is taken once at most: it counts `{}` by {}, and `{}` leaves room for {room}",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name,
        found.by.unsigned_abs(),
        guard(context, found.line)
    );
    RULE.at(map.line(found.line).whole, message)
        .help("correct the step or the bound; what may happen once only needs no count")
        .related(map.variables[found.counter.index()], "the count begins here")
}
