//! Explores every run of a chart, if it has finitely many states: a breadth-first search over the points between two inputs, in
//! the engine that runs the chart.
//!
//! Every point found here is reached by a run, with the inputs that lead to it. Two points are equal if they have the same
//! continuations (`key`). Values that decide nothing are left out (`relevant`); others are tried with all values of their type,
//! or with one of each class into which constants divide it (`values`). If that is not exhaustive, `reasons` says why, and
//! nothing is concluded from what was not found.

mod abstract_limits;
mod bounded;
mod budget;
mod bytes;
mod called;
pub mod child;
mod child_summary;
mod fixed;
mod heuristic;
mod hints;
mod host;
mod key;
mod log;
mod moves;
mod observed_events;
mod obstacles;
mod perform;
pub mod property;
mod read;
mod relevant;
mod relevant_leaves;
pub mod seen;
mod shared;
mod slot;
mod static_check;
pub mod survey;
mod values;
mod walk;
pub mod witness;

pub use child_summary::ChildSummary;
pub use moves::{Answer, FieldValues, HostAct, Named};
use slot::is_total;
pub use walk::explore;

use crate::facts::Facts;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::machine::Status;
use chartc_core::model::Chart;
use chartc_core::model::Expr;
use property::{Properties, Verdict};
use seen::Seen;
use std::collections::{BTreeMap, BTreeSet};

/// States examined for each `check` line, unless a project sets another number.
pub const STATES: usize = 2_000;

/// The result of exploring a chart.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// What the runs do, if every one of them was tried.
    pub seen: Option<Seen>,
    /// The verdicts on the `check` lines, in their order; empty if they were not decided.
    pub checks: Vec<Verdict>,
}

impl Runs {
    /// Decides the `check` lines, with at most `states` states for each, and keeps what the runs do if all of them were tried.
    pub fn new(chart: &Chart, facts: &Facts, states: usize) -> Self {
        Self::unless(chart, facts, states, &|| false)
    }

    /// Likewise, but decides no more lines as soon as nobody wants to know.
    pub fn unless(
        chart: &Chart,
        facts: &Facts,
        states: usize,
        is_outdated: &dyn Fn() -> bool,
    ) -> Self {
        let decided = Properties::new(chart, facts, states).decide_unless(is_outdated);
        let (checks, seen) = decided.unwrap_or_default();
        Self { seen, checks }
    }
}

/// What happened between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Happened {
    /// A state was entered.
    Entered(StateId),
    /// A transition was taken.
    Taken(TransitionId),
    /// A tool was called while this leaf was active.
    Called(StateId),
    /// A livelock: transitions were taken in a cycle until the engine stopped it.
    Livelock,
}

/// A way from one point to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The other point.
    pub to: usize,
    /// What the host does.
    pub act: HostAct,
    /// What happened: an index into [`Explored::stories`].
    pub story: usize,
    /// Model calls made on the edge; if several inputs lead to the same point, the most.
    pub calls: u32,
    /// The results of host functions, as indices into their possible results.
    results: Vec<usize>,
}

/// One point, with how it was reached first.
#[derive(Debug)]
pub struct Reached {
    /// The edge that found it: the preceding point, and the edge's index there; without a preceding point, the index of a start.
    pub by: (Option<usize>, usize),
    /// Whether the run is over.
    pub ended: bool,
    /// Whether a limit has ended it.
    pub limited: bool,
    /// The status with which it has ended.
    pub status: Option<Status>,
    /// Whether everything was tried here.
    pub tried: bool,
    /// Active leaves.
    pub leaves: Vec<StateId>,
    /// Values of the vars that decide moves.
    pub values: Vec<(VarId, Value)>,
    /// How many points it represents: more than one if tools and their arguments are not distinguished.
    pub weight: usize,
}

impl Reached {
    /// A point at which nothing was tried yet.
    fn new(
        by: (Option<usize>, usize),
        status: Option<Status>,
        leaves: Vec<StateId>,
        values: Vec<(VarId, Value)>,
        weight: usize,
    ) -> Self {
        let (ended, limited) = (status.is_some(), status == Some(Status::Limit));
        Self { by, ended, limited, status, tried: false, leaves, values, weight }
    }
}

