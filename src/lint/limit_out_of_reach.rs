//! Limits of model calls and turns that are too small, or of no use.

use super::{Context, Lint, words};
use crate::analysis::Facts;
use crate::analysis::cheapest::{least, least_turns};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StepKind};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0504",
    name: "limit-out-of-reach",
    severity: Severity::Warning,
    page: include_str!("limit_out_of_reach.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let (Some(_), Some(span)) = (state.limits.calls, map.states[i].calls) else { continue };
        if !calls_inside(chart, StateId::at(i)) {
            let name = words::state(chart, StateId::at(i));
            let message = format!("this limit is never reached: nothing in {name} calls a model");
            diagnostics.push(RULE.at(span, message).help("remove it"));
        }
    }
    let Some(root) = map.states.first() else { return };
    let limits = &chart.state(StateId::at(0)).limits;
    type Least = fn(&Chart, &Facts) -> Option<(u64, Vec<TransitionId>)>;
    for (bound, span, cheapest, what, help) in [
        (limits.calls, root.calls, least as Least, "model calls", "and more for retries"),
        (limits.turns, root.turns, least_turns, "turns", "as each makes its calls"),
    ] {
        let (Some(bound), Some(span)) = (bound, span) else { continue };
        let Some((least, way)) = cheapest(chart, facts) else { continue };
        if u64::try_from(bound).is_ok_and(|bound| bound < least) {
            let verb = if what == "turns" { "takes" } else { "makes" };
            let message = format!("no run ends well: the cheapest {verb} {least} {what}");
            let mut found = RULE.at(span, message).help(format!(
                "allow at least {least}, {help}: `chartc check --cost` tells what makes them"
            ));
            for line in way.iter().take(4) {
                found = found.related(map.line(*line).whole, "on the cheapest way to the end");
            }
            diagnostics.push(found);
            // One of the two is enough.
            break;
        }
    }
}

/// Whether a step calls a model while the state is active.
fn calls_inside(chart: &Chart, state: StateId) -> bool {
    chart.steps.iter().any(|step| {
        // What a chart that is run calls is not known here.
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. } | StepKind::Run(_));
        calls && (chart.contains(state, step.state) || chart.contains(step.state, state))
    })
}
