//! Times in which no model and no person answers.

use super::{Context, Lint, words};
use crate::analysis::timing::{Hasty, Spot, Whom, hasty};
use crate::diagnostic::Diagnostic;
use crate::notation::duration;
use crate::rules::hasty_timeout::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Hasty { spot, whom, most } in hasty(chart, facts) {
        let (span, then) = match spot {
            Spot::Client(id) => (
                map.client_timeouts[id.index()].unwrap_or(map.clients[id.index()]),
                format!("every call of `{}` fails", chart.clients[id.index()].name),
            ),
            Spot::Step(line, step) => {
                let step = words::step(chart, step);
                (map.line(line).trigger, format!("{step} is given up each time"))
            }
            Spot::Deadline(line, step) => {
                let state = words::state(chart, chart.transition(line).source);
                let step = words::step(chart, step);
                (map.line(line).trigger, format!("{state} is left before {step} is done"))
            }
        };
        let who = match whom {
            Whom::Model => "no model answers",
            Whom::Person => "nobody answers",
        };
        let message = format!("{who} within {}: {then}", duration(most));
        let help = match (whom, most) {
            // Most often the unit is wrong.
            (_, 5..1_000) => format!("allow more time; `{most}s` if seconds are meant"),
            (Whom::Model, _) => "allow more time: a model needs seconds".to_owned(),
            (Whom::Person, _) => "allow more time: a person needs to read the question".to_owned(),
        };
        diagnostics.push(RULE.at(span, message).help(help));
    }
}
