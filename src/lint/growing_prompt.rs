//! Lists that only grow and that a prompt shows whole.

use super::{Context, Lint, words};
use crate::analysis::growing::growing;
use crate::diagnostic::Diagnostic;
use crate::rules::growing_prompt::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in growing(chart, facts) {
        let (name, step) = (&chart.variables[found.variable.index()].name, map.step(found.step));
        let at = step.prompt_parts.get(found.part).copied().unwrap_or(step.name);
        let message = format!(
            "the prompt of {} shows all of `{name}`, which grows each time round",
            words::step(chart, found.step)
        );
        let one = RULE.at(at, message).help(format!(
            "show the last items only, such as `{name}[-5:]`, or shorten the list where it grows"
        ));
        diagnostics.push(one.related(map.line(found.line).whole, "grows here"));
    }
}
