//! Rows of the transition table that no move needs.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use crate::diagnostic::Diagnostic;
use crate::facts::place::is_final;
use crate::rules::unused_permission::RULE;
use chartc_core::arena::TransitionId;
use chartc_core::model::{StateKind, Transition, Trigger};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// Ways on that are shown.
const SHOWN: usize = 3;
/// Findings that show them; a table with more is written by a program.
const TOLD: usize = 64;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (row, permission) in chart.permissions.iter().enumerate() {
        // What is wrong with states that are never entered is told of them.
        // An agent that may enter where it is may stay.
        let stays = permission.from == Some(permission.to) && is_yaml(context);
        let history = matches!(chart.state(permission.to).kind, StateKind::History { .. });
        if facts.places.used[row] || stays || history || !facts.reach.enters(permission.to) {
            continue;
        }
        let goal = words::state(chart, permission.to);
        let mut found = match permission.from {
            Some(from) if !facts.reach.enters(from) || is_final(chart, from) => continue,
            Some(from) => {
                let here = words::state(chart, from);
                let message = format!(
                    "no step and no option moves from {here} to {goal}: this permits nothing"
                );
                let leaves = |(i, line): (usize, &Transition)| {
                    let id = TransitionId::at(i);
                    let moves =
                        line.trigger.step().is_some() || matches!(line.trigger, Trigger::Choice(_));
                    let here = facts.places.line(id).covers(chart, from);
                    (moves && here && !line.targets.is_empty()).then_some(id)
                };
                let found = RULE.at(map.permissions[row], message);
                let shown = if diagnostics.len() < TOLD { SHOWN } else { 0 };
                let ways = chart.transitions.iter().enumerate().filter_map(leaves).take(shown);
                ways.fold(found, |found, id| {
                    let goal = chart.transition(id).targets.first();
                    let goal = goal.map_or_else(String::new, |t| words::state(chart, t.state));
                    found.related(map.line(id).whole, format!("from {here} this moves to {goal}"))
                })
            }
            None => RULE.at(
                map.permissions[row],
                format!("no step and no option moves to {goal}: this permits nothing"),
            ),
        };
        found = found.help("take the row out, or lead a step or an option there");
        diagnostics.push(found);
    }
}
