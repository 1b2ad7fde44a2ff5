//! Variables of a turn that are read before the turn has set them.

use super::{Context, Lint, words};
use crate::analysis::dataflow::{Early, Reading, Value, early};
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

pub(super) static RULE: Rule = Rule {
    code: "C0407",
    name: "read-before-set",
    severity: Severity::Warning,
    page: include_str!("read_before_set.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Early { step, reading, value, setter } in early(chart, facts) {
        let spans = map.step(step);
        let (place, what) = match reading {
            Reading::Guard => (spans.guard, "the condition"),
            Reading::Prompt(part) => (spans.prompt_parts.get(part).copied(), "the prompt"),
            Reading::Injection(id) => (map.components.get(id.index()).copied(), "a component"),
            Reading::Fragment(id, part) => {
                let parts = map.component_parts.get(id.index());
                (parts.and_then(|parts| parts.get(part)).copied(), "a component in the prompt")
            }
            Reading::Code => (None, "the code"),
            Reading::Line(line) => (map.line(line).guard, "an outcome"),
            Reading::Permission(row) => {
                (map.permissions.get(row).copied(), "what permits the move")
            }
        };
        let name = match value {
            Value::Variable(id) => format!("`{}`", chart.variables[id.index()].name),
            Value::Answer(id) => format!("the answer of `{}`", chart.steps[id.index()].name),
        };
        let (reader, later) = (&chart.steps[step.index()].name, &chart.steps[setter.index()].name);
        let message = if setter == step {
            format!("{name} is not there yet in {what} of `{reader}` itself")
        } else {
            format!(
                "{what} of `{reader}` reads {name}, which only `{later}` sets, later in the turn"
            )
        };
        let mut found = RULE.at(place.unwrap_or(spans.name), message).help(format!(
            "it is always the default here: put `{later}` before `{reader}`, or keep the value over the turns"
        ));
        if matches!(reading, Reading::Permission(_)) {
            found = found.related(spans.name, format!("{} needs it", words::step(chart, step)));
        }
        diagnostics.push(found.related(map.step(setter).name, "set here"));
    }
}
