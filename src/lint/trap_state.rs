//! States that the run cannot leave.

use super::{Context, Lint, words};
use crate::analysis::progress::{Trap, traps};
use crate::analysis::reach::Cause;
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0305",
    name: "trap-state",
    severity: Severity::Warning,
    page: include_str!("trap_state.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Trap { states, ends } in traps(chart, facts) {
        let Some(first) = states.first() else { continue };
        let names = words::states(chart, &states);
        let message = match (states.len(), ends) {
            (1, true) => format!("{names} is a trap: nothing leads from it to a final state"),
            (_, true) => {
                format!("{names} are a trap: they lead only to each other, never to a final state")
            }
            (_, false) => format!("{names} is a trap: nothing ever leaves it"),
        };
        let mut found = RULE.at(map.state(*first).name, message).help(format!(
            "add a line that leads out, or make it `final` if the run ends here{}",
            words::way(context, *first)
        ));
        for state in &states[1..] {
            found = found.related(map.state(*state).name, "part of the trap");
        }
        if let Some(Cause::Line(line)) = facts.reach.causes[first.index()] {
            found = found.related(
                map.line(line).whole,
                format!("{} leads into it", words::line(chart, line)),
            );
        }
        diagnostics.push(found);
    }
}
