//! Lines that send what they are on for ever.

use super::{Context, Lint, words};
use crate::analysis::echo::echoes;
use crate::diagnostic::Diagnostic;
use crate::rules::event_cycle::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for lines in echoes(chart, facts) {
        let Some((first, rest)) = lines.split_first() else { continue };
        let name = words::line(chart, *first);
        let message = if rest.is_empty() {
            format!("{name} sends its own event each time, so it is taken for ever")
        } else {
            format!(
                "once {name} is taken, these {} lines send each other's events for ever",
                lines.len()
            )
        };
        let found = RULE.at(map.line(*first).trigger, message).help(
            "send the event under a condition that comes to fail, or later: `send e after 1s`",
        );
        diagnostics
            .push(rest.iter().fold(found, |f, l| f.related(map.line(*l).whole, "taken next")));
    }
}
