//! Findings about permissions, and moves that none permits.

use super::data::is_yaml;
use super::{Context, Lint, words};
use crate::analysis::facts::conditions::implies;
use crate::analysis::facts::reach::is_final;
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, Permission, StateKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static COVERED_PERMISSION: Lint =
    Lint { rule: &rules::COVERED_PERMISSION, needs_whole: true, run: find_covered_permission };

/// The maximum number of comparisons; the lint skips tables that would need more.
const WORK: usize = 1 << 18;

fn find_covered_permission(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut by_target: BTreeMap<StateId, Vec<usize>> = BTreeMap::new();
    for (row, permission) in chart.permissions.iter().enumerate() {
        by_target.entry(permission.to).or_default().push(row);
    }
    by_target.retain(|_, rows| rows.len() > 1);
    let leaves: Vec<StateId> = facts.reach.leaves(chart).collect();
    let work: usize = by_target.values().map(|rows| rows.len() * rows.len() * leaves.len()).sum();
    if work > WORK {
        return;
    }
    for rows in by_target.values() {
        let mut lost: BTreeSet<usize> = BTreeSet::new();
        // Guarded and narrower rows are tried first; of equal rows, the later one.
        let mut order: Vec<usize> = rows.clone();
        order.sort_by_key(|row| {
            let permission = &chart.permissions[*row];
            (permission.guard.is_none(), permission.from.is_none(), std::cmp::Reverse(*row))
        });
        for row in order {
            let permission = &chart.permissions[row];
            // C0320 reports rows that no move needs.
            if !facts.scopes.used[row] {
                continue;
            }
            // An unguarded row is compared only with earlier rows: a specific row before a general one is harmless.
            let counts = |other: usize| other < row || permission.guard.is_some();
            let others = rows.iter().filter(|other| **other != row && !lost.contains(other));
            let others = others.filter(|other| counts(**other));
            let others: Vec<usize> = others.copied().collect();
            let Some(by) = covering(chart, &leaves, permission, &others) else { continue };
            lost.insert(row);
            let all: Vec<String> =
                by.iter().map(|row| written(chart, &chart.permissions[*row])).collect();
            let message = format!(
                "`{}` permits nothing new: {} permits the move already",
                written(chart, permission),
                all.iter().map(|row| format!("`{row}`")).collect::<Vec<_>>().join(" or ")
            );
            let found = rules::COVERED_PERMISSION.at(map.permissions[row], message);
            let found = by
                .iter()
                .take(3)
                .fold(found, |found, row| found.related(map.permissions[*row], "this permits it"));
            diagnostics.push(found.help("remove this row, or the one that makes it unnecessary"));
        }
    }
}

/// The rows that together permit every move of this one; `None` if it permits further moves. Moves from inside the target need no
/// permission.
fn covering(
    chart: &Chart,
    leaves: &[StateId],
    row: &Permission,
    others: &[usize],
) -> Option<Vec<usize>> {
    let history = matches!(chart.state(row.to).kind, StateKind::History { .. });
    let from = |permission: &Permission, leaf: StateId| {
        permission.from.is_none_or(|from| chart.contains(from, leaf))
    };
    let sources = leaves.iter().filter(|leaf| from(row, **leaf) && !chart.contains(row.to, **leaf));
    let mut by = BTreeSet::new();
    // The states that a history restores are not known, so nothing covers its row.
    for leaf in sources.filter(|_| !history) {
        let covers = |other: &&usize| {
            let other = &chart.permissions[**other];
            from(other, *leaf) && implies(chart, row.guard.as_ref(), other.guard.as_ref())
        };
        by.insert(*others.iter().find(covers)?);
    }
    (!by.is_empty()).then(|| by.into_iter().collect())
}

/// Formats a row as `a->b`.
fn written(chart: &Chart, row: &Permission) -> String {
    let path = |state: StateId| chart.state(state).path.as_str();
    format!("{}->{}", row.from.map_or("*", path), path(row.to))
}

