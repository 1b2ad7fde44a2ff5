//! Bounds on the work of tests, in steps. A unit of evaluation is a step, and everything that happens counts as a fixed number of steps.
//! Time is not measured, so that every machine plays the same tests.

use chartc_core::model::Chart;

/// The maximum number of steps of one test.
pub(crate) const OF_A_TEST: u64 = 50_000_000;

/// The maximum number of steps of all tests of one `chartc check` together.
pub(super) const OF_A_CHECK: u64 = 10_000_000;

/// The number of steps that each line of the trace, and each thing that a test does, counts as.
pub(super) const A_THING: u64 = 50;

/// The number of steps that preparing each row of a chart counts as.
const A_ROW: u64 = 20;

/// The number of steps that preparing these charts counts as.
pub(super) fn setting_up<'c>(charts: impl Iterator<Item = &'c Chart>) -> u64 {
    let rows = |chart: &Chart| {
        chart.states.len()
            + chart.transitions.len()
            + chart.variables.len()
            + chart.events.len()
            + chart.steps.len()
            + chart.choices.len()
            + chart.types.len()
            + chart.tools.len()
    };
    charts.map(|chart| rows(chart) as u64 * A_ROW).sum()
}
