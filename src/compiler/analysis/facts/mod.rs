//! What every run of a chart has in common: which values its variables can have, which states it can enter, and how they lead to
//! each other. Lints turn these facts into findings; [`super::turn`] and [`crate::explore`] build on them.
//!
//! **The problem.** A chart has too many runs to try them all: the host may send any event at any time, and a model may give any
//! answer. Yet a finding such as "this state can never be entered" must hold for every run.
//!
//! **The idea.** Every fact over-approximates: it considers more runs than there are. A guard that cannot be decided may hold and may
//! fail, every event may come in every state, every answer may be given. What is impossible even then is impossible in every run.
//! [`Facts::new`] computes five facts, each from those before it, in almost linear time:
//!
//! 1. [`ranges`]: the bounds of whole-number variables, as a fixpoint over all assignments;
//! 2. [`reach::ScopeConditions`]: for each transition and step, the states in which it can act;
//! 3. [`reach`]: the states that can be entered and the transitions that can be taken, by a breadth-first search;
//! 4. [`reach::Moves`]: a graph of those states and transitions, in which cycles are strongly connected components;
//! 5. [`deadline`]: the deadlines that never fire because something else always happens before.
//!
//! They ask [`conditions`] whether conditions can hold together. The remaining modules are analyses that one or a few lints call.
//!
//! **Example.**
//!
//! ```text
//! chart Draft {
//!   event go
//!   var tries: Int = 0
//!   initial idle
//!   state idle { on go -> work }
//!   state work {
//!     ask judge on turn else stay { prompt """How good is it? {options}""" }
//!     may again "it can be improved" if tries < 3 -> work { tries = tries + 1 }
//!     may accept "it is good" -> done
//!     when tries > 5 -> lost
//!   }
//!   final lost : stuck
//!   final done
//! }
//! ```
//!
//! 1. `tries` begins as 0, and its only assignment runs when it is below 3. The bounds grow from 0..=0 over 0..=1 and 0..=2 to 0..=3,
//!    and then no longer.
//! 2. Within 0..=3, `tries > 5` never holds, so the `when` transition can act in no state. The two options can be chosen in `work`,
//!    because the question `judge` is asked there.
//! 3. The run starts in `idle`, `on go` enters `work`, and `accept` enters `done`. No transition that can be taken enters `lost`.
//! 4. The graph has the path `idle` → `on go` → `work` → `accept` → `done` and the cycle `work` → `again` → `work`.
//! 5. There are no deadlines.
//!
//! So lints report that `tries > 5` never becomes true and that `lost` can never be entered. They do not report the cycle: `again`
//! counts `tries` towards the bound of its guard (see [`loops`]).

pub mod conditions;
pub mod counters;
pub mod cover;
pub mod deadline;
pub mod endless;
pub mod loops;
pub mod ranges;
pub mod reach;
pub mod usage;
pub(crate) mod values;

use chartc_core::arena::{EventId, StepId, TransitionId};
use chartc_core::model::Chart;
use ranges::Ranges;
use reach::{Moves, Reach, ScopeConditions};
use std::collections::BTreeSet;

/// The facts that the analyses have established about one chart.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The bounds of whole-number variables.
    pub ranges: Ranges,
    /// The states in which each transition and each step may act.
    pub scopes: ScopeConditions,
    /// The reachable states, and how each is entered.
    pub reach: Reach,
    /// The graph of possible moves.
    pub moves: Moves,
    /// The transitions of deadlines that never fire: see [`deadline::dead`].
    pub late: BTreeSet<TransitionId>,
    /// Events that may be forwarded to child charts: see [`deadline::passed`].
    pub passed: BTreeSet<EventId>,
    /// `run` steps whose chart cannot fail.
    pub sure: BTreeSet<StepId>,
}

impl Facts {
    /// Runs the analyses that several lints need, for a chart that runs no others. Takes time linear in the size of the chart, up to
    /// logarithms.
    pub fn new(chart: &Chart) -> Self {
        Self::build(chart, BTreeSet::new(), BTreeSet::new())
    }

    /// Like [`Self::new`], for a chart whose `run` steps start the charts that `child` returns, as far as they are known. `is_sure` tells
    /// whether the chart of a step cannot fail.
    pub fn with_children<'c>(
        chart: &Chart,
        child: &dyn Fn(StepId) -> Option<&'c Chart>,
        is_sure: &dyn Fn(StepId) -> bool,
    ) -> Self {
        let steps = (0..chart.steps.len()).map(StepId::at);
        let sure = steps.filter(|step| is_sure(*step)).collect();
        Self::build(chart, deadline::passed(chart, child), sure)
    }

    fn build(chart: &Chart, passed: BTreeSet<EventId>, sure: BTreeSet<StepId>) -> Self {
        let ranges = Ranges::new(chart);
        let scopes = ScopeConditions::new(chart, &ranges);
        let reach = Reach::compute(chart, &scopes);
        let moves = Moves::new(chart, &scopes, &reach);
        let late = BTreeSet::new();
        let mut facts = Self { ranges, scopes, reach, moves, late, passed, sure };
        // `dead` reads the other facts, so it runs on a value in which `late` is still empty.
        facts.late = deadline::dead(chart, &facts).iter().map(|dead| dead.transition).collect();
        facts
    }
}
