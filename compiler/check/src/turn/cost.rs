//! Lower and upper bounds on the model calls of a turn and of a run.
//!
//! Every number is a bound: a turn makes at least its `least` and at most its `worst` calls, but perhaps no turn makes exactly so many.
//! The calls of a child chart count for the child. The header of [`crate::turn`] works an example.

use crate::facts::Facts;
use crate::facts::graph::GraphNode;
use crate::facts::reach::is_end;
use crate::turn::shared::Shared;
use crate::turn::turns::Walks;
use crate::turn::walk::turn;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{AskOn, Chart, Step, StepKind, Target, Transition, Trigger};
use std::collections::{BTreeMap, VecDeque};

/// The model calls of a chart.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The calls of a turn that begins in each leaf, ascending by leaf.
    pub turns: Vec<TurnCost>,
    /// The questions that wait for an event, with the most calls that one such event causes.
    pub events: Vec<Driver>,
    /// The calls of a whole run.
    pub run: RunCost,
}

/// The model calls of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnCost {
    /// The leaf in which the turn begins.
    pub leaf: StateId,
    /// The minimum number of calls of a turn that ends without an error.
    pub least: u64,
    /// The maximum number of calls, with retries and repeated questions.
    pub worst: u64,
    /// The steps that contribute to the worst case, most expensive first.
    pub drivers: Vec<Driver>,
}

/// A step that calls the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    /// The step that calls a model.
    pub step: StepId,
    /// The maximum number of its calls without retries: one for each element of an `each`; for a question, one in each leaf where it may
    /// be asked.
    pub times: u64,
    /// The number of further attempts of each call.
    pub retries: u64,
    /// The number of tools that each call may use; after each tool, the model is called again.
    pub tools: u64,
    /// Whether the retries are those of the step's client, not of the step itself or the chart's defaults.
    pub of_client: bool,
}

impl Driver {
    /// The total number of calls, with retries and calls after tools.
    pub fn calls(&self) -> u64 {
        self.times.saturating_mul(self.retries.saturating_add(self.tools).saturating_add(1))
    }
}

/// The model calls of one run.
#[derive(Debug, Clone)]
pub struct RunCost {
    /// The minimum number of calls of a run that ends `ok`, with the transitions taken; `None` if no run does.
    pub least: Option<(u64, Vec<TransitionId>)>,
    /// The bound on the calls of any run.
    pub worst: CallBound,
    /// If nothing bounds the calls: the shortest cycle of transitions through the leaf or the step's state. Empty if the calls repeat
    /// without exiting it.
    pub round: Vec<TransitionId>,
}

/// The bound on the calls of a run, by its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallBound {
    /// No model step can run.
    NoCalls,
    /// `limits { calls … }` of the chart.
    Calls(u64),
    /// `limits { calls … }` of states: each calling step is inside a state with such a limit. The sum of these limits.
    States(u64),
    /// `limits { turns … }` of the chart, times the calls of the worst turn.
    Turns {
        /// The limit on the turns.
        turns: u64,
        /// The maximum number of calls of a turn.
        each: u64,
    },
    /// `limits { calls … }` of the chart, computed from its params. No number is known before a run.
    Formula,
    /// No bound: this step may call in every turn that begins in the leaf, or whenever its event occurs.
    None {
        /// The step that calls.
        step: StepId,
        /// The leaf, if the step runs in turns.
        leaf: Option<StateId>,
    },
}

impl CallBound {
    /// The maximum number of calls of a run, if it is known.
    pub fn calls(self) -> Option<u64> {
        match self {
            Self::NoCalls => Some(0),
            Self::Calls(calls) | Self::States(calls) => Some(calls),
            Self::Turns { turns, each } => Some(turns.saturating_mul(each)),
            Self::Formula | Self::None { .. } => None,
        }
    }
}

/// Computes all bounds. If any event may arrive while a step is under way and no states are parallel, the work for each leaf is about its
/// depth; otherwise it is the number of steps that may run in a turn that begins there.
pub fn cost(chart: &Chart, facts: &Facts) -> Cost {
    let walks = Walks::new(chart, facts);
    bounds(chart, facts, &walks, Shared::new(&walks))
}

/// Like [`cost`], but always with one walk for each leaf. Slower; tests compare the results of both.
pub fn cost_by_walks(chart: &Chart, facts: &Facts) -> Cost {
    bounds(chart, facts, &Walks::new(chart, facts), None)
}

/// Like [`cost`]; `None` if that would take long.
pub fn cost_soon(chart: &Chart, facts: &Facts) -> Option<Cost> {
    let walks = Walks::new(chart, facts);
    let shared = Shared::new(&walks);
    let leaves = walks.leaves.len();
    let is_soon = shared.is_some()
        || !walks.calls
        || leaves.saturating_mul(leaves + chart.steps.len()) <= MOST;
    is_soon.then(|| bounds(chart, facts, &walks, shared))
}

/// The maximum number of visits of leaves and steps that [`cost_soon`] makes.
const MOST: usize = 4_000_000;

