//! Lines that count away from the bound that they ask for.

use super::{Context, Lint, words};
use crate::analysis::miscount::{Fault, Miscount, miscounts};
use crate::analysis::rounds::Lost;
use crate::diagnostic::Diagnostic;
use crate::rules::backward_count::RULE;
use crate::rules::{long_stride, unasked_count};
use crate::span::Span;
use chartc_core::arena::TransitionId;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// With the other two ways to count wrongly, so that counts are looked at once.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    diagnostics.extend(miscounts(chart, facts).iter().map(|found| match found.fault {
        Fault::Backward => told(context, found),
        Fault::Stride(room) => stride(context, found, room),
        Fault::Unasked(twin) => unasked(context, found, twin),
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

/// The finding.
fn stride(context: &Context<'_>, found: &Miscount, room: i64) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "{} is taken once at most: it counts `{}` by {}, and `{}` leaves room for {room}",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name,
        found.by.unsigned_abs(),
        guard(context, found.line)
    );
    long_stride::RULE
        .at(map.line(found.line).whole, message)
        .help("correct the step or the bound; what may happen once only needs no count")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// The finding; `twin` is a line that asks.
fn unasked(context: &Context<'_>, found: &Miscount, twin: TransitionId) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "this bounds nothing: {} counts `{}` and leads back, and does not ask how far the count is",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name
    );
    unasked_count::RULE
        .at(map.line(found.line).whole, message)
        .help(format!("add the condition, such as `if {}`", guard(context, twin)))
        .related(map.line(twin).whole, "this line asks")
}
