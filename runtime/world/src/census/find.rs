//! Which state a query means.

use super::rows::last;
use super::{Census, ChartIndex};
use std::collections::BTreeSet;

/// A state that cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No chart has it.
    #[error("no agent's chart has a state `{state}`")]
    State {
        /// What was asked for.
        state: String,
        /// The states that there are: paths, and behind their charts where there is more than one.
        known: Vec<String>,
    },
    /// Several paths end so.
    #[error("`{state}` is ambiguous: {}", several.join(", "))]
    Ambiguous {
        /// What was asked for.
        state: String,
        /// What it may mean.
        several: Vec<String>,
    },
}

impl Census {
    /// The rows that a query means: more than one only if several charts have the same path.
    pub(super) fn find(&self, state: &str) -> Result<Vec<(ChartIndex, usize)>, Unknown> {
        let exact: Vec<(ChartIndex, usize)> = (self.charts.iter().enumerate())
            .filter(|(_, rows)| !state.is_empty() || rows.agents() > 0)
            .filter_map(|(chart, rows)| Some((chart, rows.by_path(state)?)))
            .collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
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

    /// Those rows, if all have the same path.
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

    /// Everything that a query may name.
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