/// The reason why a search ended before everything was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The bound on points was reached.
    States,
    /// The bound on work was reached.
    Work,
}

/// The result of a search.
#[derive(Debug)]
pub struct Explored {
    /// In the order found: no point needs more inputs than a later one.
    pub points: Vec<Reached>,
    /// The edges of each point, as far as it was tried.
    pub edges: Vec<Vec<Edge>>,
    /// Where runs begin, with what happened there.
    pub starts: Vec<Edge>,
    /// What happened on edges.
    pub stories: Vec<Vec<Happened>>,
    /// Why there may be more points; empty if there are none.
    pub reasons: BTreeSet<String>,
    /// How many points were fully tried.
    pub tried: usize,
    /// How many points were found, including those that they represent.
    pub states: usize,
    /// The work that was done: see [`Search::work`].
    pub work: usize,
    /// The first point that meets the goal of the search.
    pub goal: Option<usize>,
    /// Why the search ended before everything was tried, if it did.
    pub cut: Option<Cut>,
    /// Whether limits may be reached at any time, so that there are runs that the chart does not have.
    pub relaxed: bool,
    /// Likewise for transitions that bound the turns.
    pub unbounded: bool,
}

impl Explored {
    fn nothing() -> Self {
        Self {
            points: Vec::new(),
            edges: Vec::new(),
            starts: Vec::new(),
            stories: vec![Vec::new()],
            reasons: BTreeSet::new(),
            tried: 0,
            states: 0,
            work: 0,
            goal: None,
            cut: None,
            relaxed: false,
            unbounded: false,
        }
    }

    /// What happened on an edge.
    pub fn story(&self, edge: &Edge) -> &[Happened] {
        &self.stories[edge.story]
    }

    /// The edges from the start to the point, as first found.
    pub fn way(&self, point: usize) -> Vec<&Edge> {
        let mut way = Vec::new();
        let mut at = Some(point);
        while let Some(point) = at {
            let (from, nth) = self.points[point].by;
            way.push(match from {
                Some(from) => &self.edges[from][nth],
                None => &self.starts[nth],
            });
            at = from;
        }
        way.reverse();
        way
    }

    /// Every edge with the point that it starts from; the starts come first.
    pub fn all_edges(&self) -> impl Iterator<Item = (Option<usize>, &Edge)> {
        let rows = self.edges.iter().enumerate();
        let rest = rows.flat_map(|(from, row)| row.iter().map(move |edge| (Some(from), edge)));
        self.starts.iter().map(|edge| (None, edge)).chain(rest)
    }

    /// Whether everything was tried, so that nothing else can be found.
    pub fn is_complete(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// The goal and the bounds of a search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Most points.
    pub states: usize,
    /// Most work in total, such as inputs, entered states, parts of an evaluation; `None` for as much as `states` allows.
    pub work: Option<usize>,
    /// Stops at a point of a run that has had this many turns and goes on: an expression over params.
    pub turns: Option<Expr>,
    /// Stops at a point of a run that has made more model calls than this.
    pub calls: Option<Expr>,
    /// Stops where this state is entered.
    pub entered: Option<StateId>,
    /// By state, its distance from the goal: near ones are tried first, roughly. If empty, points are tried in the order found.
    pub distances: Vec<u32>,
    /// Omits the counters of limits that nothing else needs, and lets limits be reached at any time.
    pub abstract_limits: bool,
    /// Tries nothing at points this many inputs after the start; `None` for no bound.
    pub inputs: Option<u32>,
    /// Stops as soon as it is certain that not everything will be tried.
    pub whole: bool,
    /// By `run` step, the possible ends of its chart, which may occur at any time. A step that is missing here is not run:
    /// nothing after it is found.
    pub children: BTreeMap<StepId, ChildSummary>,
    /// Values of params and inputs, which then have no others.
    pub given: Vec<(VarId, Value)>,
}
