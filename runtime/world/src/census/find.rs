//! Resolves the name of a state in a query.

use super::rows::last;
use super::{Census, ChartIndex};
use std::collections::BTreeSet;

/// The error of a query for a state that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No chart has a state with this name.
    #[error("no agent's chart has a state `{state}`")]
    State {
        /// The name in the query.
        state: String,
        /// All valid names: charts, paths, last segments of paths, and paths after the name of their chart.
        known: Vec<String>,
    },
    /// Several states have this name.
    #[error("`{state}` is ambiguous: {}", several.join(", "))]
    Ambiguous {
        /// The name in the query.
        state: String,
        /// The paths of these states.
        several: Vec<String>,
    },
}

impl Census {
    /// The states that a name stands for, as charts and rows. They are several only if several charts have a state with the same path.
    pub(super) fn find(&self, state: &str) -> Result<Vec<(ChartIndex, usize)>, Unknown> {
        let exact: Vec<(ChartIndex, usize)> = (self.charts.iter().enumerate())
            .filter(|(_, rows)| !state.is_empty() || rows.agents() > 0)
            .filter_map(|(chart, rows)| Some((chart, rows.by_path(state)?)))
            .collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
        // An exact path has priority over `Chart.path`, and that over the last segment of a path.
        let (chart, inside) = state.split_once('.').unwrap_or((state, ""));
        let named = self.charts.iter().position(|rows| !chart.is_empty() && rows.chart() == chart);
        if let Some(chart) = named {
            let rows = &self.charts[chart];
            if let Some(index) = rows.by_path(inside) {
                return Ok(vec![(chart, index)]);
            }
            return self.only(state, rows.by_name(inside).iter().map(|index| (chart, *index)));
        }
        let named =
            self.charts.iter().enumerate().flat_map(|(chart, rows)| {
                rows.by_name(state).iter().map(move |index| (chart, *index))
            });
        self.only(state, named)
    }

    /// Returns the rows if all of them have the same path.
    fn only(
        &self,
        state: &str,
        rows: impl Iterator<Item = (ChartIndex, usize)>,
    ) -> Result<Vec<(ChartIndex, usize)>, Unknown> {
        let rows: Vec<(ChartIndex, usize)> = rows.collect();
        let path = |(chart, index): &(ChartIndex, usize)| self.charts[*chart].path(*index);
        let paths: BTreeSet<&str> = rows.iter().map(path).collect();
        match paths.len() {
            0 => Err(Unknown::State { state: state.to_owned(), known: self.known() }),
            1 => Ok(rows),
            _ => Err(Unknown::Ambiguous {
                state: state.to_owned(),
                several: paths.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    /// All names that a query can use.
    fn known(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        for rows in &self.charts {
            known.insert(rows.chart().to_owned());
            for path in rows.paths().filter(|path| !path.is_empty()) {
                known.insert(path.to_owned());
                known.insert(last(path).to_owned());
                known.insert(format!("{}.{path}", rows.chart()));
            }
        }
        known.into_iter().filter(|name| !name.is_empty()).collect()
    }
}
