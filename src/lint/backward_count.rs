//! Lines that count away from the bound that they ask for.

use super::{Context, Lint, long_stride, unasked_count, words};
use crate::analysis::miscount::{Fault, Miscount, miscounts};
use crate::analysis::rounds::Lost;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;
use chartc_core::arena::TransitionId;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

pub(super) static RULE: Rule = Rule {
    code: "C0418",
    name: "backward-count",
    severity: Severity::Warning,
    page: include_str!("backward_count.md"),
};

/// With the other two ways to count wrongly, so that counts are looked at once.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    diagnostics.extend(miscounts(chart, facts).iter().map(|found| match found.fault {
        Fault::Backward => told(context, found),
        Fault::Stride(room) => long_stride::told(context, found, room),
        Fault::Unasked(twin) => unasked_count::told(context, found, twin),
    }));
}

fn told(context: &Context<'_>, found: &Miscount) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let spans = map.line(found.line);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::line(chart, found.line);
    let way = if found.by > 0 { "up" } else { "down" };
    let message = format!(
        "this bounds nothing: once `{}` holds, {line} counts `{name}` {way}, and it goes on holding",
        guard(context, found.line)
    );
    RULE.at(spans.guard.unwrap_or(spans.trigger), message)
        .help("turn the comparison round, or count the other way")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// A count that goes away from what another line or a step asks for, at the count.
pub(super) fn away(context: &Context<'_>, at: Span, found: &Lost, guard: &str) -> Diagnostic {
    let name = &context.chart.variables[found.counter.index()].name;
    let goes = if found.holds { "goes on holding" } else { "never comes to hold" };
    RULE.at(at, format!("this counts `{name}` the wrong way: `{guard}` {goes}"))
        .help("count the other way, or turn the comparison round")
}

/// The condition of a line, in short.
pub(super) fn guard(context: &Context<'_>, line: TransitionId) -> String {
    words::guard(context.chart, line).unwrap_or_default()
}
