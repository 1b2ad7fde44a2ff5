//! The points of runs and the edges from each to the next, with the operations on them.
//!
//! **The problem.** The analysis needs the rules of the engine as a graph: what is tried first, what a skipped or failed step leads to,
//! which blocks run when a transition exits and enters states. One node for each configuration and each set of data would be too many.
//!
//! **The idea.** A `Point` is an active leaf and a `Mode`. `Points::edges` computes the edges of a point on demand, each with its
//! operations in the order of execution. What depends on the leaf only, such as its transitions and the leaves to which they lead, is
//! computed once (`LeafTransition`, `Arrival`). An edge also assumes that the guards of earlier transitions do not hold, and that no `when`
//! is enabled.
//!
//! Only one leaf is active at a time, so charts with parallels are not analyzed in this way. A history may restore any leaf of its parent,
//! and model calls are counted only up to `MOST_CALLS`; both over-approximate. `Edge::sure` marks the edges that a run can certainly take.
//!
//! **Example.**
//! `state home { llm plan { prompt "Where to, for {goal}?"  returns Text  done if answer == "out" -> away }  on stop -> away }`
//!
//! | point | edge | operations | next point |
//! |---|---|---|---|
//! | `home`, `Rest` | a turn begins | `Stir`, `Fresh` | `home`, `Begin` |
//! | `home`, `Begin` | no `on turn` | | `home`, `Walk` before `plan` |
//! | `home`, `Walk` | `plan` starts | the prompt is read | `home`, `Wait` for `plan` |
//! | `home`, `Wait` | `done`, taken | `Stir`, `Set` the answer, the guard holds | `away`, `Rest` |
//! | `home`, `Wait` | `done`, not taken | `Stir`, `Set` the answer, the guard does not hold | `home`, `Rest` |
//!
//! A failure of `plan` adds another edge from `Wait`. `on stop` adds an edge to `away` from `Rest` and from `Wait`, as events arrive only
//! while the run waits.

