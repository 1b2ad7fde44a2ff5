//! Facts about a chart, for lints and `check` lines. Findings are made in `lint`.

use chartc_core::model::Chart;

/// What the analyses found out about one chart.
#[derive(Debug, Clone)]
pub struct Facts {}

impl Facts {
    /// Runs every analysis.
    pub fn of(_chart: &Chart) -> Self {
        Self {}
    }
}
