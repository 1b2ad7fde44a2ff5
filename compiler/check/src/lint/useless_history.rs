//! History states that restore nothing.

use super::{Context, Lint, words};
use crate::facts::reach::is_history;
use crate::facts::restart::left;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, StateKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::USELESS_HISTORY;

pub(super) static LINT: Lint = Lint { rule: &USELESS_HISTORY, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if !chart.state_ids().any(|s| is_history(chart, s)) {
        return;
    }
    let used = used(chart);
    let left = left(chart, facts);
    let (own, below) = chooses(chart);
    for state in chart.state_ids() {
        let StateKind::History { deep, .. } = chart.state(state).kind else { continue };
        let parent = chart.state(state).parent.unwrap_or(StateId(0));
        let (name, outer) = (words::state(chart, state), words::state(chart, parent));
        let parallel = matches!(chart.state(parent).kind, StateKind::Parallel);
        let (message, help) = if !used[state.index()] {
            (
                format!("no line leads to history {name}"),
                format!("lead to it where {outer} should continue, or remove it"),
            )
        } else if !deep && parallel {
            (
                format!(
                    "history {name} brings nothing back: all regions of {outer} are active anyway"
                ),
                "write `deep` to bring back what was active in the regions".to_owned(),
            )
        } else if !(if deep { &below } else { &own })[parent.index()] {
            (
                format!("history {name} brings nothing back: {outer} has one way to be active"),
                format!("lead to {outer} itself"),
            )
        } else if facts.reach.can_enter(state) && !left[parent.index()] {
            (
                format!("history {name} always leads to its default: {outer} is never left before"),
                format!("lead to {outer} itself, or add the line that leaves it"),
            )
        } else {
            continue;
        };
        diagnostics.push(USELESS_HISTORY.at(map.state(state).name, message).help(help));
    }
}

/// Whether a transition or the default entry of another state leads to a state, by state.
fn used(chart: &Chart) -> Vec<bool> {
    let mut used = vec![false; chart.states.len()];
    for target in chart.transitions.iter().flat_map(|t| &t.targets) {
        used[target.state.index()] = true;
    }
    for state in &chart.states {
        if let StateKind::Compound { initial } = &state.kind {
            for first in initial {
                used[first.index()] = true;
            }
        }
    }
    used
}

/// Whether a state is compound with several children, and whether it or a descendant is; both by state.
fn chooses(chart: &Chart) -> (Vec<bool>, Vec<bool>) {
    let several = |s: StateId| {
        matches!(chart.state(s).kind, StateKind::Compound { .. })
            && chart.children(s).filter(|c| !is_history(chart, *c)).nth(1).is_some()
    };
    let own: Vec<bool> = chart.state_ids().map(several).collect();
    let mut deep = own.clone();
    // Children have higher ids than their parents, so each is complete before it is added to its parent.
    for i in (1..deep.len()).rev() {
        if let Some(parent) = chart.state(StateId::at(i)).parent {
            deep[parent.index()] |= deep[i];
        }
    }
    (own, deep)
}
