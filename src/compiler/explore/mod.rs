//! Explores every run of a chart, if that is feasible: a breadth-first search over the points between two inputs, in the engine that
//! runs the chart (explicit-state model checking).
//!
//! **The problem.** `check` lines claim something about all runs. Structure and limits prove some of them; for the others, runs must be
//! tried. But events carry unbounded data, counters grow, and time passes, so a chart has infinitely many runs.
//!
//! **The idea.** Run the chart itself, and cut down what is tried:
//!
//! - A *point* is the machine's state when it waits for an input. Two points are the same if they have the same *key*, which contains only
//!   what decides how runs continue (`key`). Values that decide nothing are left out (`relevant`, by a backward slice from the guards), and
//!   counters are cut off above all numbers with which they are compared (`relevant`).
//! - An input is tried with all values of a small type, or with one value of each class into which the chart's constants divide the type
//!   (`values`). Results of host functions are tried in the same way (`host`).
//! - Limits on turns and calls may be reached at any time, which saves their counters in keys (`moves::AbstractLimits`). This adds
//!   runs, so a counterexample is replayed with the real limits before it is reported.
//!
//! From each point, all inputs are tried (`moves`, `host::perform`), and each one yields an *edge* to a point, old or new (`walk`), until there
//! are no new points or a bound is reached (`budget`). Every point found is reached by a run of the chart, except where limits are relaxed.
//! Whatever cannot be tried is noted in `reasons`; then nothing is concluded from what was *not* found.
//!
//! [`property`] decides `check` lines with it, [`property::Seen`] tells lints what runs do, [`survey`] is `chartc explore`, and [`witness`] turns
//! edges into a run that a reader can follow and replay.
//!
//! **Example.**
//!
//! ```text
//! event go
//! event fail(code: Int)
//! var tries: Int = 0
//! initial idle
//! state idle { on go -> work }
//! state work {
//!   on fail(code) if code < 500 -> idle { tries = tries + 1 }
//!   on fail(code) -> lost
//!   when tries >= 2 -> lost
//! }
//! final lost : stuck
//! ```
//!
//! 1. Guards read `code` and `tries`. `code` is compared with 500 only, so 499, 500 and 501 stand for all numbers. `tries` only grows and
//!    is compared with 2 only, so keys have 0, 1 or 2.
//! 2. The start leads to the point (`idle`, 0). There, `go` leads to (`work`, 0). `fail` and a turn change nothing.
//! 3. In (`work`, 0), `fail(499)` leads to (`idle`, 1); `fail(500)` and `fail(501)` lead to `lost`, where the run is over.
//! 4. In the same way come (`work`, 1) and (`idle`, 2). There, `go` enters `work`, and `when` continues to `lost` before the next input.
//! 5. These six points are all. From each of them some edges lead to `lost`, so `check always_reaches(lost)` holds.

pub mod host;
mod key;
mod moves;
mod order;
pub mod property;
mod relevant;
pub mod survey;
mod values;
mod walk;
mod watched;
mod ways;
pub mod witness;

pub use host::{Answer, ChildSummary, FieldValues, HostAct, Named};
pub use walk::explore;

use crate::analysis::facts::Facts;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::machine::Status;
use chartc_core::model::{Chart, Expr};
use property::{Properties, Seen, Verdict};
use relevant::is_total;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of points that are examined for each `check` line, unless a project sets another one.
pub const STATES: usize = 2_000;

/// The result of exploring a chart.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// The states, transitions and values of all runs. `None` if not every run was tried.
    pub seen: Option<Seen>,
    /// The verdicts on the `check` lines, in their order; empty if they were not decided.
    pub checks: Vec<Verdict>,
}

impl Runs {
    /// Decides the `check` lines, examining at most `states` points for each, and collects what runs do if all of them were tried.
    pub fn new(chart: &Arc<Chart>, facts: &Facts, states: usize) -> Self {
        Self::unless(chart, facts, states, &|| false)
    }

    /// Like [`Self::new`], but stops before the next line once `is_outdated` returns `true`; the result is then empty.
    pub fn unless(
        chart: &Arc<Chart>,
        facts: &Facts,
        states: usize,
        is_outdated: &dyn Fn() -> bool,
    ) -> Self {
        let decided = Properties::new(chart, facts, states).decide_unless(is_outdated);
        let (checks, seen) = decided.unwrap_or_default();
        Self { seen, checks }
    }
}