use super::cells::{How, Op, Site, constant};
use crate::analysis::facts::Facts;
use crate::analysis::facts::cover::{Key, keys};
use crate::analysis::facts::reach::{domain, is_end, is_history, is_leaf};
use crate::analysis::turn::calls::Value;
use chartc_core::arena::{ComponentId, EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, Expr, ExprKind, Failure, Insert, Permission, Receiver,
    StateKind, Step, StepKind, Template, TemplatePart, Transition, Trigger,
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
        // A deferred event is recalled while no input is handled, like one that the chart sends itself.
        let deferred = chart.states.iter().flat_map(|state| state.defers.iter().copied());
        let mut own_events: BTreeSet<EventId> = deferred.collect();
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
            chart.steps.iter().any(|s| s.is_on_event() && matches!(s.kind, StepKind::Ask { .. }));
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
        for (nth, transition) in transitions.iter().enumerate() {
            // Whether the trigger may happen here, whether it surely can, and the step that must have been started for it.
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
                    let row = &self.chart.steps[step.index()];
                    let beside = row.is_on_event()
                        || matches!(row.kind, StepKind::Human(_) | StepKind::Run(..));
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

    /// Adds edges back to the point, for answers that arrive by themselves and trigger no transition, and for steps that events start.
    fn beside(&self, point: Point, edges: &mut Vec<Edge<'c>>) {
        let places = &self.facts.scopes;
        for state in self.chart.ancestors(point.leaf) {
            for step in self.steps.get(&state).into_iter().flatten() {
                let id = StepId::at(*step as usize);
                let row = &self.chart.steps[*step as usize];
                if places.step(id).excludes_leaf(self.chart, point.leaf) {
                    continue;
                }
                let mut add =
                    |ops| edges.push(Edge { ops, to: point, by: By::Passed, sure: false });
                if row.is_on_event() {
                    let mut ops = vec![Op::Stir];
                    self.reads(id, row, &mut ops);
                    ops.push(Op::Started(id));
                    add(ops);
                }
                let is_answered = match &row.kind {
                    StepKind::Human(_) | StepKind::Run(..) => true,
                    StepKind::Llm | StepKind::Call(..) => row.is_on_event(),
                    StepKind::Ask { .. } | StepKind::Code(_) => false,
                };
                if is_answered {
                    let mut ops = vec![Op::Stir, Op::Needs(id)];
                    self.answered(id, &mut ops);
                    add(ops);
                }
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

// The edges from point to point, with the operations on them.

/// A connection from one point to another.
#[derive(Debug, Clone)]
pub(super) struct Edge<'c> {
    /// The operations in the order in which they happen.
    pub(super) ops: Vec<Op<'c>>,
    /// The point behind the edge.
    pub(super) to: Point,
    /// The cause, for reports.
    pub(super) by: By,
    /// Whether a run can certainly take the edge if its conditions hold. Other edges only widen the over-approximation.
    pub(super) sure: bool,
}

// The leaves to which a transition leads, with the blocks that run on the way. For charts in which one leaf is active at a time.

/// A leaf that is entered, the operations until then, and whether the transition certainly leads there.
pub(super) type Arrival<'c> = (StateId, Vec<Op<'c>>, bool);

/// The arrivals of a transition that is taken in a leaf, with its exit blocks, actions and entry blocks.
pub(super) fn taken<'c>(chart: &'c Chart, leaf: StateId, id: TransitionId) -> Vec<Arrival<'c>> {
    let transition = chart.transition(id);
    let site = Site::Moves(id);
    let mut ops: Vec<Op<'c>> = Vec::new();
    for argument in transition.targets.iter().flat_map(|t| &t.arguments) {
        ops.push(Op::Read(site, argument, How::Soft));
    }
    let top = domain(chart, transition);
    if let Some(top) = top {
        for state in chart.ancestors(leaf).take_while(|s| *s != top) {
            for block in &chart.state(state).exit {
                ops.push(Op::Do(Site::State(state), block));
            }
        }
    }
    if !transition.actions.is_empty() {
        ops.push(Op::Do(site, &transition.actions));
    }
    let (Some(top), Some(target)) = (top, transition.targets.first()) else {
        return vec![(leaf, ops, true)];
    };
    into(chart, target.state, top, ops)
}

/// The arrivals of entering a state by default, while `top` is active already. `ops` are the operations before.
pub(super) fn into<'c>(
    chart: &'c Chart,
    target: StateId,
    top: StateId,
    ops: Vec<Op<'c>>,
) -> Vec<Arrival<'c>> {
    let mut arrivals = Vec::new();
    // The state to enter, the innermost state that is active already, the operations so far, and whether this is certain.
    let mut open = vec![(target, top, ops, true)];
    while let Some((state, above, mut ops, sure)) = open.pop() {
        if is_history(chart, state) {
            let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
            enter(chart, parent, above, &mut ops);
            let last = if chart.contains(parent, above) { above } else { parent };
            if !chart.state(state).default_actions.is_empty() {
                ops.push(Op::Maybe(Site::State(state), &chart.state(state).default_actions));
            }
            // The history may restore any leaf of its parent.
            let below = (parent.0 + 1..chart.state(parent).end.0).map(StateId);
            for leaf in below.filter(|s| is_leaf(chart, *s)) {
                let mut all = ops.clone();
                for on in path(chart, last, leaf) {
                    blocks(chart, on, &mut all);
                    if !chart.state(on).default_actions.is_empty() {
                        all.push(Op::Maybe(Site::State(on), &chart.state(on).default_actions));
                    }
                }
                arrivals.push((leaf, all, false));
            }
            continue;
        }
        enter(chart, state, above, &mut ops);
        match &chart.state(state).kind {
            StateKind::Compound { initial } => {
                let row = chart.state(state);
                if !row.default_actions.is_empty() {
                    ops.push(Op::Do(Site::State(state), &row.default_actions));
                }
                // Without parallels, there is one initial state.
                for next in initial.iter().take(1) {
                    open.push((*next, state, ops.clone(), sure));
                }
            }
            _ => {
                arrivals.push((state, ops, sure));
            }
        }
    }
    arrivals
}

