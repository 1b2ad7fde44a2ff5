//! Conditions on variables that nothing sets.

use super::reading::{self, Setters};
use super::{Context, Lint};
use crate::analysis::dataflow::Value;
use crate::analysis::explore::witness::json;
use crate::analysis::flow::Flow;
use crate::analysis::usage::{Fixed, Spot, Usage, fixed};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::notation;
use chartc_core::arena::{TransitionId, VarId};
use chartc_core::model::{Trigger, VariableKind};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0412",
    name: "never-set",
    severity: Severity::Warning,
    page: include_str!("never_set.md"),
};

/// Conditions that are looked at; a chart with more is built by a program.
const MOST: usize = 200;

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

/// Conditions on variables that something sets, though never on the way to where they are asked for.
pub(super) fn always_alike(
    context: &Context<'_>,
    flow: &Flow<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Context { chart, facts, map, .. } = context;
    let mut setters = None;
    for fixed in flow.fixed().into_iter().take(MOST) {
        let line = reading::line_of(fixed.site);
        // Every run was tried: what is never taken is told of with what the runs do there.
        let tried = facts.seen.is_some() && !fixed.holds && line.is_some();
        let fresh = |id: VarId| {
            matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
        };
        // `when` lines that always hold are told of as circles, and code may keep a place for what is to be computed.
        let when = line.is_some_and(|l| matches!(chart.transition(l).trigger, Trigger::When));
        let (span, what) = reading::place(context, fixed.site);
        let told = |d: &Diagnostic| {
            d.span.file == span.file && d.span.start < span.end && span.start < d.span.end
        };
        if tried
            || line.is_some_and(|l| fixed.holds && hides(context, l))
            || fixed.values.is_empty()
            || fixed.values.iter().any(|(id, _)| fresh(*id))
            || when && fixed.holds
            || diagnostics.iter().any(told)
        {
            continue;
        }
        let values = fixed.values.iter().map(|(id, values)| {
            let shown: Vec<String> = values.iter().map(|v| format!("`{}`", json(v))).collect();
            format!("`{}` is always {} here", chart.variables[id.index()].name, shown.join(" or "))
        });
        let values: Vec<String> = values.collect();
        let verb = if fixed.holds { "always holds" } else { "never holds" };
        let mut found = RULE
            .at(span, format!("{what} {verb}: {}", values.join(", ")))
            .help("set it on the way that leads here, or remove the condition");
        for (id, _) in fixed.values.iter().take(1) {
            found = found.related(map.variables[id.index()], "it begins here");
            let setters = setters.get_or_insert_with(|| Setters::of(context));
            for place in setters.places(context, Value::Variable(*id)).into_iter().take(2) {
                found = found.related(place, "set here");
            }
        }
        diagnostics.push(found);
    }
}

/// Whether the states that a later line of the same trigger leads to are never entered, which is told of there.
fn hides(context: &Context<'_>, line: TransitionId) -> bool {
    let Context { chart, facts, .. } = context;
    let row = chart.transition(line);
    let later = chart.state(row.source).transitions.iter().filter(|l| **l > line);
    let goals = later
        .map(|l| chart.transition(*l))
        .filter(|other| other.trigger == row.trigger)
        .flat_map(|other| &other.targets);
    goals.into_iter().any(|t| !facts.enters(t.state) && facts.reach.enters(t.state))
}
