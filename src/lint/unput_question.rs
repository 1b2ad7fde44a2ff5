//! Questions that are never put because lines take their event.

use super::{Context, Lint, words};
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

static RULE: Rule = Rule {
    code: "C0309",
    name: "unput-question",
    severity: Severity::Warning,
    page: include_str!("unput_question.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (step, lines) in &facts.places.unput {
        let name = &chart.steps[step.index()].name;
        let line = words::line(chart, lines[0]);
        let message = if let [_] = lines[..] {
            format!("`{name}` is never put: {line} always takes its event first")
        } else {
            format!(
                "`{name}` is never put: in every state a line such as {line} takes its event first"
            )
        };
        let mut found = RULE.at(map.step(*step).name, message).help(
            "a question is put only if no line takes its event: give the line a condition, or let it lead to a state that asks `on turn`",
        );
        for line in lines.iter().take(3) {
            found = found.related(map.line(*line).whole, "takes the event");
        }
        diagnostics.push(found);
    }
}
