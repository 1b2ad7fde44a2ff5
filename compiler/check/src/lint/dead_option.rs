//! Options that no question offers.

use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{StateId, ToolSetId, TransitionId};
use chartc_core::model::{Chart, ChoiceKind, StepKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::DEAD_OPTION;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &DEAD_OPTION, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (transition, why) in unoffered(chart, facts) {
        let name = words::transition(chart, transition);
        let at = map.transition(transition).trigger;
        diagnostics.push(match why {
            DeadReason::Unasked => {
                let state = words::state(chart, chart.transition(transition).source);
                DEAD_OPTION.at(at, format!("{name} is never offered: nothing asks while {state} is active"))
                    .help("add an `ask` step to the state or an ancestor, or write an `on`, `when` or `after` line instead")
            }
            DeadReason::Empty(set) => {
                let set = &chart.tool_sets[set.index()].name;
                DEAD_OPTION.at(at, format!("{name} is never offered: there is no tool in `{set}`"))
                    .help("declare the tools and name them in the set, or remove the line")
            }
            DeadReason::Taken(by) => {
                let found = DEAD_OPTION
                    .at(at, format!("{name} is never offered: lines above it offer all of its tools"))
                    .help("a tool belongs to the first line that offers it: put the narrower set first, or take its tools out of the wider one, `any - name`");
                by.iter().take(3).fold(found, |found, by| {
                    found.related(map.transition(*by).whole, "offers them first")
                })
            }
        });
    }
}

/// The maximum number of earlier transitions of a state with which a later one is compared.
const MOST: usize = 20;

/// The reason why an option is never offered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DeadReason {
    /// No question is asked while its state is active.
    Unasked,
    /// The set of the transition contains no tool.
    Empty(ToolSetId),
    /// These earlier transitions offer all of its tools.
    Taken(Vec<TransitionId>),
}

/// Finds the `may` transitions of reachable states whose guards may hold and that no question offers, in document order. Linear,
/// with at most [`MOST`] comparisons for each.
fn unoffered(chart: &Chart, facts: &Facts) -> Vec<(TransitionId, DeadReason)> {
    let mut found = Vec::new();
    let asks = chart.steps.iter().filter(|step| matches!(step.kind, StepKind::Ask { .. }));
    let asks: BTreeSet<StateId> = asks.map(|step| step.state).collect();
    for state in chart.state_ids().filter(|s| facts.reach.can_enter(*s)) {
        let mut earlier: Vec<(TransitionId, ToolSetId)> = Vec::new();
        for id in &chart.state(state).transitions {
            let transition = chart.transition(*id);
            let Trigger::Choice(choice) = transition.trigger else { continue };
            let never = |guard| matches!(decide(chart, &[(guard, true)]), Verdict::Never);
            if transition.guard.as_ref().is_some_and(never)
                || !facts.scopes.forbidden[id.index()].is_empty()
            {
                continue;
            }
            if facts.scopes.transition(*id).within.is_empty() {
                // C0303 reports a scope that is never active.
                if transition.scope.is_none() && !asked(chart, &asks, state) {
                    found.push((*id, DeadReason::Unasked));
                }
                continue;
            }
            let ChoiceKind::Call(set, _) = chart.choices[choice.index()].kind else { continue };
            // Only a transition that is always enabled takes its tools away from later ones.
            if let Some(why) = shut(chart, set, &earlier) {
                found.push((*id, why));
            } else if transition.guard.is_none()
                && transition.scope.is_none()
                && earlier.len() < MOST
            {
                earlier.push((*id, set));
            }
        }
    }
    found
}

/// Whether the state, an ancestor or a descendant has an `ask` step, reachable or not.
fn asked(chart: &Chart, asks: &BTreeSet<StateId>, state: StateId) -> bool {
    let below = asks.range(state..chart.state(state).end).next().is_some();
    below || chart.ancestors(state).any(|around| asks.contains(&around))
}

/// The reason why a set of tools is never offered, given the sets of earlier transitions; `None` if it may be offered.
fn shut(
    chart: &Chart,
    set: ToolSetId,
    earlier: &[(TransitionId, ToolSetId)],
) -> Option<DeadReason> {
    let row = &chart.tool_sets[set.index()];
    let tools = chart.tools_of(set);
    if row.any {
        // The host may register more tools, so only another `any` set covers this one.
        let wider = |other: &ToolSetId| {
            let other = &chart.tool_sets[other.index()];
            other.any && other.minus.iter().all(|pattern| row.minus.contains(pattern))
        };
        return earlier
            .iter()
            .find(|(_, other)| wider(other))
            .map(|(by, _)| DeadReason::Taken(vec![*by]));
    }
    if tools.is_empty() {
        return Some(DeadReason::Empty(set));
    }
    let mut by = Vec::new();
    for tool in &tools {
        let first = earlier.iter().find(|(_, other)| chart.tools_of(*other).contains(tool))?;
        by.push(first.0);
    }
    by.sort_unstable();
    by.dedup();
    Some(DeadReason::Taken(by))
}