/// The states from below `above` down to `state`, outermost first.
fn path(chart: &Chart, above: StateId, state: StateId) -> Vec<StateId> {
    let mut path: Vec<StateId> = chart.ancestors(state).take_while(|s| *s != above).collect();
    path.reverse();
    path
}

/// Adds the entry blocks of the states from below `above` down to `state`.
fn enter<'c>(chart: &'c Chart, state: StateId, above: StateId, ops: &mut Vec<Op<'c>>) {
    if state == above || chart.contains(state, above) {
        return;
    }
    for on in path(chart, above, state) {
        blocks(chart, on, ops);
    }
}

/// Adds the entry blocks of one state.
fn blocks<'c>(chart: &'c Chart, state: StateId, ops: &mut Vec<Op<'c>>) {
    for block in &chart.state(state).entry {
        ops.push(Op::Do(Site::State(state), block));
    }
}

// The transitions of a leaf, with their effects. These are the same in every mode, so they are computed once for each leaf.

/// The maximum number of guards of earlier transitions that are assumed to be false at a later one. Further guards are ignored, which
/// over-approximates.
pub(super) const ASSUMED: usize = 64;

/// A transition that can be taken in a leaf.
#[derive(Debug, Clone)]
pub(super) struct LeafTransition<'c> {
    id: TransitionId,
    pub(super) row: &'c Transition,
    /// The operations before it is taken: its guard, the permissions that it needs, and the data of its trigger.
    asks: Vec<Op<'c>>,
    /// The transition domain, below which everything is exited; `None` if it is targetless.
    top: Option<StateId>,
    /// The leaves to which it leads.
    arrivals: Vec<Arrival<'c>>,
    /// The guards of the first earlier transitions with the same trigger. `None` if one of these is always taken instead.
    before: Option<Box<[&'c Expr]>>,
}

/// The transitions that precede the current one in the leaf, by key of their trigger.
#[derive(Default)]
struct Earlier<'c>(BTreeMap<Option<Key>, Same<'c>>);

/// Transitions with one key, in order.
#[derive(Default)]
struct Same<'c> {
    /// Those with a guard, with their positions in the leaf.
    guarded: Vec<(usize, &'c Transition)>,
    /// Those without a guard.
    sure: Vec<&'c Transition>,
}

impl<'c> Earlier<'c> {
    fn add(&mut self, nth: usize, transition: &'c Transition) {
        let mut all: Vec<Option<Key>> = keys(transition).into_iter().map(Some).collect();
        if all.is_empty() {
            all.push(None);
        }
        for key in all {
            let same = self.0.entry(key).or_default();
            match transition.guard {
                Some(_) => same.guarded.push((nth, transition)),
                None => same.sure.push(transition),
            }
        }
    }

    /// The guards of the transitions that are always tried before this one. `None` if one of them has no guard.
    fn before(&self, transition: &Transition) -> Option<Box<[&'c Expr]>> {
        let key = keys(transition).first().copied();
        let any = matches!(key, Some(Key::Event(_))).then(|| self.0.get(&Some(Key::AnyEvent)));
        let groups = || self.0.get(&key).into_iter().chain(any.flatten());
        if groups().flat_map(|same| &same.sure).any(|row| is_before(row, transition)) {
            return None;
        }
        let first = |same: &Same<'c>| {
            let fitting = same.guarded.iter().filter(|(_, row)| is_before(row, transition));
            fitting.take(ASSUMED).copied().collect::<Vec<_>>()
        };
        let mut all: Vec<_> = groups().flat_map(first).collect();
        all.sort_by_key(|(nth, _)| *nth);
        all.truncate(ASSUMED);
        Some(all.into_iter().filter_map(|(_, row)| row.guard.as_ref()).collect())
    }
}