/// Something that happened between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Happened {
    /// A state was entered.
    Entered(StateId),
    /// A transition was taken.
    Taken(TransitionId),
    /// A tool was called while this leaf was active.
    Called(StateId),
    /// Something happened that `check` lines name: its place among what they name (`watched`).
    Met(usize),
    /// A livelock: transitions were taken in a cycle until the engine stopped it.
    Livelock,
}

/// One input at a point, with its effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The point to which it leads, as an index.
    pub to: usize,
    /// The action of the host.
    pub act: HostAct,
    /// The happenings on the edge: an index into [`Explored::stories`].
    pub story: usize,
    /// The number of model calls on the edge. If several inputs lead to the same point, the maximum.
    pub calls: u32,
    /// The results of host functions, in the order of the calls, as indices into their possible results.
    results: Vec<usize>,
}

/// A point that was found.
#[derive(Debug)]
pub struct Reached {
    /// The edge that found the point: the preceding point and the index of the edge there. Without a preceding point, the index of a start.
    pub by: (Option<usize>, usize),
    /// Whether the run is over.
    pub ended: bool,
    /// Whether a limit has ended the run.
    pub limited: bool,
    /// The status with which the run has ended.
    pub status: Option<Status>,
    /// Whether every input was tried here.
    pub tried: bool,
    /// The active leaves.
    pub leaves: Vec<StateId>,
    /// The values of the vars that decide moves.
    pub values: Vec<(VarId, Value)>,
    /// The number of points that this one represents. More than one if interchangeable tools and arguments are not distinguished.
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
    /// The points in the order found: no point needs more inputs than a later one.
    pub points: Vec<Reached>,
    /// By point: its edges, as far as it was tried.
    pub edges: Vec<Vec<Edge>>,
    /// The edges from the start of runs to their first points.
    pub starts: Vec<Edge>,
    /// The different sequences of happenings on edges.
    pub stories: Vec<Vec<Happened>>,
    /// The reasons why there may be further points, in words; empty if there are none.
    pub reasons: BTreeSet<String>,
    /// The number of points at which every input was tried.
    pub tried: usize,
    /// The number of points found, including those that they represent.
    pub states: usize,
    /// The amount of work done: see [`Search::work`].
    pub work: usize,
    /// The first point that meets the goal of the search.
    pub goal: Option<usize>,
    /// The bound that ended the search early, if one did.
    pub cut: Option<Cut>,
    /// Whether limits may be reached at any time, so that some runs found here are not runs of the chart.
    pub relaxed: bool,
    /// Whether guards that bound the turns may hold at any time, which has the same consequence.
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

    /// The happenings on an edge.
    pub fn story(&self, edge: &Edge) -> &[Happened] {
        &self.stories[edge.story]
    }

    /// The edges from the start to the point by which it was first found.
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

    /// All edges, each with the point from which it leads. Edges from the start come first, with `None`.
    pub(crate) fn all_edges(&self) -> impl Iterator<Item = (Option<usize>, &Edge)> {
        let rows = self.edges.iter().enumerate();
        let rest = rows.flat_map(|(from, row)| row.iter().map(move |edge| (Some(from), edge)));
        self.starts.iter().map(|edge| (None, edge)).chain(rest)
    }

    /// Whether everything was tried, so that there are no other points or edges.
    pub fn is_complete(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// The goal and the bounds of a search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The maximum number of points.
    pub states: usize,
    /// The maximum amount of work in total, in inputs, entered states, parts of an evaluation and the like. `None` for as much as `states`
    /// allows.
    pub work: Option<usize>,
    /// The goal: a point of a run that has had this many turns and continues. An expression over params.
    pub turns: Option<Expr>,
    /// The goal: a point of a run that has made more model calls than this. An expression over params.
    pub calls: Option<Expr>,
    /// The goal: an edge on which this state is entered.
    pub entered: Option<StateId>,
    /// By state: its distance from the goal. Points that are near are tried first, roughly. If empty, points are tried in the order found.
    pub distances: Vec<u32>,
    /// Whether to leave out the counters of limits that nothing else needs, so that limits may be reached at any time.
    pub abstract_limits: bool,
    /// The number of inputs after the start beyond which nothing is tried; `None` for no bound.
    pub inputs: Option<u32>,
    /// Whether to stop as soon as it is certain that not everything will be tried.
    pub whole: bool,
    /// By `run` step: the possible ends of its chart, which may occur at any time. Without an entry, the step is not run, and nothing
    /// after it is found.
    pub children: BTreeMap<StepId, ChildSummary>,
    /// The values of params and inputs that are not varied.
    pub given: Vec<(VarId, Value)>,
}
