//! Many agents at a glance: where they are now, on a line or as bars, and over time as a plot.

mod bars;
mod plot;

pub(super) use bars::bars;
pub(super) use plot::plot;

use super::columns::cut;
use chartc_world::{Census, Distribution};

/// How to draw: with what the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// Columns.
    pub(super) width: usize,
    /// Whether there are block elements; otherwise only ASCII.
    pub(super) is_unicode: bool,
}

/// The colours of states, in turn.
const COLOURS: [&str; 6] = ["36", "32", "33", "35", "34", "31"];

fn colour(nth: usize) -> &'static str {
    COLOURS[nth % COLOURS.len()]
}

/// Where the agents of each chart are, the fullest states first, on one line: for the foot of a terminal.
pub(super) fn at_a_glance(census: &Census) -> String {
    let charts = census.state_distribution();
    let one = |chart: &Distribution| {
        let words = fullest(chart);
        if charts.len() == 1 { words } else { format!("{}: {words}", name(&chart.chart)) }
    };
    charts.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The states of a chart with somebody in them, the fullest first; where runs have ended, that, too.
pub(super) fn fullest(chart: &Distribution) -> String {
    let mut rows: Vec<_> = chart.states.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.iter()
        .map(|row| format!("{} {}", state(&row.state), row.count))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A state, the chart itself as `*`.
fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

/// A chart; without its first line, a trace does not name it.
pub(super) fn name(chart: &str) -> &str {
    if chart.is_empty() { "a chart without its `run` line" } else { chart }
}

/// The names of states, each cut so that there is room for what is beside them.
fn labels<'s>(paths: impl Iterator<Item = &'s str>, style: Style) -> Vec<String> {
    let most = (style.width / 3).clamp(12, 40);
    // The end of a path says most.
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
