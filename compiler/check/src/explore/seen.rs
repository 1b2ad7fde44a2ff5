//! What the runs of a small chart do, if every run was tried. Lints use it for claims about all runs.

use super::obstacles::obstacles;
use super::property::leading;
use super::shared::ExploreContext;
use super::slot::Slot;
use super::walk::explore_on;
use super::witness::{Witness, plays, witness_on};
use super::{Explored, Happened, Search};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{Chart, VariableKind};

/// The maximum number of points that are examined in a chart without `check` lines.
const STATES: usize = 300;

/// The maximum number of states and transitions of a chart that is explored.
const SIZE: usize = 400;

/// The states, transitions and values of all runs.
#[derive(Debug, Clone)]
pub struct Seen {
    /// By state: whether a run enters it.
    pub entered: Vec<bool>,
    /// By transition: whether a run takes it.
    pub taken: Vec<bool>,
    /// The points at which runs wait for an input.
    pub rests: Vec<Rest>,
    /// Points at which runs have become unable to end, other than by a limit: a few of them, at most one for each leaf.
    pub lost: Vec<Lost>,
}

/// A point from which no run ends any more, although from the preceding point some do.
#[derive(Debug, Clone)]
pub struct Lost {
    /// The leaf that is active at the point.
    pub leaf: StateId,
    /// The values of the vars that decide moves.
    pub values: Vec<(VarId, Value)>,
    /// A run that leads to the point.
    pub run: Witness,
}

/// The maximum number of lost points that are kept.
const LOST: usize = 3;

impl Lost {
    fn all(context: &ExploreContext<'_>, found: &Explored) -> Vec<Self> {
        let ends = |nth: usize| found.points[nth].ended && !found.points[nth].limited;
        if !found.is_complete() || !(0..found.points.len()).any(ends) {
            return Vec::new();
        }
        let good = leading(found, |edge| ends(edge.to));
        let mut lost: Vec<Self> = Vec::new();
        for (nth, point) in found.points.iter().enumerate() {
            let (Some(from), &[leaf]) = (point.by.0, &point.leaves[..]) else { continue };
            if point.ended || good[nth] || !good[from] || lost.iter().any(|l| l.leaf == leaf) {
                continue;
            }
            let way = found.way(nth);
            // With relaxed limits, the way may be none of a real run.
            if !found.relaxed || plays(context, found, &way) {
                lost.push(Self {
                    leaf,
                    values: point.values.clone(),
                    run: witness_on(context, &way),
                });
            }
            if lost.len() == LOST {
                break;
            }
        }
        lost
    }
}

/// The active leaves of a point, with the values of the vars that decide moves.
pub type Rest = (Vec<StateId>, Vec<(VarId, Value)>);

impl Seen {
    /// Tries all runs of a chart. `None` if that was not possible, or if no vars decide moves: then the graph of moves tells as much.
    pub fn new(chart: &Chart) -> Option<Self> {
        Self::on(&ExploreContext::new(chart))
    }

    pub(super) fn on(context: &ExploreContext<'_>) -> Option<Self> {
        let ExploreContext { chart, relevant, .. } = context;
        if chart.states.len() + chart.transitions.len() > SIZE {
            return None;
        }
        let decides = |(i, row): (usize, &chartc_core::model::Variable)| {
            matches!(row.kind, VariableKind::Var { .. })
                && relevant.slots.contains(&Slot::Variable(VarId::at(i)))
        };
        let is_read = chart.variables.iter().enumerate().any(decides);
        if !is_read || !obstacles(context).is_empty() || !context.moves().reasons.is_empty() {
            return None;
        }
        let search =
            Search { states: STATES, abstract_limits: true, whole: true, ..Search::default() };
        let found = explore_on(context, &search);
        found.is_complete().then(|| Self::all_of(context, &found))
    }

    /// Collects what the runs of an exploration do.
    pub fn in_all(chart: &Chart, found: &Explored) -> Self {
        Self::all_of(&ExploreContext::new(chart), found)
    }

    pub(super) fn all_of(context: &ExploreContext<'_>, found: &Explored) -> Self {
        let chart = context.chart;
        let mut entered = vec![false; chart.states.len()];
        let mut taken = vec![false; chart.transitions.len()];
        for (_, edge) in found.all_edges() {
            for happened in found.story(edge) {
                match happened {
                    Happened::Entered(state) => entered[state.index()] = true,
                    Happened::Taken(transition) => taken[transition.index()] = true,
                    Happened::Called(_) | Happened::Livelock => {}
                }
            }
        }
        let open = found.points.iter().filter(|point| !point.ended);
        let rests = open.map(|point| (point.leaves.clone(), point.values.clone())).collect();
        Self { entered, taken, rests, lost: Lost::all(context, found) }
    }

    /// Whether a run takes a transition.
    pub fn is_taken(&self, transition: TransitionId) -> bool {
        self.taken[transition.index()]
    }

    /// The values of a var at all points inside a state, each once, in the order found.
    pub fn values(&self, chart: &Chart, state: StateId, variable: VarId) -> Vec<&Value> {
        let mut values = Vec::new();
        for (leaves, row) in &self.rests {
            if leaves.iter().any(|leaf| chart.contains(state, *leaf)) {
                let here = row.iter().filter(|(id, _)| *id == variable).map(|(_, value)| value);
                for value in here {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
        values
    }
}
