//! The points of runs, and the edges from each to the next.
//!
//! Together they over-approximate the order of a macrostep and a walk: in `Rest`, host events, deadlines and `turn` may come; `Begin` leads
//! to `Walk` at the first step; `Walk` skips its step, starts it and goes to `Wait`, or runs it at once; the outcome in `Wait` leads to
//! `Walk` at the next step. Without a further step, the walk ends in `Rest`.

use super::edge::{Edge, Op};
use super::enter::into;
use super::read::Site;
use super::transition::{ASSUMED, LeafTransition};
use crate::facts::Facts;
use crate::facts::reach::is_end;
use chartc_core::arena::{ComponentId, EventId, StateId, StepId, TransitionId};
use chartc_core::model::{
    Action, AskOn, Chart, Insert, Permission, Receiver, StateKind, StepKind, Trigger,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of calls of a turn that are counted. If a chart allows more, any number is assumed.
const MOST_CALLS: u32 = 4;

/// The activity of a run in its leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// The run waits for the host.
    Rest,
    /// A turn begins; `on turn` transitions are tried.
    Begin,
    /// The walk is before this step (by index), after this many model calls.
    Walk(u32, u8),
    /// The walk awaits this step (by index), after this many model calls.
    Wait(u32, u8),
}

/// An active leaf, with the activity of the run in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Point {
    pub(super) leaf: StateId,
    pub(super) mode: Mode,
}

/// The cause that leads from a point to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A transition, taken in the first leaf, that enters the second.
    Transition(StateId, TransitionId, StateId),
    /// The beginning of a turn.
    Turn,
    /// The step was skipped, because its condition does not hold.
    Skipped(StepId),
    /// The step failed, and no transition was taken.
    Failed(StepId),
    /// The step was done, and no transition was taken.
    Done(StepId),
    /// Another cause, which is not worth reporting.
    Passed,
}