// Permissions that no move needs.

pub(super) static UNUSED_PERMISSION: Lint =
    Lint { rule: &rules::UNUSED_PERMISSION, needs_whole: true, run: find_unused_permission };

/// The maximum number of alternative moves that a finding shows.
const SHOWN_MOVES: usize = 3;
/// The maximum number of findings that show alternative moves.
const TOLD: usize = 64;

fn find_unused_permission(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
                let found = rules::UNUSED_PERMISSION.at(map.permissions[row], message);
                let shown = if diagnostics.len() < TOLD { SHOWN_MOVES } else { 0 };
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
            None => rules::UNUSED_PERMISSION.at(
                map.permissions[row],
                format!("no step and no option moves to {goal}: this permits nothing"),
            ),
        };
        found = found.help("take the row out, or lead a step or an option there");
        diagnostics.push(found);
    }
}

// Moves by steps and options that the permissions of the chart forbid.

pub(super) static FORBIDDEN_MOVE: Lint =
    Lint { rule: &rules::FORBIDDEN_MOVE, needs_whole: true, run: find_forbidden_move };

fn find_forbidden_move(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
            let mut found = rules::FORBIDDEN_MOVE.at(span, message).help(help);
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

// Wording of findings about moves that a permission never permits.

/// The maximum number of steps that are shown.
const SHOWN_STEPS: usize = 3;

/// The effect of a permission whose condition never holds.
pub(super) struct Refused {
    /// The effect as a clause, such as "`s` can never move to `b`".
    pub(super) so: String,
    /// The steps whose moves are refused, because no other row permits them.
    steps: BTreeSet<StepId>,
}

/// Determines the moves that are refused if the condition of the row never holds.
pub(super) fn refused(context: &Context<'_>, row: usize) -> Refused {
    let Context { chart, facts, .. } = context;
    let permission = &chart.permissions[row];
    let goal = words::state(chart, permission.to);
    let inside = |outer: Option<StateId>, inner: Option<StateId>| match (outer, inner) {
        (None, _) => true,
        (Some(outer), Some(inner)) => chart.contains(outer, inner),
        (Some(_), None) => false,
    };
    let others = chart.permissions.iter().enumerate().filter(|(i, _)| *i != row);
    // Another row may permit the same moves.
    let is_alone = others.map(|(_, other)| other).all(|other| {
        let overlaps = inside(other.from, permission.from) || inside(permission.from, other.from);
        other.to != permission.to || !overlaps
    });
    let mut steps = BTreeSet::new();
    let mut options = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let meets =
            |s: &StateId| inside(permission.from, Some(*s)) || inside(Some(*s), permission.from);
        let here = facts.scopes.transition(id).within.iter().any(meets);
        if !is_alone || !here || !transition.targets.iter().any(|t| t.state == permission.to) {
            continue;
        }
        if matches!(transition.trigger, Trigger::Choice(_)) {
            options.push(words::transition(chart, id));
        }
        steps.extend(transition.trigger.step());
    }
    let movers: Vec<String> =
        steps.iter().map(|step| words::step(chart, *step)).chain(options).collect();
    let so = match (&movers[..], permission.from) {
        ([], _) => format!("this never permits the move to {goal}"),
        ([one], None) => format!("{one} can never move to {goal}"),
        ([one], Some(from)) => {
            format!("{one} can never move from {} to {goal}", words::state(chart, from))
        }
        (movers, _) => format!("{} can never move to {goal}", words::row(movers)),
    };
    Refused { so, steps }
}

impl Refused {
    /// Adds the positions of the steps to the finding.
    pub(super) fn related(&self, context: &Context<'_>, found: Diagnostic) -> Diagnostic {
        let steps = self.steps.iter().take(SHOWN_STEPS);
        steps.fold(found, |found, step| {
            found.related(context.map.step(*step).name, "its move is always refused")
        })
    }
}
