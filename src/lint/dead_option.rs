//! Options that no question ever offers.

use super::{Context, Lint, words};
use crate::analysis::offering::{Why, unoffered};
use crate::diagnostic::Diagnostic;
use crate::rules::dead_option::RULE;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (line, why) in unoffered(chart, facts) {
        let name = words::line(chart, line);
        let at = map.line(line).trigger;
        diagnostics.push(match why {
            Why::Unasked => {
                let state = words::state(chart, chart.transition(line).source);
                RULE.at(at, format!("{name} is never offered: nothing asks while {state} is active"))
                    .help("add an `ask` step to the state or to one around it, or write an `on`, `when` or `after` line instead")
            }
            Why::Empty(set) => {
                let set = &chart.tool_sets[set.index()].name;
                RULE.at(at, format!("{name} is never offered: there is no tool in `{set}`"))
                    .help("declare the tools and name them in the set, or remove the line")
            }
            Why::Taken(by) => {
                let found = RULE
                    .at(at, format!("{name} is never offered: lines above it offer all of its tools"))
                    .help("a tool belongs to the first line that offers it: put the narrower set first, or take its tools out of the wider one, `any - name`");
                by.iter().take(3).fold(found, |found, by| {
                    found.related(map.line(*by).whole, "offers them first")
                })
            }
        });
    }
}
