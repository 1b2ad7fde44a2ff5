//! `when` lines that, once taken, are taken for ever.

use super::Facts;
use super::guard::{Verdict, decide, implies};
use super::reach::{entries, is_leaf};
use super::uses::{changes, reads};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::model::{Chart, Expr, StateKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// Longest circle that is looked for.
const LONGEST: usize = 64;

/// A circle of `when` lines: one of their guards makes all of them hold, none of them changes what it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Livelock {
    /// In the order taken; the first has the least id.
    pub lines: Vec<TransitionId>,
    /// The line whose guard starts it.
    pub given: TransitionId,
}

/// Every circle, by its first line. A circle is certain: from the first line on, at each state the line that is tried first among those
/// that may hold is the next of the circle.
pub fn livelocks(chart: &Chart, facts: &Facts) -> Vec<Livelock> {
    let mut found = BTreeMap::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if line.trigger != Trigger::When || !facts.reach.takes(id) {
            continue;
        }
        let leaves =
            facts.places.line(id).within.iter().filter_map(|s| first_leaf(chart, facts, *s));
        for leaf in leaves {
            if let Some(circle) = circle(chart, facts, id, leaf) {
                found.entry(circle).or_insert(id);
            }
        }
    }
    found.into_iter().map(|(lines, given)| Livelock { lines, given }).collect()
}

/// A leaf of the place in which a targetless line may be taken; for others the leaf does not matter.
fn first_leaf(chart: &Chart, facts: &Facts, state: StateId) -> Option<StateId> {
    let mut below = (state.0..chart.state(state).end.0).map(StateId);
    below.find(|s| is_leaf(chart, *s) && facts.reach.enters(*s))
}

/// Follows the lines that are certainly taken after `first`.
fn circle(
    chart: &Chart,
    facts: &Facts,
    first: TransitionId,
    leaf: StateId,
) -> Option<Vec<TransitionId>> {
    let guard = chart.transition(first).guard.as_ref();
    let mut watched: BTreeSet<VarId> = BTreeSet::new();
    let local = guard.is_some_and(|g| reads(chart, g, &mut watched));
    let mut lines = vec![first];
    let (mut at, mut line) = (leaf, first);
    if !lonely(chart, leaf) {
        return None;
    }
    while lines.len() <= LONGEST {
        let taken = chart.transition(line);
        if !taken.targets.is_empty() {
            if local {
                return None;
            }
            at = landing(chart, taken)?;
        }
        if changes(chart, taken, at, &watched) {
            return None;
        }
        let next = forced(chart, facts, at, guard)?;
        if next == first {
            let least = (0..lines.len()).min_by_key(|i| lines[*i]).unwrap_or(0);
            lines.rotate_left(least);
            return Some(lines);
        }
        if lines.contains(&next) {
            return None;
        }
        lines.push(next);
        line = next;
    }
    None
}

/// The one leaf that a line enters, if it is one and no other region is at work.
pub(super) fn landing(chart: &Chart, line: &Transition) -> Option<StateId> {
    let entered = entries(chart, line);
    let [mut at] = entered[..] else { return None };
    loop {
        match &chart.state(at).kind {
            StateKind::Atomic => break,
            StateKind::Compound { initial } => match initial[..] {
                [only] if chart.state(at).default_actions.is_empty() => at = only,
                _ => return None,
            },
            StateKind::Final { .. } | StateKind::Parallel | StateKind::History { .. } => {
                return None;
            }
        }
    }
    lonely(chart, at).then_some(at)
}

/// Whether no other region can be at work while the leaf is active.
pub(super) fn lonely(chart: &Chart, leaf: StateId) -> bool {
    chart.ancestors(leaf).all(|s| !matches!(chart.state(s).kind, StateKind::Parallel))
}

/// The `when` line that is certainly taken in a leaf while `given` holds: the first that may hold must hold.
fn forced(
    chart: &Chart,
    facts: &Facts,
    leaf: StateId,
    given: Option<&Expr>,
) -> Option<TransitionId> {
    for state in chart.ancestors(leaf) {
        for id in &chart.state(state).transitions {
            let line = chart.transition(*id);
            if line.trigger != Trigger::When || !facts.places.line(*id).covers(chart, leaf) {
                continue;
            }
            let guard = line.guard.as_ref();
            if implies(chart, given, guard) {
                return Some(*id);
            }
            let goals: Vec<_> = [given, guard].into_iter().flatten().map(|g| (g, true)).collect();
            if decide(chart, &goals) != Verdict::Never {
                return None;
            }
        }
    }
    None
}
