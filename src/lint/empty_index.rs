//! Items of lists that may be empty.

use super::{Context, Lint};
use crate::analysis::index::{Held, Where, indexed};
use crate::diagnostic::Diagnostic;
use crate::lint::words;
use crate::rules::empty_index::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for found in indexed(chart, context.facts) {
        let (at, fails) = match found.place {
            Where::Line(id) => (map.line(id).whole, "the rest of the block is not run"),
            Where::Entry(state, block) => {
                let spans = map.state(state);
                let at = spans.entry.get(block).copied().unwrap_or(spans.name);
                (at, "the rest of the block is not run")
            }
            Where::Prompt(step, part) => {
                let spans = map.step(step);
                let at = spans.prompt_parts.get(part).copied().unwrap_or(spans.name);
                (at, "the step fails")
            }
            Where::Step(step) => (map.step(step).name, "the step fails"),
        };
        let mut named = "xs";
        let (list, why) = match found.held {
            Held::Function(id) => {
                (format!("`{}(…)`", chart.functions[id.index()].name), "gives `[]` where it fails")
            }
            Held::Variable(id) => {
                named = &chart.variables[id.index()].name;
                (format!("`{named}`"), "may be `[]`")
            }
            Held::Answer(step) => {
                (format!("the answer of {}", words::step(chart, step)), "may be `[]`")
            }
            Held::Part(step) => {
                (format!("a list in the answer of {}", words::step(chart, step)), "may be `[]`")
            }
        };
        let message = format!("{list} {why}: there is no item {} then, and {fails}", found.item);
        diagnostics.push(RULE.at(at, message).help(format!(
            "ask first, such as `if len({named}) > 0`, or use a slice, `{named}[:1]`, which takes what there is"
        )));
    }
}
