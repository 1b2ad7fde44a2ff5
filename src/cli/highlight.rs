//! Finds the states that a command highlights.

use chartc_core::arena::StateId;
use chartc_core::model::Chart;
use chartc_text::diagnostic::nearest;
use std::collections::BTreeSet;

/// Finds the states that `wanted` names. A name is the dotted path of a state, or the end of a path that belongs to one state only.
///
/// # Errors
/// A name belongs to no state, or to several.
pub(super) fn states(chart: &Chart, wanted: &[String]) -> miette::Result<BTreeSet<StateId>> {
    wanted.iter().map(|name| state(chart, name)).collect()
}

/// Finds the state that `wanted` names, as [`states`] does.
///
/// # Errors
/// The name belongs to no state, or to several.
pub(super) fn state(chart: &Chart, wanted: &str) -> miette::Result<StateId> {
    // State 0 is the chart itself.
    let all = || chart.state_ids().skip(1);
    if let Some(found) = all().find(|id| chart.state(*id).path == wanted) {
        return Ok(found);
    }
    let is_end = |path: &str| {
        path.strip_suffix(wanted).is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    let found: Vec<StateId> =
        all().filter(|id| !wanted.is_empty() && is_end(&chart.state(*id).path)).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => {
            let paths = all().map(|id| chart.state(id).path.as_str());
            let names = all().map(|id| chart.state(id).name.as_str());
            let fault = format!("{} has no state `{wanted}`", chart.name);
            Err(match nearest(wanted, paths.chain(names)) {
                Some(near) => miette::miette!("{fault}; did you mean `{near}`?"),
                None => miette::miette!("{fault}"),
            })
        }
        [first, second, ..] => Err(miette::miette!(
            "{} has several states `{wanted}`: `{}`, `{}`{}; give the whole path",
            chart.name,
            chart.state(*first).path,
            chart.state(*second).path,
            if found.len() > 2 { ", …" } else { "" }
        )),
    }
}
