//! Over-approximates limits of turns and calls: a limit may be reached at any time. This includes every run of the chart and has far
//! fewer points, because keys omit the counters of limits. Each input is tried once for each combination of limits that are reached and
//! limits that are not: the machine's counters are set to a number just before the bound, or far from it.

use super::relevant::Relevant;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Limits};

/// The maximum number of combinations of reached and unreached limits. If there are more, keys keep the counters.
const MOST: usize = 12;

/// The values to which the counters of a state's limits are set: its calls, then its turns. `None` keeps a counter as it is.
pub(super) type CounterValues = (StateId, Option<u32>, Option<u32>);

/// The limits whose counters keys leave out.
#[derive(Debug, Default)]
pub(super) struct AbstractLimits {
    /// By limited state: whether the counter of its calls is left out, and that of its turns.
    states: Vec<(StateId, bool, bool)>,
    /// The combinations of values of the counters. In the first, all are far from their bounds, if possible.
    pub(super) combinations: Vec<Vec<CounterValues>>,
}

impl AbstractLimits {
    /// Collects the limits whose counters nothing else reads. `calls` and `turns` tell which counters may be left out.
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>, calls: bool, turns: bool) -> Self {
        let mut made = Self { states: Vec::new(), combinations: vec![Vec::new()] };
        for state in chart.state_ids() {
            let limits = &chart.state(state).limits;
            let calls = calls && (limits.calls.is_some() || limits.calls_warn.is_some());
            let turns = turns
                && (limits.turns.is_some() || limits.turns_warn.is_some())
                && !relevant.counters.turns_in.contains_key(&state);
            if !calls && !turns {
                continue;
            }
            let calls_ways = if calls { call_classes(limits) } else { vec![None] };
            let turns_ways = if turns { turn_classes(limits) } else { vec![None] };
            let count = made.combinations.len() * calls_ways.len() * turns_ways.len();
            if count > MOST {
                continue;
            }
            let mut ways = Vec::with_capacity(count);
            for way in &made.combinations {
                for calls in &calls_ways {
                    for turns in &turns_ways {
                        let mut way = way.clone();
                        way.push((state, *calls, *turns));
                        ways.push(way);
                    }
                }
            }
            made.combinations = ways;
            made.states.push((state, calls, turns));
        }
        made
    }

    /// Whether no limit is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether the counter of a state's calls is left out, and that of its turns.
    pub(super) fn omits(&self, state: StateId) -> (bool, bool) {
        let row = self.states.iter().find(|(s, ..)| *s == state);
        row.map_or((false, false), |(_, calls, turns)| (*calls, *turns))
    }
}

/// A bound as the tables of a chart store it; `u32::MAX` for numbers that do not fit.
fn bound(n: Option<i64>) -> Option<u32> {
    n.map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// A number of calls of each class: the next call is normal, causes a warning, or is forbidden.
fn call_classes(limits: &Limits) -> Vec<Option<u32>> {
    let (hard, warn) = (bound(limits.calls), bound(limits.calls_warn));
    let class = |n: u32| (hard.is_some_and(|hard| n >= hard), Some(n.saturating_add(1)) == warn);
    one_of_each(class, [warn.unwrap_or(0).saturating_sub(1), hard.unwrap_or(0)])
}

/// A number of turns of each class: the next turn is normal, causes a warning, or is the last.
fn turn_classes(limits: &Limits) -> Vec<Option<u32>> {
    let (hard, warn) = (bound(limits.turns), bound(limits.turns_warn));
    let class = |n: u32| (Some(n.saturating_add(1)) == hard, Some(n.saturating_add(1)) == warn);
    let before = |bound: Option<u32>| bound.unwrap_or(0).saturating_sub(1);
    one_of_each(class, [before(warn), before(hard)])
}

/// The first number of each class. `bounds` are the numbers at which the class may change.
fn one_of_each(class: impl Fn(u32) -> (bool, bool), bounds: [u32; 2]) -> Vec<Option<u32>> {
    let mut found: Vec<((bool, bool), u32)> = Vec::new();
    let mut put = |n: u32| {
        let class = class(n);
        if !found.iter().any(|(other, _)| *other == class) {
            found.push((class, n));
        }
    };
    // The class changes only near a bound, so these numbers include one of each.
    let [a, b] = bounds;
    for n in [0, 1, 2, a.saturating_add(1), b.saturating_add(1), a, b] {
        put(n);
    }
    // The class without warning and limit sorts first.
    found.sort_by_key(|(class, _)| *class);
    found.into_iter().map(|(_, n)| Some(n)).collect()
}
