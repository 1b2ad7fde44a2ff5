//! Facts about a chart, for lints and `check` lines. Findings are made in `lint`.
//!
//! Whatever says "can" counts too much rather than too little: a guard that is not decided may hold, a host may send any event at
//! any time, a model may give any answer. So "cannot" is certain, and only "cannot" is reported.

pub mod answers;
pub mod asking;
pub mod calls;
pub mod cheapest;
pub mod child;
mod commands;
pub mod cost;
pub mod counter;
pub mod counting;
pub mod cover;
pub mod dataflow;
pub mod deadline;
pub mod detour;
pub mod drive;
pub mod echo;
pub mod endless;
pub mod explore;
pub mod failing;
mod finite;
pub mod flow;
mod formula;
pub mod gap;
pub mod graph;
pub mod growing;
pub mod guard;
pub mod handling;
mod hash;
mod held;
pub mod idle;
pub mod implied;
pub mod index;
mod interval;
pub mod limits;
pub mod livelock;
pub mod miscount;
pub mod offering;
pub mod overlap;
pub mod passing;
pub mod place;
pub mod progress;
pub mod range;
pub mod reach;
pub mod restart;
pub mod rounds;
pub mod stuck;
mod term;
pub mod timing;
pub mod tooling;
mod turns;
pub mod unreached;
pub mod usage;
pub mod uses;
pub mod waiting;
pub mod witness;
pub mod wording;

use chartc_core::arena::{EventId, StateId, StepId};
use chartc_core::model::Chart;
use explore::property::{Properties, Verdict};
use explore::seen::Seen;
use graph::Moves;
use place::Places;
use range::Ranges;
use reach::Reach;
use std::collections::BTreeSet;

/// What the analyses found out about one chart.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Between what bounds variables stay.
    pub ranges: Ranges,
    /// Where each line and each step may act.
    pub places: Places,
    /// What can be entered, and how.
    pub reach: Reach,
    /// Who leads where.
    pub moves: Moves,
    /// Events that charts which it runs may take from it: see [`handling::passed`]. Empty as long as nobody says which these are.
    pub passed: BTreeSet<EventId>,
    /// `run` steps whose chart cannot fail: see [`child`]. Empty as long as nobody says which these are.
    pub sure: BTreeSet<StepId>,
    /// What the runs of the chart do, where every one of them was tried.
    pub seen: Option<Seen>,
    /// What became of the `check` lines, in their order; empty where they were not tried.
    pub checks: Vec<Verdict>,
}

impl Facts {
    /// Runs the analyses that more than one lint needs. Linear in the size of the chart, up to logarithms.
    pub fn of(chart: &Chart) -> Self {
        let ranges = Ranges::of(chart);
        let places = Places::of(chart, &ranges);
        let reach = Reach::of(chart, &places);
        let moves = Moves::of(chart, &places, &reach);
        Self {
            ranges,
            places,
            reach,
            moves,
            passed: BTreeSet::new(),
            sure: BTreeSet::new(),
            seen: None,
            checks: Vec::new(),
        }
    }

    /// Tries every run, if the chart is small and its data finite.
    pub fn look(&mut self, chart: &Chart) {
        self.seen = Seen::of(chart);
    }

    /// Whether some run may enter a state.
    pub fn enters(&self, state: StateId) -> bool {
        let seen = self.seen.as_ref().is_none_or(|seen| seen.entered[state.index()]);
        seen && self.reach.enters(state)
    }

    /// Decides the `check` lines, looking at so many states for each, and keeps what the runs do if all of them were tried.
    pub fn prove(&mut self, chart: &Chart, states: usize) {
        (self.checks, self.seen) = Properties::of(chart, self, states).decide_all();
    }
}
