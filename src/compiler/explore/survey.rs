//! A survey: everything that a host and a model can do with a chart in a number of inputs. `chartc explore` shows it.

use super::host::child_summaries;
use super::walk::{self};
use super::{Edge, Explored, Happened, Reached, Search, explore};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::machine::Status;
use chartc_core::model::{Chart, StateKind, Step, StepKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of inputs of a run.
pub const DEEPEST: u32 = 100;

/// The findings within a number of inputs.
#[derive(Debug)]
pub struct Survey {
    /// The points found, and the edges between them.
    pub found: Explored,
    /// The states that were entered, in document order, without histories.
    pub entered: Vec<StateId>,
    /// The states that were not entered, in document order, without histories.
    pub left: Vec<StateId>,
    /// The transitions that were not taken.
    pub untaken: Vec<TransitionId>,
    /// By status: the number of different runs within the number of inputs that end with it.
    pub ends: BTreeMap<&'static str, u128>,
    /// The number of runs that continue after the last input.
    pub open: u128,
    /// The points at which the run continues but no input leads to another point, in the order found.
    pub dead: Vec<usize>,
    /// The first edge on which transitions were taken in a cycle, until the engine stopped it.
    pub cycle: Option<EdgeRef>,
    /// Whether the findings are complete: every value was tried, and no run was cut off.
    pub is_whole: bool,
    /// Whether runs were cut off after the last input.
    pub is_short: bool,
    /// The charts that were treated as black boxes, in words.
    pub opaque_charts: Vec<String>,
    /// The maximum number of model calls of a run, with the shortest way that makes so many.
    pub worst: (u32, Vec<EdgeRef>),
    /// Whether child charts make model calls, which are not counted.
    pub is_uncounted: bool,
}

/// A reference to an edge: the point from which it leads (`None` for the start), and its index there.
pub type EdgeRef = (Option<usize>, usize);

impl Survey {
    /// The edge of a reference.
    pub fn edge(&self, (from, nth): EdgeRef) -> &Edge {
        match from {
            Some(from) => &self.found.edges[from][nth],
            None => &self.found.starts[nth],
        }
    }
}

/// The inputs and the bounds of a survey.
#[derive(Debug, Clone, Default)]
pub struct SurveyScope<'c> {
    /// The maximum number of inputs of a run.
    pub inputs: u32,
    /// The maximum number of points that are examined.
    pub states: usize,
    /// The values of params and inputs that are not varied.
    pub given: Vec<(VarId, Value)>,
    /// The known charts that `run` steps run.
    pub children: Vec<&'c Chart>,
}

