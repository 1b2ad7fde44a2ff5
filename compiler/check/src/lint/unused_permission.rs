//! Permissions that no move needs.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use crate::facts::scope::is_final;
use chartc_core::arena::TransitionId;
use chartc_core::model::{StateKind, Transition, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNUSED_PERMISSION;

pub(super) static LINT: Lint = Lint { rule: &UNUSED_PERMISSION, needs_whole: true, run };

/// The maximum number of alternative moves that a finding shows.
const SHOWN: usize = 3;
/// The maximum number of findings that show alternative moves.
const TOLD: usize = 64;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (row, permission) in chart.permissions.iter().enumerate() {
        // Another rule reports states that are never entered. In an agent, a row from a state to itself says that the agent may stay.
        let stays = permission.from == Some(permission.to) && is_yaml(context);
        let history = matches!(chart.state(permission.to).kind, StateKind::History { .. });
        if facts.scopes.used[row] || stays || history || !facts.reach.can_enter(permission.to) {
            continue;
        }
        let goal = words::state(chart, permission.to);
        let mut found = match permission.from {
            Some(from) if !facts.reach.can_enter(from) || is_final(chart, from) => continue,
            Some(from) => {
                let here = words::state(chart, from);
                let message = format!(
                    "no step and no option moves from {here} to {goal}: this permits nothing"
                );
                let leaves = |(i, transition): (usize, &Transition)| {
                    let id = TransitionId::at(i);
                    let moves = transition.trigger.step().is_some()
                        || matches!(transition.trigger, Trigger::Choice(_));
                    let here = facts.scopes.transition(id).may_hold_in(chart, from);
                    (moves && here && !transition.targets.is_empty()).then_some(id)
                };
                let found = UNUSED_PERMISSION.at(map.permissions[row], message);
                let shown = if diagnostics.len() < TOLD { SHOWN } else { 0 };
                let ways = chart.transitions.iter().enumerate().filter_map(leaves).take(shown);
                ways.fold(found, |found, id| {
                    let goal = chart.transition(id).targets.first();
                    let goal = goal.map_or_else(String::new, |t| words::state(chart, t.state));
                    found.related(
                        map.transition(id).whole,
                        format!("from {here} this moves to {goal}"),
                    )
                })
            }
            None => UNUSED_PERMISSION.at(
                map.permissions[row],
                format!("no step and no option moves to {goal}: this permits nothing"),
            ),
        };
        found = found.help("take the row out, or lead a step or an option there");
        diagnostics.push(found);
    }
}
