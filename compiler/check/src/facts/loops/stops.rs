//! Thresholds for widening: the numbers at which a growing bound of a counter stops first.

use crate::facts::counter::{bounds, value};
use crate::facts::interval::Range;
use crate::facts::uses::{own_walk, written};
use chartc_core::arena::VarId;
use chartc_core::model::{Action, Chart, Expr};

/// The numbers that the chart relates to the counter (its initial value, bounds and assigned numbers), each with its neighbors.
/// Ascending.
pub(super) fn stops(chart: &Chart, counter: VarId, first: Range) -> Vec<i64> {
    let mut stops: Vec<i64> = [first.low, first.high].into_iter().flatten().collect();
    let mut named = |e: &Expr| {
        own_walk(e, &mut |e| {
            let range = value(chart, e, counter, Range::default());
            let ends = [range.low, range.high].into_iter().flatten();
            // `x < 3` is decided at 2 and 3, `x <= 3` at 3 and 4.
            stops.extend(ends.flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]));
        });
    };
    let guards = chart.transitions.iter().filter_map(|transition| transition.guard.as_ref());
    for bound in guards.flat_map(|guard| bounds(chart, guard)) {
        if bound.counter == counter {
            named(bound.than);
        }
    }
    for block in written(chart) {
        Action::walk(block, &mut |action| match action {
            Action::Assign(id, e) if *id == counter => named(e),
            Action::If(e, ..) => named(e),
            _ => {}
        });
    }
    stops.sort_unstable();
    stops.dedup();
    stops
}

/// Moves each bound that has grown outward to the next threshold. A bound beyond all thresholds becomes unbounded.
pub(super) fn widened(known: Range, joined: Range, stops: &[i64]) -> Range {
    let low = if joined.low == known.low {
        joined.low
    } else {
        joined.low.and_then(|n| stops.iter().rev().find(|s| **s <= n).copied())
    };
    let high = if joined.high == known.high {
        joined.high
    } else {
        joined.high.and_then(|n| stops.iter().find(|s| **s >= n).copied())
    };
    Range { low, high }
}
