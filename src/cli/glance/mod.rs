//! Shows many agents at a glance: their states now, on a line or as bars, and over time as plots.
//!
//! A census counts the agents in each state. For three agents of a chart `Trader` with the states `idle` and `busy`:
//!
//! ```text
//! idle 2, busy 1          a line: `at_a_glance`
//!   idle  2   67%  ████   bars: `bars`
//!   busy  1   33%  ██
//!   idle  2  ▆▆▆▃▃▆       a plot over time: `plot`
//!   busy  1  ▁▁▁▄▄▁
//! ```

mod bars;
mod plot;

pub(super) use bars::bars;
pub(super) use plot::plot;

use super::columns::cut;
use chartc_world::{Census, Distribution};

/// The drawing style: what the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// The width in columns.
    pub(super) width: usize,
    /// Whether block elements can be shown. Otherwise only ASCII is used.
    pub(super) is_unicode: bool,
}

/// The colours of states as SGR codes, in turn.
const COLOURS: [&str; 6] = ["36", "32", "33", "35", "34", "31"];

fn colour(nth: usize) -> &'static str {
    COLOURS[nth % COLOURS.len()]
}

/// The number of agents in each state, by chart, on one line: the fullest states first.
pub(super) fn at_a_glance(census: &Census) -> String {
    let charts = census.state_distribution();
    let one = |chart: &Distribution| {
        let words = fullest(chart);
        if charts.len() == 1 { words } else { format!("{}: {words}", name(&chart.chart)) }
    };
    charts.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The states of a chart that contain an agent or in which runs have ended, the fullest first.
pub(super) fn fullest(chart: &Distribution) -> String {
    let mut rows: Vec<_> = chart.states.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.iter()
        .map(|row| format!("{} {}", state(&row.state), row.count))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The name of a state; `*` for the chart itself.
fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

/// The name of a chart. A trace without its first line does not name it.
pub(super) fn name(chart: &str) -> &str {
    if chart.is_empty() { "a chart without its `run` line" } else { chart }
}

/// The names of states, each cut to a third of the width.
fn labels<'s>(paths: impl Iterator<Item = &'s str>, style: Style) -> Vec<String> {
    let most = (style.width / 3).clamp(12, 40);
    // The end of a path says most: it is the state itself.
    let short = |path: &str| {
        let path = state(path);
        let count = path.chars().count();
        if count <= most {
            return path.to_owned();
        }
        let end: String = path.chars().skip(count - (most - 2)).collect();
        cut(&format!("..{end}"), most)
    };
    paths.map(short).collect()
}