/// Tries everything that a host and a model can do. A child chart is a black box: at any time, it may give any answer of its final states,
/// or fail if it can.
pub fn survey(chart: &Arc<Chart>, scope: SurveyScope<'_>) -> Survey {
    let inputs = scope.inputs.min(DEEPEST);
    let children = child_summaries(chart, &scope.children);
    let asks = |step: &Step| matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
    let is_uncounted = scope.children.iter().any(|child| child.steps.iter().any(asks));
    let opaque_charts = walk::opaque_charts(chart);
    let SurveyScope { states, given, .. } = scope;
    let search = Search { states, inputs: Some(inputs), given, children, ..Search::default() };
    let found = explore(chart, &search);
    let (mut entered, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for (_, edge) in found.all_edges() {
        for happened in found.story(edge) {
            match happened {
                Happened::Entered(state) => {
                    entered.insert(*state);
                }
                Happened::Taken(transition) => {
                    taken.insert(*transition);
                }
                Happened::Called(_) | Happened::Met(_) | Happened::Livelock => {}
            }
        }
    }
    let real = |id: &StateId| {
        let state = chart.state(*id);
        state.parent.is_some() && !matches!(state.kind, StateKind::History { .. })
    };
    let (entered, left) = chart.state_ids().filter(real).partition(|id| entered.contains(id));
    let transitions = (0..chart.transitions.len()).map(TransitionId::at);
    let untaken = transitions.filter(|transition| !taken.contains(transition)).collect();
    let (ends, open) = count(&found, inputs);
    let dead = dead(&found);
    let worst = worst(&found, inputs);
    // A point is found from an earlier one, so the depth of that one is known.
    let mut depths: Vec<u32> = Vec::with_capacity(found.points.len());
    for point in &found.points {
        depths.push(point.by.0.map_or(0, |from| depths[from] + 1));
    }
    let is_last = |(point, depth): (&Reached, &u32)| point.status.is_none() && *depth >= inputs;
    let is_short = found.points.iter().zip(&depths).any(is_last);
    let is_whole = found.is_complete() && !is_short;
    let cycle = cycle(&found);
    Survey {
        found,
        entered,
        left,
        untaken,
        ends,
        open,
        dead,
        cycle,
        is_whole,
        is_short,
        opaque_charts,
        worst,
        is_uncounted,
    }
}

/// The first edge on which transitions were taken in a cycle, in the order found.
fn cycle(found: &Explored) -> Option<EdgeRef> {
    let cycles = |edge: &Edge| found.story(edge).contains(&Happened::Livelock);
    let row = |(from, row): (Option<usize>, &Vec<Edge>)| Some((from, row.iter().position(cycles)?));
    let rows = found.edges.iter().enumerate().map(|(from, row)| (Some(from), row));
    [(None, &found.starts)].into_iter().chain(rows).find_map(row)
}

/// The number of runs that end with each status, and the number of those that continue. Counts paths, one level of depth after the other.
fn count(found: &Explored, inputs: u32) -> (BTreeMap<&'static str, u128>, u128) {
    let mut ends: BTreeMap<&'static str, u128> = BTreeMap::new();
    let mut open: u128 = 0;
    let mut level: BTreeMap<usize, u128> = BTreeMap::new();
    for edge in &found.starts {
        *level.entry(edge.to).or_default() += 1;
    }
    for depth in 0..=inputs {
        let mut next: BTreeMap<usize, u128> = BTreeMap::new();
        for (point, runs) in level {
            if let Some(status) = found.points[point].status {
                let ended = ends.entry(Status::word(status)).or_default();
                *ended = ended.saturating_add(runs);
                continue;
            }
            let edges = &found.edges[point];
            if depth == inputs || edges.is_empty() {
                open = open.saturating_add(runs);
                continue;
            }
            for edge in edges {
                let to = next.entry(edge.to).or_default();
                *to = to.saturating_add(runs);
            }
        }
        level = next;
    }
    (ends, open)
}

/// The points at which every input was tried and none leads to another point.
fn dead(found: &Explored) -> Vec<usize> {
    let leads = |point: usize| found.edges[point].iter().any(|edge| edge.to != point);
    let is_tried = |point: &usize| found.points[*point].tried;
    let open = |point: &usize| found.points[*point].status.is_none();
    (0..found.points.len()).filter(|p| is_tried(p) && open(p) && !leads(*p)).collect()
}

/// The maximum number of model calls of a run, with the shortest way to make so many.
fn worst(found: &Explored, inputs: u32) -> (u32, Vec<EdgeRef>) {
    // By depth and point: the most calls so far, and the last edge of the run that makes them.
    let mut levels: Vec<BTreeMap<usize, (u32, EdgeRef)>> = Vec::new();
    let mut level: BTreeMap<usize, (u32, EdgeRef)> = BTreeMap::new();
    let offer =
        |level: &mut BTreeMap<usize, (u32, EdgeRef)>, to: usize, calls: u32, by: EdgeRef| {
            let known = level.get(&to).map(|(calls, _)| *calls);
            if known.is_none_or(|known| calls > known) {
                level.insert(to, (calls, by));
            }
        };
    for (nth, edge) in found.starts.iter().enumerate() {
        offer(&mut level, edge.to, edge.calls, (None, nth));
    }
    let mut best: (u32, usize, Option<usize>) = (0, 0, None);
    for depth in 0..=inputs as usize {
        for (point, (calls, _)) in &level {
            if best.2.is_none() || *calls > best.0 {
                best = (*calls, depth, Some(*point));
            }
        }
        let mut next = BTreeMap::new();
        for (point, (calls, _)) in &level {
            for (nth, edge) in found.edges[*point].iter().enumerate() {
                offer(&mut next, edge.to, calls.saturating_add(edge.calls), (Some(*point), nth));
            }
        }
        levels.push(std::mem::replace(&mut level, next));
        // Every run has ended.
        if level.is_empty() {
            break;
        }
    }
    let (calls, depth, point) = best;
    let mut way = Vec::new();
    let mut at = point;
    for level in levels[..=depth.min(levels.len().saturating_sub(1))].iter().rev() {
        let Some((_, by)) = at.and_then(|point| level.get(&point)) else { break };
        way.push(*by);
        at = by.0;
    }
    way.reverse();
    (calls, way)
}

// What the runs of a small chart do, if every run was tried. Lints use it for claims about all runs.
