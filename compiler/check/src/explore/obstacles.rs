//! The reasons why an exploration cannot try everything.

use super::shared::ExploreContext;
use chartc_core::model::{Chart, Step, StepKind};
use std::collections::BTreeSet;

/// The reasons that are known before anything is tried, in words.
pub(super) fn obstacles(context: &ExploreContext<'_>) -> BTreeSet<String> {
    let ExploreContext { chart, relevant, .. } = context;
    let mut reasons = BTreeSet::new();
    reasons.extend(opaque_charts(chart));
    // The length of a list decides whether its step fails, and it is not among the values that are compared.
    let each = chart.steps.iter().filter(|step| step.each.is_some());
    reasons.extend(each.map(|step| format!("`{}` goes through a list", step.name)));
    let counters = &relevant.counters;
    let reads = [
        (counters.time, "the time is read"),
        (counters.last_result, "`last_result` is read"),
        (counters.repeated, "`repeated` is read"),
        (counters.advice, "`advice` is read"),
    ];
    reasons.extend(reads.iter().filter(|(read, _)| *read).map(|(_, why)| (*why).to_owned()));
    reasons
}

/// The `run` steps with the names of their charts, in words.
pub(super) fn opaque_charts(chart: &Chart) -> Vec<String> {
    let run = |row: &Step| {
        let StepKind::Run(run) = &row.kind else { return None };
        Some(format!("`{}` runs {}", row.name, run.chart))
    };
    chart.steps.iter().filter_map(run).collect()
}
