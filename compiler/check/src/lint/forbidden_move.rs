//! Moves by steps and options that the permissions of the chart forbid.

use super::{Context, Lint, words};
use chartc_core::arena::{StateId, TransitionId};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::FORBIDDEN_MOVE;

pub(super) static LINT: Lint = Lint { rule: &FORBIDDEN_MOVE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        for from in &facts.scopes.forbidden[i] {
            let away = transition.targets.iter().position(|t| t.state != *from);
            // A forbidden self-transition changes no state, but its actions are lost.
            let again = (!transition.actions.is_empty()).then_some(0);
            let Some(place) = away.or(again) else { continue };
            let Some(target) = transition.targets.get(place).map(|t| t.state) else { continue };
            let (name, here) = (words::transition(chart, id), words::state(chart, *from));
            let goal = words::state(chart, target);
            let message = if away.is_some() {
                format!(
                    "{name} moves from {here} to {goal}, which the table forbids: the state stays"
                )
            } else {
                format!(
                    "{name} enters {here} again, which the table forbids: its actions are not carried out"
                )
            };
            let allowed = permitted(context, *from);
            let help = if away.is_none() {
                format!("add `{0} -> {0}` to the table", from_name(context, *from))
            } else if allowed.is_empty() {
                format!(
                    "the table lets no step leave {here}: add `{} -> {}` to it",
                    from_name(context, *from),
                    from_name(context, target)
                )
            } else {
                format!(
                    "from {here} the table permits {}: add {goal}, or lead there",
                    words::states(chart, &allowed)
                )
            };
            let span =
                map.transition(id).targets.get(place).copied().unwrap_or(map.transition(id).whole);
            let mut found = FORBIDDEN_MOVE.at(span, message).help(help);
            if let Some(row) = chart.permissions.iter().position(|p| p.from == Some(*from)) {
                found = found
                    .related(map.permissions[row], format!("what the table permits from {here}"));
            }
            diagnostics.push(found);
        }
    }
}

fn from_name<'c>(context: &Context<'c>, state: StateId) -> &'c str {
    &context.chart.state(state).path
}

/// The states to which the table permits a move from a state, in document order.
fn permitted(context: &Context<'_>, from: StateId) -> Vec<StateId> {
    let rows = context.chart.permissions.iter();
    let mut states: Vec<StateId> = rows
        .filter(|p| p.from.is_none_or(|s| context.chart.contains(s, from)) && p.to != from)
        .map(|p| p.to)
        .collect();
    states.sort_unstable();
    states.dedup();
    states
}
