//! Every run of a chart, step by step, as far as it has finitely many states: breadth first over the points between two inputs of the
//! engine that runs it.
//!
//! A point found here is one that a run reaches, by the inputs that led to it. Two points are one where the same can follow on both
//! (`key`); values that decide nothing are left out (`relevant`), others are tried with all values of their type, or with one of
//! each class that constants cut it into (`values`). Where that is not everything, `reasons` says why, and nothing is concluded
//! from what was not found.

mod bounded;
mod boxed;
mod budget;
mod bytes;
mod called;
pub mod child;
mod fixed;
mod ground;
mod heard;
mod here;
mod hints;
mod host;
mod key;
mod lead;
mod log;
mod moves;
mod obstacles;
mod perform;
pub mod property;
mod read;
mod relax;
mod relevant;
pub mod seen;
mod slot;
mod sure;
pub mod survey;
mod values;
mod walk;
pub mod witness;

pub use boxed::Boxed;
pub use moves::{Answer, Deed, Named, Row};
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
    /// Decides the `check` lines, with at most so many states for each, and keeps what the runs do if all of them were tried.
    pub fn of(chart: &Chart, facts: &Facts, states: usize) -> Self {
        let (checks, seen) = Properties::of(chart, facts, states).decide_all();
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
    pub deed: Deed,
    /// What happened, as a place in [`Explored::stories`].
    pub story: usize,
    /// Model calls made on the edge: the most, if several ways lead to the same point.
    pub calls: u32,
    /// What functions gave meanwhile, as places in the lists of what they may give.
    results: Vec<usize>,
}

/// One point, with how it was reached first.
#[derive(Debug)]
pub struct Reached {
    /// The edge that found it: the point before, and its place there; without a point before one of the starts.
    pub by: (Option<usize>, usize),
    /// Whether the run is over.
    pub ended: bool,
    /// Whether a limit has ended it.
    pub limited: bool,
    /// How it has ended.
    pub status: Option<Status>,
    /// Whether everything was tried here.
    pub tried: bool,
    /// Active leaves.
    pub leaves: Vec<StateId>,
    /// Values of the vars that decide moves.
    pub values: Vec<(VarId, Value)>,
    /// How many points it stands for: more than one where tools and their arguments are not told apart.
    pub weight: usize,
}

impl Reached {
    /// A point at which nothing was tried yet.
    fn of(
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
    /// As many points were found as may be.
    States,
    /// What may happen in all has happened.
    Work,
}

/// The result of a search.
#[derive(Debug)]
pub struct Explored {
    /// By number, in the order found: an earlier one is reached by no more inputs.
    pub points: Vec<Reached>,
    /// Where each leads, as far as it was tried.
    pub edges: Vec<Vec<Edge>>,
    /// Where runs begin, with what happened there.
    pub starts: Vec<Edge>,
    /// What happened on edges.
    pub stories: Vec<Vec<Happened>>,
    /// Why there may be more than was found; empty if there is not.
    pub reasons: BTreeSet<String>,
    /// How many points were tried with everything.
    pub tried: usize,
    /// How many points were found, with those that others stand for.
    pub states: usize,
    /// What that took: see [`Search::work`].
    pub work: usize,
    /// The first point that meets the goal of the search.
    pub goal: Option<usize>,
    /// What ended the search, if anything did before all was tried.
    pub cut: Option<Cut>,
    /// Limits are used up whenever they like: there are runs here that the chart has not.
    pub relaxed: bool,
    /// Likewise lines that bound the turns are taken whenever they like.
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

    /// Every edge, those where runs begin first, each with the point that it leads from.
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

/// What is looked for, and how far.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Points to look at.
    pub states: usize,
    /// Things that may happen in all, such as an input, a state that is entered, a few steps of an evaluation; none is as many as
    /// `states` allows.
    pub work: Option<usize>,
    /// Stops at a point of a run that has so many turns and goes on: an expression over params.
    pub turns: Option<Expr>,
    /// Stops at a point of a run that has made more model calls.
    pub calls: Option<Expr>,
    /// Stops where this state is entered.
    pub entered: Option<StateId>,
    /// By state, how far from a goal it is: what is nearer is tried first, by and large. Empty: in the order found.
    pub distances: Vec<u32>,
    /// Leaves out the counters of limits that nothing else needs, and uses limits up whenever it likes.
    pub relax: bool,
    /// Tries nothing that this many inputs after the start or more lead to; none is as many as there are.
    pub inputs: Option<u32>,
    /// Stops as soon as it is certain that not everything will be tried.
    pub whole: bool,
    /// By `run` step what may come of the chart that it runs: it is taken to end so at any time. A step that is not named
    /// here is not run: nothing behind it is found.
    pub boxed: BTreeMap<StepId, Boxed>,
    /// Values of params and inputs, each in place of all that it may have.
    pub given: Vec<(VarId, Value)>,
}
