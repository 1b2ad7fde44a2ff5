//! How much work tests may do, in steps: units of evaluation, and a fixed number for everything that happens. Steps are counted,
//! so that every machine plays the same tests.

use chartc_core::model::Chart;

/// Steps that one test may take.
pub(crate) const OF_A_TEST: u64 = 50_000_000;

/// Steps that all tests of one `chartc check` may take together.
pub(super) const OF_A_CHECK: u64 = 10_000_000;

/// Steps for each thing that happens, or that a test does.
pub(super) const A_THING: u64 = 50;

/// Steps for each row of a chart that is prepared for a test.
const A_ROW: u64 = 20;

/// Steps for preparing these charts.
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
