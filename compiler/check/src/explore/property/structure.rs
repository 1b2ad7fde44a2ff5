//! `check` lines that the structure of a chart proves, whatever the data are. No run is tried.
//!
//! The graph of moves contains every run of the chart and more. So what none of its paths does, no run does; but it refutes nothing.

use super::super::static_check::at_once;
use super::ways::always;
use crate::facts::Facts;
use crate::facts::reach::{Reach, is_history, surely_enters};
use crate::facts::scope::{ScopeCondition, meet};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, Check, CheckArgument, ChoiceKind, StepKind, Trigger};

/// Whether the structure proves the line.
pub(super) fn proves(chart: &Chart, facts: &Facts, check: &Check) -> bool {
    match (check.name.as_str(), &check.arguments[..]) {
        ("reaches", [CheckArgument::State(state)]) => begins_in(chart, *state),
        ("always_reaches", [CheckArgument::State(state)]) => {
            facts.reach.can_enter(*state)
                && (at_once(chart, *state) || always(chart, facts, *state))
        }
        ("never", [CheckArgument::Before(first, then)]) => comes_later(chart, facts, *first, *then),
        ("no_call", [CheckArgument::State(state)]) => !may_call(chart, facts, *state),
        _ => false,
    }
}

/// Whether every run begins by entering the state.
fn begins_in(chart: &Chart, state: StateId) -> bool {
    !is_history(chart, state) && surely_enters(chart, &[StateId::at(0)], state)
}

/// Whether every path to `first` enters `then` before. Of two states that are entered together, the outer one comes first.
fn comes_later(chart: &Chart, facts: &Facts, first: StateId, then: StateId) -> bool {
    // A history can be a target, but it is never entered itself.
    let comes = first != then && !is_history(chart, then);
    !facts.reach.can_enter(first)
        || comes && chart.contains(then, first)
        || comes && !Reach::before(chart, &facts.scopes, then).can_enter(first)
}

/// Whether a leaf inside the state may call a tool.
pub(super) fn may_call(chart: &Chart, facts: &Facts, state: StateId) -> bool {
    let calls = |trigger: &Trigger| {
        matches!(trigger, Trigger::Choice(choice)
            if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)))
    };
    let transitions =
        chart.transitions.iter().enumerate().filter(|(_, transition)| calls(&transition.trigger));
    let transitions = transitions.map(|(i, _)| facts.scopes.transition(TransitionId::at(i)));
    let steps = chart.steps.iter().zip(&facts.scopes.steps);
    let steps =
        steps.filter(|(step, _)| step.tools.is_some() || matches!(step.kind, StepKind::Call(..)));
    let is_met = |place: &ScopeCondition| {
        meet(chart, &place.within, &[state]).iter().any(|inside| facts.reach.can_enter(*inside))
    };
    facts.reach.can_enter(state) && transitions.chain(steps.map(|(_, place)| place)).any(is_met)
}
