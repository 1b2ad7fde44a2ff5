//! Lines that count and ask for no bound.

use super::{Context, Lint, words};
use crate::analysis::miscount::{Fault, miscounts};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation::expression;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0423",
    name: "unasked-count",
    severity: Severity::Warning,
    page: include_str!("unasked_count.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in miscounts(chart, facts) {
        let Fault::Unasked(twin) = found.fault else { continue };
        let name = &chart.variables[found.counter.index()].name;
        let line = words::line(chart, found.line);
        let message = format!(
            "this bounds nothing: {line} counts `{name}` and leads back, and does not ask how far the count is"
        );
        let guard = chart.transition(twin).guard.as_ref();
        let text = guard.map(|g| words::short(&expression(chart, g))).unwrap_or_default();
        diagnostics.push(
            RULE.at(map.line(found.line).whole, message)
                .help(format!("add the condition, such as `if {text}`"))
                .related(map.line(twin).whole, "this line asks"),
        );
    }
}
