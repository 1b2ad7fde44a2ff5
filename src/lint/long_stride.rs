//! Lines whose first step of counting is longer than the bound.

use super::{Context, Lint, words};
use crate::analysis::miscount::{Fault, miscounts};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation::expression;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0419",
    name: "long-stride",
    severity: Severity::Warning,
    page: include_str!("long_stride.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in miscounts(chart, facts) {
        let Fault::Stride(room) = found.fault else { continue };
        let spans = map.line(found.line);
        let name = &chart.variables[found.counter.index()].name;
        let line = words::line(chart, found.line);
        let guard = chart.transition(found.line).guard.as_ref();
        let text = guard.map(|g| words::short(&expression(chart, g))).unwrap_or_default();
        let message = format!(
            "{line} is taken once at most: it counts `{name}` by {}, and `{text}` leaves room for {room}",
            found.by.unsigned_abs()
        );
        diagnostics.push(
            RULE.at(spans.whole, message)
                .help("correct the step or the bound; what may happen once only needs no count")
                .related(map.variables[found.counter.index()], "the count begins here"),
        );
    }
}
