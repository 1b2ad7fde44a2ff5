//! The transition table (the `allow` lines): the moves that it permits, and their conditions.

use chartc_check::notation;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Expr, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// The permissions of a chart.
pub(crate) struct Table<'c> {
    chart: &'c Chart,
    /// The targets of the rows from `*`.
    anywhere: BTreeSet<StateId>,
    /// The conditions of the other rows, by target and source; `None` for a row without a condition.
    rows: BTreeMap<(StateId, StateId), Vec<Option<&'c Expr>>>,
}

impl<'c> Table<'c> {
    pub(crate) fn new(chart: &'c Chart) -> Option<Self> {
        if chart.permissions.is_empty() {
            return None;
        }
        let mut table = Self { chart, anywhere: BTreeSet::new(), rows: BTreeMap::new() };
        for permission in &chart.permissions {
            match permission.from {
                None => {
                    table.anywhere.insert(permission.to);
                }
                Some(from) => {
                    let row = table.rows.entry((permission.to, from)).or_default();
                    row.push(permission.guard.as_ref());
                }
            }
        }
        Some(table)
    }

    /// Whether no row permits a move to `target` from `source`, its ancestors or its descendants.
    pub(crate) fn forbids(&self, source: StateId, target: StateId) -> bool {
        let end = self.chart.state(source).end;
        !self.anywhere.contains(&target)
            // A subtree is a range of ids, so its rows for one target are a range of keys.
            && self.rows.range((target, source)..(target, end)).next().is_none()
            && !self.chart.ancestors(source).any(|above| self.rows.contains_key(&(target, above)))
    }

    /// The condition under which the rows of exactly this move permit it. `None` if a row permits it without one.
    pub(crate) fn condition(&self, source: StateId, target: StateId) -> Option<String> {
        let guards = self.rows.get(&(target, source))?;
        if self.anywhere.contains(&target) || guards.iter().any(Option::is_none) {
            return None;
        }
        let guards = guards.iter().flatten().map(|g| notation::expression(self.chart, g));
        Some(guards.collect::<Vec<_>>().join(" or "))
    }
}

/// Whether the transition needs a permission: it is a move by a step, or by the choice of an option.
pub(crate) fn is_bound(transition: &Transition) -> bool {
    transition.trigger.step().is_some() || matches!(transition.trigger, Trigger::Choice(_))
}
