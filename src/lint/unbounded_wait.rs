//! Model calls that only their answer ends.

use super::{Context, Lint, words};
use crate::analysis::waiting::unbounded;
use crate::diagnostic::Diagnostic;
use crate::rules::unbounded_wait::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for wait in unbounded(chart, facts) {
        let (step, leaf) = (words::step(chart, wait.step), words::state(chart, wait.leaf));
        let message =
            format!("{step} may wait for its answer for ever: in {leaf} no deadline ends the call");
        diagnostics.push(
            RULE.at(map.step(wait.step).name, message)
                .help("give the step or its client a `timeout`, the state an `after` line, or bound its `time` in `limits`"),
        );
    }
}
