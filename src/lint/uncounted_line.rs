//! Lines that lead back while a counter is low and do not count.

use super::{Context, Lint, words};
use crate::analysis::counting::uncounted;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0417",
    name: "uncounted-line",
    severity: Severity::Warning,
    page: include_str!("uncounted_line.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut told = BTreeSet::new();
    for found in uncounted(chart, facts) {
        let spans = map.line(found.line);
        if !told.insert(spans.whole) {
            continue;
        }
        let name = &chart.variables[found.counter.index()].name;
        let goal = chart.transition(found.line).targets.first();
        let goal = goal.map_or_else(String::new, |t| words::state(chart, t.state));
        let other = words::line(chart, found.counting);
        let message = format!(
            "this bounds nothing: {} leads to {goal} without counting `{name}`, and nothing on the way back counts it",
            words::line(chart, found.line)
        );
        let place = spans.guard.unwrap_or(spans.trigger);
        let help = format!("count it, as {other} does: `{name} = {name} + 1`");
        let other = map.line(found.counting).whole;
        diagnostics.push(RULE.at(place, message).help(help).related(other, "this line counts"));
    }
}
