//! Effects of an `enter` block that a detour repeats.

use super::{Context, Lint, words};
use crate::analysis::detour::{Detour, detours};
use crate::diagnostic::Diagnostic;
use crate::rules::repeated_effect::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Detour { state, block, effect, away, through, back } in detours(chart, facts) {
        let spans = map.state(state);
        let message = format!(
            "coming back from {} does `{}` again, with the same arguments",
            words::state(chart, through),
            chart.functions[effect.index()].name
        );
        let at = spans.entry.get(block).copied().unwrap_or(spans.name);
        diagnostics.push(
            RULE.at(at, message)
                .help(format!(
                    "do it on the line that first leads to {}, or send something new",
                    words::state(chart, state)
                ))
                .related(map.line(away).whole, "leads away")
                .related(map.line(back).whole, "leads back"),
        );
    }
}
