//! Permissions that permit only moves that other permissions permit already.

use super::{Context, Lint};
use crate::facts::guard::implies;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Permission, StateKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::COVERED_PERMISSION;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &COVERED_PERMISSION, needs_whole: true, run };

/// The maximum number of comparisons; the lint skips tables that would need more.
const WORK: usize = 1 << 18;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
            let found = COVERED_PERMISSION.at(map.permissions[row], message);
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