/// Whether the earlier transition `row` is tried whenever this one is.
fn is_before(row: &Transition, transition: &Transition) -> bool {
    match (&row.trigger, &transition.trigger) {
        (Trigger::AnyEvent, Trigger::Event(_)) => true,
        (Trigger::Event(a), Trigger::Event(b)) => a == b || b.iter().all(|e| a.contains(e)),
        (a, b) => a == b,
    }
}

impl<'c> Points<'c, '_> {
    /// The transitions that can be taken in a leaf, in the order in which they are tried: those of inner states first.
    pub(super) fn transitions(&self, leaf: StateId) -> &[LeafTransition<'c>] {
        self.transitions[leaf.index()].get_or_init(|| {
            let places = &self.facts.scopes;
            let above = self.chart.ancestors(leaf);
            let lines = above.flat_map(|s| &self.chart.state(s).transitions);
            let acts = |id: &&TransitionId| {
                self.facts.reach.can_take(**id)
                    && !self.facts.late.contains(*id)
                    && places.transition(**id).may_hold_in(self.chart, leaf)
            };
            let mut earlier = Earlier::default();
            let known = lines.filter(acts).enumerate().map(|(nth, id)| {
                let row = self.chart.transition(*id);
                let arrivals = taken(self.chart, leaf, *id);
                let asks = self.asks(leaf, *id);
                let before = earlier.before(row);
                earlier.add(nth, row);
                LeafTransition {
                    id: *id,
                    row,
                    asks,
                    top: domain(self.chart, row),
                    arrivals,
                    before,
                }
            });
            known.collect()
        })
    }

    /// The operations before a transition is taken in the leaf.
    fn asks(&self, leaf: StateId, id: TransitionId) -> Vec<Op<'c>> {
        let transition = self.chart.transition(id);
        let guard = transition
            .guard
            .iter()
            .map(|guard| Op::Assume(Some(Site::Transition(id)), guard, true));
        let mut ops: Vec<Op<'c>> = guard.collect();
        if self.table && is_permitted(&transition.trigger) {
            self.permissions(leaf, id, &mut ops);
        }
        match &transition.trigger {
            Trigger::After(e) | Trigger::AfterTurns(e) | Trigger::StepTimeout(_, e) => {
                ops.push(Op::Read(Site::Moves(id), e, How::Soft));
            }
            Trigger::Choice(choice) => {
                if let ChoiceKind::Call(_, Some(into)) = self.chart.choices[choice.index()].kind {
                    ops.push(Op::Set(Value::Variable(into)));
                }
            }
            _ => {}
        }
        ops
    }

    /// Adds the guards of the permissions that the transition needs for its moves from a leaf.
    fn permissions(&self, leaf: StateId, id: TransitionId, ops: &mut Vec<Op<'c>>) {
        for target in &self.chart.transition(id).targets {
            let rows = self.rows.get(&target.state).map_or(&[][..], Vec::as_slice);
            let fits = |p: &Permission| p.from.is_none_or(|from| self.chart.contains(from, leaf));
            let fitting: Vec<_> = rows.iter().filter(|(_, p)| fits(p)).collect();
            if fitting.iter().any(|(_, p)| p.guard.is_none()) {
                continue;
            }
            for (row, permission) in &fitting {
                let Some(guard) = &permission.guard else { continue };
                let site = Site::Permission(*row, id);
                // With several rows, one of the guards must hold, but none of them is certain.
                ops.push(match fitting.len() {
                    1 => Op::Assume(Some(site), guard, true),
                    _ => Op::Read(site, guard, How::Soft),
                });
            }
        }
    }

    /// `first`, followed by the assumption that no transition before the nth is taken for its trigger. `None` if one always is.
    pub(super) fn tried_before(
        &self,
        transitions: &[LeafTransition<'c>],
        nth: usize,
        first: &[Op<'c>],
    ) -> Option<Vec<Op<'c>>> {
        let transition = transitions[nth].row;
        let mut ops = first.to_vec();
        // Earlier transitions say nothing here: with a transition table, those of a step may be refused; options are chosen, not tried.
        if self.table && (transition.trigger.step().is_some())
            || matches!(transition.trigger, Trigger::Choice(_))
        {
            return Some(ops);
        }
        let before = transitions[nth].before.as_ref()?.iter();
        ops.extend(before.map(|guard| Op::Assume(None, guard, false)));
        Some(ops)
    }

    /// Adds the edges of a transition that is taken after the operations of `before`.
    pub(super) fn transition(
        &self,
        point: Point,
        transition: &LeafTransition<'c>,
        before: &[Op<'c>],
        mode: Mode,
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        for (leaf, more, certain) in &transition.arrivals {
            let to = Point { leaf: *leaf, mode: self.after(mode, *leaf, transition.top) };
            let by = By::Transition(point.leaf, transition.id, *leaf);
            let ops = [before, &transition.asks, more].concat();
            edges.push(Edge { ops, to, by, sure: sure && *certain });
        }
    }
}

/// Whether transitions with this trigger need a permission, if the chart has a transition table.
fn is_permitted(trigger: &Trigger) -> bool {
    trigger.step().is_some() || matches!(trigger, Trigger::Choice(_))
}

// The edges of a walk: what steps read, how they end, and to what their outcomes lead.

impl<'c> Points<'c, '_> {
    /// Adds the edges from the beginning of a turn: `on turn` transitions, and the start of the walk if none is taken.
    pub(super) fn of_turn(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        edges: &mut Vec<Edge<'c>>,
    ) {
        // The assumption that no transition is taken; `None` once one without a guard is.
        let mut missed = Some(Vec::new());
        for (nth, transition) in transitions.iter().enumerate() {
            if !matches!(transition.row.trigger, Trigger::Turn) {
                continue;
            }
            if let Some(ops) = self.tried_before(transitions, nth, &[]) {
                self.transition(point, transition, &ops, Mode::Begin, true, edges);
            }
            match (&transition.row.guard, &mut missed) {
                (Some(guard), Some(missed)) => missed.push(Op::Assume(None, guard, false)),
                (_, missed) => *missed = None,
            }
        }
        if let Some(ops) = missed {
            let to = Point { leaf: point.leaf, mode: self.walk(point.leaf, 0, 0) };
            edges.push(Edge { ops, to, by: By::Passed, sure: true });
        }
    }

    /// Adds the readings of a step when it starts.
    pub(super) fn reads(&self, id: StepId, step: &'c Step, ops: &mut Vec<Op<'c>>) {
        for (nth, part) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            if let TemplatePart::Hole { expr, .. } = part {
                ops.push(Op::Read(Site::Prompt(id, nth), expr, How::Hard));
            }
        }
        for (component, insert) in self.injected.get(&id).into_iter().flatten() {
            if let Some(guard) = &insert.guard {
                ops.push(Op::Read(Site::Injection(id, *component), guard, How::Soft));
            }
            // The guard is not assumed for the text, so with a guard, values that it rules out would seem to be read here.
            if insert.guard.is_none() {
                let text = &self.chart.components[component.index()].text;
                for (nth, part) in text.parts.iter().enumerate() {
                    if let TemplatePart::Hole { expr, .. } = part {
                        ops.push(Op::Read(Site::Fragment(id, *component, nth), expr, How::Hard));
                    }
                }
            }
        }
        let site = Site::Arguments(id);
        ops.extend(step.each.iter().map(|each| Op::Read(site, &each.list, How::Soft)));
        match &step.kind {
            StepKind::Call(_, arguments) => {
                ops.extend(arguments.iter().map(|e| Op::Read(site, e, How::Soft)));
            }
            StepKind::Run(run) => {
                ops.extend(run.arguments.iter().map(|(_, e)| Op::Read(site, e, How::Soft)));
            }
            StepKind::Human(text) => ops.extend(text.holes().map(|e| Op::Read(site, e, How::Hard))),
            StepKind::Llm | StepKind::Code(_) | StepKind::Ask { .. } => {}
        }
    }

    /// Adds the effects of an answer: the step has one, and so has the variable in which it is stored.
    pub(super) fn answered(&self, id: StepId, ops: &mut Vec<Op<'c>>) {
        ops.push(Op::Set(Value::Answer(id)));
        ops.extend(self.chart.steps[id.index()].into.map(|v| Op::Set(Value::Variable(v))));
    }

    /// Adds the edges from before a step: it is skipped, started and awaited, or runs at once.
    pub(super) fn of_step(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let leaf = point.leaf;
        let next = Point { leaf, mode: self.walk(leaf, id.0 + 1, calls) };
        let wait = |calls| Point { leaf, mode: Mode::Wait(id.0, calls) };
        if step.is_on_event() {
            edges.push(Edge { ops: Vec::new(), to: next, by: By::Passed, sure: true });
            return;
        }
        let guard = |holds| {
            step.guard.iter().map(move |g| Op::Assume(Some(Site::Guard(id)), g, holds)).collect()
        };
        if step.guard.is_some() {
            edges.push(Edge { ops: guard(false), to: next, by: By::Skipped(id), sure: true });
        }
        let mut ops: Vec<Op<'c>> = guard(true);
        let model = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
        let used = if self.cap.is_some() { calls + u8::from(model) } else { 0 };
        let is_past = self.cap.is_some_and(|cap| u32::from(calls) >= cap);
        // No call is left: the turn ends, unless the step may do without one.
        if model && is_past {
            let to = Point { leaf, mode: Mode::Rest };
            edges.push(Edge { ops, to, by: By::Passed, sure: true });
            if matches!(step.kind, StepKind::Llm) && step.each.is_none() {
                return;
            }
            ops = guard(true);
        }
        self.reads(id, step, &mut ops);
        match &step.kind {
            StepKind::Llm | StepKind::Call(..) => {
                if step.each.is_some() && model {
                    // An `each` over an empty list takes no call.
                    let to = wait(calls);
                    edges.push(Edge { ops: ops.clone(), to, by: By::Passed, sure: false });
                }
                if !(model && is_past) {
                    edges.push(Edge { ops, to: wait(used), by: By::Passed, sure: true });
                }
            }
            StepKind::Ask { .. } => {
                let to = wait(if is_past { calls } else { used });
                edges.push(Edge { ops: ops.clone(), to, by: By::Passed, sure: !is_past });
                // If a single option is taken without asking, it costs no call.
                edges.push(Edge { ops, to: wait(calls), by: By::Passed, sure: false });
            }
            StepKind::Human(_) | StepKind::Run(..) => {
                ops.push(Op::Started(id));
                edges.push(Edge { ops, to: next, by: By::Passed, sure: true });
                // The step is under way already, or it starts by itself on entry.
                edges.push(Edge { ops: Vec::new(), to: next, by: By::Passed, sure: false });
            }
            StepKind::Code(actions) => {
                // `failed` continues after a part of the block has run.
                let mut failed = ops.clone();
                ops.push(Op::Do(Site::Code(id), actions));
                self.ended(point, transitions, id, calls, &ops, edges);
                failed.push(Op::Maybe(Site::Code(id), actions));
                self.failed(point, transitions, id, calls, &failed, false, edges);
            }
        }
    }

    /// Adds the edges from an awaited step: its answer or failure.
    pub(super) fn of_answer(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let leaf = point.leaf;
        if step.tools.is_some() {
            // After a tool of the step has returned, other transitions may be enabled.
            edges.push(Edge { ops: vec![Op::Stir], to: point, by: By::Passed, sure: false });
        }
        if matches!(step.kind, StepKind::Ask { .. }) {
            let next = Mode::Walk(id.0 + 1, calls);
            for transition in transitions {
                let other = transition.row.trigger == Trigger::StepElse(id);
                if other || matches!(transition.row.trigger, Trigger::Choice(_)) {
                    self.transition(point, transition, &[Op::Stir], next, true, edges);
                }
            }
            let to = Point { leaf, mode: self.walk(leaf, id.0 + 1, calls) };
            edges.push(Edge { ops: vec![Op::Stir], to, by: By::Passed, sure: false });
            if let Some(ends) = &step.ends_turn {
                let ops = vec![Op::Stir, Op::Assume(Some(Site::EndsTurn(id)), ends, true)];
                edges.push(Edge {
                    ops,
                    to: Point { leaf, mode: Mode::Rest },
                    by: By::Passed,
                    sure: false,
                });
            }
        } else {
            let mut ops = vec![Op::Stir];
            self.answered(id, &mut ops);
            self.ended(point, transitions, id, calls, &ops, edges);
        }
        self.failed(point, transitions, id, calls, &[Op::Stir], true, edges);
    }

    /// Adds the edges of a step that has succeeded. Its `ends turn` is evaluated before its transitions.
    fn ended(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        ops: &[Op<'c>],
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step: &'c Step = &self.chart.steps[id.index()];
        let ends = step.ends_turn.as_ref();
        let mut ways: Vec<(Vec<Op<'c>>, bool)> = Vec::new();
        match ends {
            None => ways.push((ops.to_vec(), false)),
            Some(ends) => {
                for over in [true, false] {
                    let assumed = Op::Assume(Some(Site::EndsTurn(id)), ends, over);
                    ways.push((ops.iter().copied().chain([assumed]).collect(), over));
                }
            }
        }
        for (ops, over) in ways {
            let next = if over { Mode::Rest } else { Mode::Walk(id.0 + 1, calls) };
            self.outcome(
                point,
                transitions,
                &Trigger::StepDone(id),
                &ops,
                next,
                By::Done(id),
                true,
                edges,
            );
        }
    }

    /// Adds the edges of a step that has failed for good. `sure` is false if the failure is only possible.
    #[allow(clippy::too_many_arguments, reason = "where, what, and what it adds to")]
    fn failed(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        ops: &[Op<'c>],
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let goes_on = Mode::Walk(id.0 + 1, calls);
        let next = match step.failure.then {
            Failure::Fail => Mode::Rest,
            Failure::Skip | Failure::Take(_) => goes_on,
        };
        let triggers = transitions.iter().map(|transition| &transition.row.trigger);
        let other = |t: &&Trigger| {
            t.step() == Some(id)
                && matches!(
                    t,
                    Trigger::StepTimeout(..) | Trigger::StepDoubt(_) | Trigger::StepElse(_)
                )
        };
        let others: Vec<Trigger> = triggers.filter(other).cloned().collect();
        for trigger in others {
            self.outcome(point, transitions, &trigger, ops, goes_on, By::Failed(id), sure, edges);
        }
        self.outcome(
            point,
            transitions,
            &Trigger::StepError(id),
            ops,
            next,
            By::Failed(id),
            sure,
            edges,
        );
    }

    /// Adds the edges of the transitions on an outcome, and the edge on which none of them is taken.
    #[allow(clippy::too_many_arguments, reason = "where, what, and what it adds to")]
    fn outcome(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        trigger: &Trigger,
        ops: &[Op<'c>],
        next: Mode,
        by: By,
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let mut missed: Option<Vec<Op<'c>>> = Some(ops.to_vec());
        for (nth, transition) in transitions.iter().enumerate() {
            if transition.row.trigger != *trigger {
                continue;
            }
            if let Some(all) = self.tried_before(transitions, nth, ops) {
                // A transition on an error continues the walk, even if the failure would have ended the turn.
                let after =
                    if matches!(trigger, Trigger::StepError(_)) && matches!(next, Mode::Rest) {
                        past(point)
                    } else {
                        next
                    };
                self.transition(point, transition, &all, after, sure, edges);
            }
            // With a transition table, any of them may be refused, so nothing is known if none is taken.
            match (&transition.row.guard, &mut missed, self.table) {
                (_, _, true) => {}
                (Some(guard), Some(missed), _) => missed.push(Op::Assume(None, guard, false)),
                (_, missed, _) => *missed = None,
            }
        }
        if let Some(ops) = missed {
            let mode = match next {
                Mode::Walk(step, calls) => self.walk(point.leaf, step, calls),
                Mode::Rest | Mode::Begin | Mode::Wait(..) => next,
            };
            edges.push(Edge { ops, to: Point { leaf: point.leaf, mode }, by, sure });
        }
    }
}

/// The mode of a walk that continues after the step of this point.
const fn past(point: Point) -> Mode {
    match point.mode {
        Mode::Walk(step, calls) | Mode::Wait(step, calls) => Mode::Walk(step + 1, calls),
        Mode::Rest | Mode::Begin => point.mode,
    }
}

// Replaces variables in expressions by known values, and splits conditions into parts.

/// The maximum nesting of an expression that is examined; deeper parts stay as they are.
const DEEPEST: usize = 100;

/// The expression with known values in place of its variables. Parts that are constant then are evaluated.
pub(crate) fn with_values(
    chart: &Chart,
    expr: &Expr,
    values: &dyn Fn(VarId) -> Option<Expr>,
) -> Expr {
    let mut with = expr.clone();
    let value = |e: &Expr| if let ExprKind::Variable(id) = e.kind { values(id) } else { None };
    replace(chart, &mut with, &value, 0);
    with
}

/// Puts other expressions in the place of parts, and evaluates what is constant then.
pub(super) fn replace(
    chart: &Chart,
    expr: &mut Expr,
    by: &dyn Fn(&Expr) -> Option<Expr>,
    depth: usize,
) {
    if depth > DEEPEST {
        return;
    }
    // A predicate is replaced by its definition, so that the variables in it are found.
    if let ExprKind::Predicate(id) = expr.kind {
        *expr = chart.predicates[id.index()].expr.clone();
    }
    if let Some(other) = by(expr) {
        *expr = other;
        return;
    }
    expr.each_part_mut(&mut |part| replace(chart, part, by, depth + 1));
    fold(expr);
}

/// Replaces a constant expression by the literal of its value.
fn fold(expr: &mut Expr) {
    if !matches!(expr.kind, ExprKind::Text(_))
        && let Some(value) = constant(expr)
        && let Some(kind) = literal(&value)
    {
        expr.kind = kind;
    }
}

/// The literal of a value; `None` if the language has none for it.
pub(super) fn literal(value: &Data) -> Option<ExprKind> {
    match value {
        Data::None => Some(ExprKind::None),
        Data::Bool(b) => Some(ExprKind::Bool(*b)),
        Data::Int(n) => Some(ExprKind::Int(*n)),
        Data::Float(n) => Some(ExprKind::Float(*n)),
        Data::Text(text) => {
            let parts =
                if text.is_empty() { Vec::new() } else { vec![TemplatePart::Text(text.clone())] };
            Some(ExprKind::Text(Template { parts }))
        }
        Data::Duration(_) | Data::List(_) | Data::Map(_) => None,
    }
}

/// The conditions that together say that the condition has this value: the operands of `and` if it holds, of `or` if it does not.
pub(super) fn split(condition: Expr, value: bool) -> Vec<(Expr, bool)> {
    let joined = if value { BinaryOp::And } else { BinaryOp::Or };
    let (mut open, mut parts) = (vec![(condition, value)], Vec::new());
    while let Some((condition, value)) = open.pop() {
        if let ExprKind::Binary(op, a, b) = condition.kind {
            if op == joined {
                open.extend([(*a, value), (*b, value)]);
            } else {
                parts.push((Expr { kind: ExprKind::Binary(op, a, b), ty: condition.ty }, value));
            }
        } else {
            parts.push((condition, value));
        }
    }
    parts
}
