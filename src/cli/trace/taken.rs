//! Counts how often runs took the transitions of a chart.

use super::read::read;
use crate::cli::output::complain;
use chartc_check::compile::Checked;
use chartc_core::arena::TransitionId;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::trace::{LineName, What};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Counts each transition over all traces. Returns `None` if there are no traces.
///
/// # Errors
/// A trace cannot be read, or has no run of this chart.
pub(in crate::cli) fn taken(
    checked: &Checked,
    traces: &[PathBuf],
) -> miette::Result<Option<BTreeMap<TransitionId, u64>>> {
    if traces.is_empty() {
        return Ok(None);
    }
    let chart = checked.chart();
    let own = format!("{:016x}", Plan::new(chart).tables().hash);
    let mut counts: BTreeMap<TransitionId, u64> = BTreeMap::new();
    for path in traces {
        let trace = read(path)?;
        for fault in &trace.faults {
            complain(format!("warning: {fault}"));
        }
        let charts = trace.charts();
        if !charts.values().any(|name| *name == chart.name) {
            let names: Vec<&str> = charts.values().copied().collect();
            return Err(miette::miette!(
                help = "name the chart of the trace",
                "{} is a run of {}, not of `{}`",
                trace.name,
                names.join(", "),
                chart.name
            ));
        }
        let is_other = |what: &What| matches!(what, What::Run { chart: name, hash, calls_per_turn: None, .. } if *name == chart.name && *hash != own);
        if trace.lines.iter().any(|line| is_other(&line.what)) {
            complain(format!(
                "warning: {} is a run of another version of `{}`: transitions are counted by their position",
                trace.name, chart.name
            ));
        }
        for line in &trace.lines {
            if let What::Taken { line: name, .. } = &line.what
                && charts.get(line.child.as_str()).is_some_and(|of| *of == chart.name)
                && let Some(id) = find(chart, name)
            {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    Ok(Some(together(checked, &counts)))
}

/// The transition that a trace names by its source state and number.
fn find(chart: &Chart, name: &LineName) -> Option<TransitionId> {
    let source = chart.state_ids().find(|id| chart.state(*id).path == name.state)?;
    let mut own = (0..chart.transitions.len()).map(TransitionId::at);
    let nth = name.nth.checked_sub(1)? as usize;
    own.by_ref().filter(|id| chart.transition(*id).source == source).nth(nth)
}

/// Gives all transitions of one source line the sum of their counts: a picture shows the line once.
fn together(
    checked: &Checked,
    counts: &BTreeMap<TransitionId, u64>,
) -> BTreeMap<TransitionId, u64> {
    let whole = |id: TransitionId| checked.map().transition(id).whole;
    let mut written = BTreeMap::new();
    for (id, times) in counts {
        *written.entry(whole(*id)).or_insert(0) += times;
    }
    let all = (0..checked.chart().transitions.len()).map(TransitionId::at);
    all.filter_map(|id| Some((id, *written.get(&whole(id))?))).collect()
}
