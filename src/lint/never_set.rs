//! Conditions on variables that nothing sets.

use super::{Context, Lint};
use crate::analysis::usage::{Fixed, Spot, Usage, fixed};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0412",
    name: "never-set",
    severity: Severity::Warning,
    page: include_str!("never_set.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    for Fixed { variable, spot } in fixed(chart, &Usage::of(chart)) {
        let row = &chart.variables[variable.index()];
        let place = match spot {
            Spot::Line(id) => map.line(id).guard.unwrap_or(map.line(id).whole),
            Spot::Step(id) => map.step(id).guard.unwrap_or(map.step(id).name),
            Spot::Predicate(i) => map.predicates[i],
            Spot::Value(_) | Spot::Other => continue,
        };
        let is = row.default.as_ref().map(|e| notation::expression(chart, e)).unwrap_or_default();
        let message = format!("this always comes out alike: nothing ever sets `{}`", row.name);
        let found = RULE
            .at(place, message)
            .help("set it in an action or a `code` step; a constant is a `param`");
        diagnostics
            .push(found.related(map.variables[variable.index()], format!("it stays `{is}`")));
    }
}
