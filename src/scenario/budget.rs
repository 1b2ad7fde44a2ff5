//! How much tests may do, in steps: units of evaluation, and so many for each thing that happens. They are counted, so that the same
//! tests are played on every machine.

use chartc_core::model::Chart;

/// Steps that one test may take.
pub(crate) const OF_A_TEST: u64 = 50_000_000;

/// Steps that all tests of one `chartc check` may take together.
pub(super) const OF_A_CHECK: u64 = 10_000_000;

/// Steps of one thing that happens, or that a test does.
pub(super) const A_THING: u64 = 50;

/// Steps of one row of a chart that is made ready for a test.
const A_ROW: u64 = 20;

/// What making these charts ready takes.
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