fn bounds(
    chart: &Chart,
    facts: &Facts,
    walks: &Walks<'_>,
    mut shared: Option<Shared<'_, '_>>,
) -> Cost {
    let mut one = |leaf: &StateId| {
        let quick = shared.as_mut().and_then(|shared| shared.turn(*leaf));
        quick.unwrap_or_else(|| turn(walks, *leaf))
    };
    let turns: Vec<TurnCost> = walks.leaves.iter().map(&mut one).collect();
    let waits =
        |step: &&(usize, &Step)| matches!(step.1.kind, StepKind::Ask { on: AskOn::Event(_), .. });
    let steps = chart.steps.iter().enumerate();
    let events: Vec<Driver> = steps
        .filter(|s| waits(&s) && !facts.scopes.steps[s.0].within.is_empty())
        .map(|(i, _)| walks.driver(StepId::at(i)))
        .collect();
    let worst = bound(chart, facts, &turns, &events);
    let round = match worst {
        CallBound::None { step, leaf } => {
            round(chart, facts, leaf.unwrap_or(chart.steps[step.index()].state))
        }
        _ => Vec::new(),
    };
    let least = crate::turn::cheapest::least(chart, facts);
    Cost { turns, events, run: RunCost { least, worst, round } }
}

/// The shortest cycle of transitions from a state back to it. Empty if there is none.
fn round(chart: &Chart, facts: &Facts, state: StateId) -> Vec<TransitionId> {
    let goal = GraphNode::Active(state);
    let mut from: Vec<Option<GraphNode>> = vec![None; facts.moves.nodes()];
    let mut open = VecDeque::from([goal]);
    while let Some(node) = open.pop_front() {
        for next in facts.moves.next(node) {
            // An ancestor that stays active does not lead back into the state.
            let up = matches!((node, next), (GraphNode::Active(s), GraphNode::Active(t)) if chart.contains(t, s));
            let known = &mut from[facts.moves.place(next)];
            if known.is_some() || up && chart.state(state).parent.is_none() {
                continue;
            }
            *known = Some(node);
            if next == goal {
                return back(facts, &from, goal);
            }
            open.push_back(next);
        }
    }
    Vec::new()
}

/// The transitions on the path that the search has found back to the goal.
fn back(facts: &Facts, from: &[Option<GraphNode>], goal: GraphNode) -> Vec<TransitionId> {
    let mut transitions = Vec::new();
    let mut at = from[facts.moves.place(goal)];
    while let Some(node) = at.filter(|node| *node != goal) {
        if let GraphNode::Transition(transition) = node {
            transitions.push(transition);
        }
        at = from[facts.moves.place(node)];
    }
    transitions.reverse();
    transitions
}

/// The sum of the call limits of states, if each calling step is inside a state with such a limit.
fn by_states(chart: &Chart, turns: &[TurnCost], events: &[Driver]) -> Option<u64> {
    let mut limited: BTreeMap<StateId, u64> = BTreeMap::new();
    for driver in turns.iter().flat_map(|turn| &turn.drivers).chain(events) {
        let state = chart.steps[driver.step.index()].state;
        let limit = |s: StateId| Some((s, u64::try_from(chart.state(s).limits.calls?).ok()?));
        // The limit of the outermost state covers all calls inside it.
        let (state, calls) = chart.ancestors(state).filter_map(limit).last()?;
        limited.insert(state, calls);
    }
    Some(limited.values().fold(0, |sum: u64, calls| sum.saturating_add(*calls)))
}

/// The turn with which `limits` ends every run, unless a transition handles the limit and the run continues.
pub fn last_turn(chart: &Chart, facts: &Facts) -> Option<u64> {
    // A turn is counted when it ends, so that a limit of 0 is never met.
    let turns = chart.state(StateId::at(0)).limits.turns.filter(|turns| *turns > 0)?;
    u64::try_from(turns).ok().filter(|_| ends_at_turns(chart, facts))
}

/// Whether the run ends when its limit of turns is reached: no transition handles the limit and lets the run continue.
pub fn ends_at_turns(chart: &Chart, facts: &Facts) -> bool {
    let goes_on = |(i, transition): (usize, &Transition)| {
        let handles = if let Trigger::Error(pattern) = &transition.trigger {
            let prefix = pattern.strip_suffix(".*").unwrap_or(pattern);
            prefix == "*" || "limit.turns".starts_with(prefix)
        } else {
            transition.trigger == Trigger::AnyOccurrence
        };
        let ends = |target: &Target| is_end(chart, target.state);
        let ends = !transition.targets.is_empty() && transition.targets.iter().all(ends);
        handles && facts.reach.can_take(TransitionId::at(i)) && !ends
    };
    !chart.transitions.iter().enumerate().any(goes_on)
}

/// The least upper bound on the calls of any run.
fn bound(chart: &Chart, facts: &Facts, turns: &[TurnCost], events: &[Driver]) -> CallBound {
    let limits = &chart.state(StateId::at(0)).limits;
    let given = |limit: Option<i64>| limit.and_then(|n| u64::try_from(n).ok());
    // Of equally expensive turns, the one of the first leaf.
    let dearest = turns.iter().max_by_key(|t| (t.worst, std::cmp::Reverse(t.leaf)));
    let each = dearest.map_or(0, |t| t.worst);
    let by_turns = last_turn(chart, facts).filter(|_| events.is_empty());
    let by_turns = by_turns.map(|turns| CallBound::Turns { turns, each });
    let by_calls = given(limits.calls).map(CallBound::Calls);
    let by_states = by_states(chart, turns, events).map(CallBound::States);
    let least = [by_turns, by_calls, by_states].into_iter().flatten().min_by_key(|b| b.calls());
    let formula = limits.formula(LimitKind::Calls).map(|_| CallBound::Formula);
    let least = least.or(formula);
    match (dearest.and_then(|t| Some((t, t.drivers.first()?))), events.first()) {
        (None, None) => CallBound::NoCalls,
        (Some((turn, driver)), _) => {
            least.unwrap_or(CallBound::None { step: driver.step, leaf: Some(turn.leaf) })
        }
        (None, Some(event)) => least.unwrap_or(CallBound::None { step: event.step, leaf: None }),
    }
}
