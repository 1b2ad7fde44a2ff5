//! Lines that leave one case out.

use super::{Context, Lint, words};
use crate::analysis::gap::gaps;
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule =
    Rule { code: "C0314", name: "gap", severity: Severity::Warning, page: include_str!("gap.md") };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for gap in gaps(chart, facts) {
        let (Some(first), Some(last)) = (gap.lines.first(), gap.lines.last()) else { continue };
        let case = words::case(chart, &gap.case);
        let what = match chart.transition(*first).trigger.step() {
            Some(step) => format!("no `done` line of {} holds", words::step(chart, step)),
            None => format!("no {} line holds", words::line(chart, *first)),
        };
        let message = format!("{what} where {case}: nothing happens then");
        let spans = map.line(*last);
        let mut found = RULE
            .at(spans.guard.unwrap_or(spans.trigger), message)
            .help("add a line for that case, or leave the last condition out");
        for line in gap.lines.iter().rev().skip(1).take(3) {
            found = found.related(map.line(*line).whole, "takes other cases");
        }
        diagnostics.push(found);
    }
}
