//! Questions that are never asked, because transitions always take their event or the turn.

use super::{Context, Lint, words};
use chartc_core::model::{AskOn, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNPUT_QUESTION;

pub(super) static LINT: Lint = Lint { rule: &UNPUT_QUESTION, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (step, transitions) in &facts.scopes.unput {
        let row = &chart.steps[step.index()];
        let name = &row.name;
        let line = words::transition(chart, transitions[0]);
        let in_turns = matches!(row.kind, StepKind::Ask { on: AskOn::Turn, .. });
        let what = if in_turns { "the turn" } else { "its event" };
        let message = if let [_] = transitions[..] {
            format!("`{name}` is never put: {line} always takes {what} first")
        } else {
            format!(
                "`{name}` is never put: in every state a line such as {line} takes {what} first"
            )
        };
        let mut found = UNPUT_QUESTION.at(map.step(*step).name, message).help(if in_turns {
            "a turn that a line takes asks nothing: give the line a condition, let it lead to another state, or do in a `code` step what it does"
        } else {
            "a question is put only if no line takes its event: give the line a condition, or let it lead to a state that asks `on turn`"
        });
        for transition in transitions.iter().take(3) {
            let takes = if in_turns { "takes every turn" } else { "takes the event" };
            found = found.related(map.transition(*transition).whole, takes);
        }
        diagnostics.push(found);
    }
}
