//! Facts about a chart that several lints use. The lints in `lint` turn them into findings.
//!
//! Every fact over-approximates: an undecided guard may hold, a host may send any event at any time, a model may give any answer.
//! So claims that something cannot happen are sound, and only those are reported.

pub mod asking;
pub mod counter;
pub mod counting;
pub mod cover;
pub mod deadline;
pub mod drive;
pub mod endless;
pub(crate) mod finite;
pub(crate) mod formula;
pub mod gap;
pub mod graph;
pub mod guard;
pub mod handling;
pub(crate) mod hash;
pub(crate) mod interval;
pub(crate) mod known_values;
pub mod livelock;
pub mod loops;
pub mod progress;
pub mod range;
pub mod reach;
pub mod restart;
pub mod scope;
pub(crate) mod term;
pub mod usage;
pub mod uses;
pub mod witness;

use chartc_core::arena::{EventId, StepId, TransitionId};
use chartc_core::model::Chart;
use graph::Moves;
use range::Ranges;
use reach::Reach;
use scope::ScopeConditions;
use std::collections::BTreeSet;

/// The facts that the analyses have established about one chart.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The bounds of variables.
    pub ranges: Ranges,
    /// The states in which each transition and each step may act.
    pub scopes: ScopeConditions,
    /// The reachable states, and how each is entered.
    pub reach: Reach,
    /// The graph of possible moves.
    pub moves: Moves,
    /// Deadlines that never fire: see [`deadline::dead`].
    pub late: BTreeSet<TransitionId>,
    /// Events that may be forwarded to child charts: see [`handling::passed`]. Empty unless the caller determines them.
    pub passed: BTreeSet<EventId>,
    /// `run` steps whose chart cannot fail: see `explore::child`. Empty unless the caller determines them.
    pub sure: BTreeSet<StepId>,
}

impl Facts {
    /// Runs the analyses that several lints need. Linear in the size of the chart, up to logarithms.
    pub fn new(chart: &Chart) -> Self {
        let ranges = Ranges::new(chart);
        let scopes = ScopeConditions::new(chart, &ranges);
        let reach = Reach::compute(chart, &scopes);
        let moves = Moves::new(chart, &scopes, &reach);
        let (late, passed, sure) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut facts = Self { ranges, scopes, reach, moves, late, passed, sure };
        facts.late = deadline::dead(chart, &facts).iter().map(|dead| dead.transition).collect();
        facts
    }
}
