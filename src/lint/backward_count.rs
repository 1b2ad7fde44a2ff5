//! Lines that count away from the bound that they ask for.

use super::{Context, Lint, words};
use crate::analysis::miscount::{Fault, miscounts};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation::expression;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0418",
    name: "backward-count",
    severity: Severity::Warning,
    page: include_str!("backward_count.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in miscounts(chart, facts) {
        let spans = map.line(found.line);
        let place = spans.guard.unwrap_or(spans.trigger);
        let name = &chart.variables[found.counter.index()].name;
        let line = words::line(chart, found.line);
        let guard = chart.transition(found.line).guard.as_ref();
        let text = guard.map(|g| words::short(&expression(chart, g))).unwrap_or_default();
        let way = if found.by > 0 { "up" } else { "down" };
        match found.fault {
            Fault::Backward => {
                let message = format!(
                    "this bounds nothing: once `{text}` holds, {line} counts `{name}` {way}, and it goes on holding"
                );
                diagnostics.push(
                    RULE.at(place, message)
                        .help("turn the comparison round, or count the other way")
                        .related(map.variables[found.counter.index()], "the count begins here"),
                );
            }
            Fault::Stride(_) | Fault::Unasked(_) => {}
        }
    }
}