/// The chart with indexes from which the edges of a point are computed.
pub(super) struct Points<'c, 'f> {
    pub(super) chart: &'c Chart,
    pub(super) facts: &'f Facts,
    /// By state: the transitions of a leaf, computed on demand.
    pub(super) transitions: Vec<OnceCell<Box<[LeafTransition<'c>]>>>,
    /// By state of the scope condition: the steps, by index.
    steps: BTreeMap<StateId, Vec<u32>>,
    /// The events that the chart raises or sends to itself.
    own_events: BTreeSet<EventId>,
    /// By step: the components in its prompt.
    pub(super) injected: BTreeMap<StepId, Vec<(ComponentId, &'c Insert)>>,
    /// Whether some questions wait for events.
    asks: bool,
    /// By the state that they permit to enter: the rows of the transition table with their indexes.
    pub(super) rows: BTreeMap<StateId, Vec<(usize, &'c Permission)>>,
    /// The maximum number of model calls of a turn; `None` if calls are not counted.
    pub(super) cap: Option<u32>,
    /// Whether the chart has a transition table.
    pub(super) table: bool,
}

impl<'c, 'f> Points<'c, 'f> {
    pub(super) fn new(chart: &'c Chart, facts: &'f Facts) -> Self {
        let mut steps: BTreeMap<StateId, Vec<u32>> = BTreeMap::new();
        for (i, place) in facts.scopes.steps.iter().enumerate() {
            for state in &place.within {
                steps.entry(*state).or_default().push(i as u32);
            }
        }
        let mut own_events = BTreeSet::new();
        for block in chart.blocks() {
            Action::walk(block, &mut |action| match action {
                Action::Raise(event, _) | Action::Send { event, to: Receiver::Own, .. } => {
                    own_events.insert(*event);
                }
                _ => {}
            });
        }
        let mut injected: BTreeMap<StepId, Vec<(ComponentId, &Insert)>> = BTreeMap::new();
        for (i, component) in chart.components.iter().enumerate() {
            for insert in &component.inserts {
                injected.entry(insert.step).or_default().push((ComponentId::at(i), insert));
            }
        }
        let asks =
            chart.steps.iter().any(|s| matches!(s.kind, StepKind::Ask { on: AskOn::Event(_), .. }));
        let cap = chart.calls_per_turn.filter(|n| *n <= MOST_CALLS);
        let table = !chart.permissions.is_empty();
        let mut rows: BTreeMap<StateId, Vec<(usize, &Permission)>> = BTreeMap::new();
        for (row, permission) in chart.permissions.iter().enumerate() {
            rows.entry(permission.to).or_default().push((row, permission));
        }
        let transitions = vec![OnceCell::new(); chart.states.len()];
        Self { chart, facts, transitions, steps, own_events, injected, asks, rows, cap, table }
    }

    /// The points at which runs begin, each with the operations before it.
    pub(super) fn start(&self) -> Vec<(Point, Vec<Op<'c>>)> {
        let root = StateId::at(0);
        let mut ops: Vec<Op<'c>> = Vec::new();
        for block in &self.chart.state(root).entry {
            ops.push(Op::Do(Site::State(root), block));
        }
        let arrivals = match &self.chart.state(root).kind {
            StateKind::Compound { initial } => {
                let actions = &self.chart.state(root).default_actions;
                if !actions.is_empty() {
                    ops.push(Op::Do(Site::State(root), actions));
                }
                initial
                    .iter()
                    .take(1)
                    .flat_map(|s| into(self.chart, *s, root, ops.clone()))
                    .collect()
            }
            _ => {
                vec![(root, ops, true)]
            }
        };
        arrivals.into_iter().map(|(leaf, ops, _)| (Point { leaf, mode: Mode::Rest }, ops)).collect()
    }

    /// The mode of a walk in this leaf that continues at the step `from`: before the first step from there on that may run in the leaf, or
    /// at rest if there is none.
    pub(super) fn walk(&self, leaf: StateId, from: u32, calls: u8) -> Mode {
        let above = self.chart.ancestors(leaf).filter_map(|s| self.steps.get(&s));
        let first = |steps: &Vec<u32>| {
            let nth = steps.partition_point(|s| *s < from);
            let covers =
                |s: &&u32| !self.facts.scopes.steps[**s as usize].excludes_leaf(self.chart, leaf);
            steps[nth..].iter().find(covers).copied()
        };
        match above.filter_map(first).min() {
            Some(step) => Mode::Walk(step, calls),
            None => Mode::Rest,
        }
    }

    /// The mode in `leaf`, after a transition in the mode `mode` that exited everything below `top`.
    pub(super) fn after(&self, mode: Mode, leaf: StateId, top: Option<StateId>) -> Mode {
        match mode {
            Mode::Rest => Mode::Rest,
            Mode::Begin => self.walk(leaf, 0, 0),
            Mode::Walk(step, calls) => self.walk(leaf, step, calls),
            Mode::Wait(step, calls) => {
                if self.is_still_awaited(step, top) {
                    mode
                } else {
                    self.walk(leaf, step + 1, calls)
                }
            }
        }
    }

    /// Whether a step is still awaited after everything below `top` was exited. A question belongs to its leaf, any other step to its
    /// state.
    fn is_still_awaited(&self, step: u32, top: Option<StateId>) -> bool {
        let row = &self.chart.steps[step as usize];
        let is_ask = matches!(row.kind, StepKind::Ask { .. });
        let leaves = |top| is_ask || top != row.state && self.chart.contains(top, row.state);
        !top.is_some_and(leaves)
    }

    /// Adds the edges that lead away from a point.
    pub(super) fn edges(&self, point: Point, edges: &mut Vec<Edge<'c>>) {
        if is_end(self.chart, point.leaf) {
            return;
        }
        let transitions = self.transitions(point.leaf);
        // `when` transitions are taken before anything else happens, so all other edges assume that none of their guards holds.
        let mut still: Vec<Op<'c>> = Vec::new();
        for transition in transitions {
            let when = matches!(transition.row.trigger, Trigger::When);
            if when || matches!(transition.row.trigger, Trigger::StateDone(_)) {
                self.transition(point, transition, &still, point.mode, true, edges);
                if when
                    && still.len() < ASSUMED
                    && let Some(guard) = &transition.row.guard
                {
                    still.push(Op::Assume(None, guard, false));
                }
            }
        }
        let first = edges.len();
        self.others(point, transitions, edges);
        if !still.is_empty() {
            for edge in &mut edges[first..] {
                edge.ops = [&still[..], &edge.ops].concat();
            }
        }
    }

    /// Adds the edges that are not `when` or `done` transitions.
    fn others(&self, point: Point, transitions: &[LeafTransition<'c>], edges: &mut Vec<Edge<'c>>) {
        let Point { leaf, mode } = point;
        // Events and deadlines come only while the run waits; what the chart raises may come at any time.
        let outside = matches!(mode, Mode::Rest | Mode::Wait(..));
        // Whether the trigger may happen here, whether it surely can, and the step that must have been started for it.
        for (nth, transition) in transitions.iter().enumerate() {
            let (happens, sure, needs) = match &transition.row.trigger {
                Trigger::Event(events) => {
                    let own = events.iter().any(|e| self.own_events.contains(e));
                    (outside || own, outside, None)
                }
                Trigger::AnyEvent => (outside || !self.own_events.is_empty(), outside, None),
                Trigger::AnyOccurrence => (true, false, None),
                Trigger::After(_) => (outside, outside, None),
                Trigger::AfterTurns(_) => (matches!(mode, Mode::Rest), true, None),
                Trigger::Error(_) | Trigger::LimitWarn(_) => (true, false, None),
                Trigger::Choice(_) => (self.asks, false, None),
                Trigger::StepDone(step)
                | Trigger::StepError(step)
                | Trigger::StepTimeout(step, _)
                | Trigger::StepDoubt(step)
                | Trigger::StepElse(step) => {
                    let kind = &self.chart.steps[step.index()].kind;
                    let beside = matches!(kind, StepKind::Human(_) | StepKind::Run(..))
                        || matches!(kind, StepKind::Ask { on: AskOn::Event(_), .. });
                    (beside && outside, true, Some(*step))
                }
                Trigger::Turn | Trigger::When | Trigger::StateDone(_) => (false, false, None),
            };
            if !happens {
                continue;
            }
            let Some(mut ops) = self.tried_before(transitions, nth, &[Op::Stir]) else { continue };
            if let Some(step) = needs {
                ops.push(Op::Needs(step));
                if matches!(transition.row.trigger, Trigger::StepDone(_)) {
                    self.answered(step, &mut ops);
                }
            }
            self.transition(point, transition, &ops, mode, sure, edges);
        }
        self.beside(point, edges);
        match mode {
            Mode::Rest => {
                let to = Point { leaf, mode: Mode::Begin };
                edges.push(Edge { ops: vec![Op::Stir, Op::Fresh], to, by: By::Turn, sure: true });
            }
            Mode::Begin => self.of_turn(point, transitions, edges),
            Mode::Walk(step, calls) => {
                self.of_step(point, transitions, StepId::at(step as usize), calls, edges);
            }
            Mode::Wait(step, calls) => {
                self.of_answer(point, transitions, StepId::at(step as usize), calls, edges);
            }
        }
    }

    /// Adds edges back to the point, for answers that arrive by themselves and trigger no transition, and for questions that events
    /// trigger.
    fn beside(&self, point: Point, edges: &mut Vec<Edge<'c>>) {
        let places = &self.facts.scopes;
        for state in self.chart.ancestors(point.leaf) {
            for step in self.steps.get(&state).into_iter().flatten() {
                let id = StepId::at(*step as usize);
                let row = &self.chart.steps[*step as usize];
                if places.step(id).excludes_leaf(self.chart, point.leaf) {
                    continue;
                }
                let mut ops = vec![Op::Stir];
                match &row.kind {
                    StepKind::Human(_) | StepKind::Run(..) => {
                        ops.push(Op::Needs(id));
                        self.answered(id, &mut ops);
                        if row.into.is_none() && self.chart.steps.len() > MOST_CALLS as usize {
                            continue;
                        }
                    }
                    StepKind::Ask { on: AskOn::Event(_), .. } => self.reads(id, row, &mut ops),
                    _ => continue,
                }
                edges.push(Edge { ops, to: point, by: By::Passed, sure: false });
            }
        }
    }

    /// Calls `visit` with the conditions of all transitions that can be taken and of all steps that can run.
    pub(super) fn each_site(&self, visit: &mut dyn FnMut(&Op<'c>)) {
        for (i, transition) in self.chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            if let Some(guard) = transition.guard.as_ref().filter(|_| self.facts.reach.can_take(id))
            {
                visit(&Op::Assume(Some(Site::Transition(id)), guard, true));
            }
        }
        for (i, step) in self.chart.steps.iter().enumerate() {
            let id = StepId::at(i);
            let runs = !self.facts.scopes.step(id).within.is_empty();
            if let Some(guard) = step.guard.as_ref().filter(|_| runs) {
                visit(&Op::Assume(Some(Site::Guard(id)), guard, true));
            }
        }
    }
}
