//! Lines whose conditions overlap, so that only their order decides.

use super::{Context, Lint, words};
use crate::analysis::overlap::overlaps;
use crate::diagnostic::Diagnostic;
use crate::rules::overlap::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for overlap in overlaps(chart, facts) {
        let (line, case) =
            (words::line(chart, overlap.then), words::case(chart, overlap.then, &overlap.case));
        let spans = map.line(overlap.then);
        let message = format!(
            "where {case}, both this line and an earlier one could be taken: their order decides"
        );
        diagnostics.push(
            RULE.at(spans.guard.unwrap_or(spans.trigger), message)
                .related(map.line(overlap.first).whole, "is taken then")
                .help(format!(
                    "if that is meant, say so: `// chartc: allow(C0315) reason`; else narrow the condition of {line}"
                )),
        );
    }
}
