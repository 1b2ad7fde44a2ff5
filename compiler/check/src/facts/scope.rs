//! Scope conditions: the states in which a transition or a step can act.
//!
//! They combine what is known before any run is considered: the source state, `from` and `except`, `in(state)` in guards, guards that
//! can never hold, the questions that offer an option, and the transition table. For example, `on stop if in(work.a) -> done` in `work`
//! can act only while `work.a` is active.

use crate::facts::asking::Takers;
use crate::facts::guard::{Verdict, decide};
use crate::facts::range::Ranges;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{
    BinaryOp, Chart, Expr, ExprKind, Observable, StateKind, StepKind, Transition, Trigger, UnaryOp,
};
use std::collections::BTreeMap;

/// A necessary condition for acting: some state of `within` is active, and no state of `except`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeCondition {
    /// Ascending. Empty if acting is impossible. A state and its descendant are both listed only if the chart names both.
    pub within: Vec<StateId>,
    /// Excluded states, all descendants of states in `within`.
    pub except: Vec<StateId>,
    /// Whether the real condition also involves a state of another region. Then acting is impossible elsewhere, but not certain here.
    pub is_approximate: bool,
}

impl ScopeCondition {
    /// Whether acting is possible while the leaf is active.
    pub fn may_hold_in(&self, chart: &Chart, leaf: StateId) -> bool {
        self.within.iter().any(|s| chart.contains(*s, leaf)) && !self.excludes_leaf(chart, leaf)
    }

    /// Whether a guard tests for states that are never active here, so that it is false whatever the variables are.
    pub fn is_closed_by(&self, chart: &Chart, guard: &Expr) -> bool {
        let mut rest = self.clone();
        rest.confine(chart, guard);
        rest.within.is_empty() && !self.within.is_empty()
    }

    /// Whether a guard holds here whatever the variables are.
    pub fn is_opened_by(&self, chart: &Chart, guard: &Expr) -> bool {
        let opposite = ExprKind::Unary(UnaryOp::Not, Box::new(guard.clone()));
        decide(chart, &[(guard, false)]) == Verdict::Never
            || self.is_closed_by(chart, &Expr { kind: opposite, ty: guard.ty.clone() })
    }

    /// The condition that one state is active.
    pub fn in_state(state: StateId) -> Self {
        Self { within: vec![state], ..Self::default() }
    }

    /// Whether the leaf is inside an excluded state.
    pub fn excludes_leaf(&self, chart: &Chart, leaf: StateId) -> bool {
        self.except.iter().any(|s| chart.contains(*s, leaf))
    }

    /// Adds the condition that some state of `to` is active.
    fn narrow(&mut self, chart: &Chart, to: &[StateId]) {
        self.is_approximate |= self.within.iter().any(|s| to.iter().any(|t| apart(chart, *s, *t)));
        self.within = meet(chart, &self.within, to);
    }

    /// Adds the condition that none of these states is active.
    fn exclude(&mut self, chart: &Chart, states: &[StateId]) {
        if states.is_empty() && self.except.is_empty() {
            return;
        }
        self.is_approximate |=
            self.within.iter().any(|s| states.iter().any(|e| apart(chart, *s, *e)));
        self.except.extend(states);
        self.except.sort_unstable();
        self.except.dedup();
        // Keeps the invariants: no state of `within` is excluded entirely, and every exclusion is inside some state of `within`.
        self.within.retain(|s| !self.except.iter().any(|e| chart.contains(*e, *s)));
        let within = &self.within;
        self.except.retain(|e| within.iter().any(|s| chart.contains(*s, *e)));
    }

    /// Adds the condition that the guard may hold.
    fn guard(&mut self, chart: &Chart, ranges: &Ranges, guard: Option<&Expr>) {
        let Some(guard) = guard else { return };
        if ranges.forbid(chart, guard) {
            self.within.clear();
            return;
        }
        self.confine(chart, guard);
    }

    /// Narrows the condition by the states that the guard tests for.
    fn confine(&mut self, chart: &Chart, guard: &Expr) {
        if let Some(states) = confines(chart, guard) {
            self.narrow(chart, &states);
        }
        self.exclude(chart, &excludes(chart, guard, true));
    }
}

/// The scope conditions of all transitions and steps of a chart.
#[derive(Debug, Clone)]
pub struct ScopeConditions {
    /// By transition. Empty if the guard cannot hold, the step cannot run, no question offers the option, or the transition table forbids
    /// the move everywhere.
    pub transitions: Vec<ScopeCondition>,
    /// By transition: the states in which it could act if the transition table did not forbid the move from there.
    pub forbidden: Vec<Vec<StateId>>,
    /// By row of the transition table: whether some step or option makes a move that the row permits.
    pub used: Vec<bool>,
    /// By step.
    pub steps: Vec<ScopeCondition>,
    /// Questions that are never asked, with the transitions that always take their event or the turn. Their scope condition is empty.
    pub unput: BTreeMap<StepId, Vec<TransitionId>>,
}

impl ScopeConditions {
    /// Computes the conditions from scopes, guards, steps and permissions.
    pub fn new(chart: &Chart, ranges: &Ranges) -> Self {
        let mut steps: Vec<ScopeCondition> = chart
            .steps
            .iter()
            .map(|step| {
                let mut place = ScopeCondition::in_state(step.state);
                place.guard(chart, ranges, step.guard.as_ref());
                place
            })
            .collect();
        // Steps come first: transitions on their outcomes and options of questions inherit their conditions.
        let unput = unput(chart, &mut steps);
        let mut table = Table::new(chart);
        let asks = asks(chart, &steps);
        let interrupted = is_interrupted(chart);
        let mut transitions = Vec::with_capacity(chart.transitions.len());
        let mut forbidden = Vec::with_capacity(chart.transitions.len());
        for transition in &chart.transitions {
            let mut place = transition_scope(chart, transition, &steps, interrupted);
            place.guard(chart, ranges, transition.guard.as_ref());
            if matches!(transition.trigger, Trigger::Choice(_)) {
                place.within = offered(chart, &place.within, &asks);
            }
            let moves = transition.trigger.step().is_some()
                || matches!(transition.trigger, Trigger::Choice(_));
            let refused =
                if moves { table.apply(chart, transition, &mut place) } else { Vec::new() };
            transitions.push(place);
            forbidden.push(refused);
        }
        Self { transitions, forbidden, used: table.used, steps, unput }
    }

    /// The states in which a transition can act.
    pub fn transition(&self, id: TransitionId) -> &ScopeCondition {
        &self.transitions[id.index()]
    }

    /// The states in which a step can run.
    pub fn step(&self, id: StepId) -> &ScopeCondition {
        &self.steps[id.index()]
    }
}

/// Clears the conditions of questions that are never asked, and returns these questions with the transitions that take their event.
fn unput(chart: &Chart, steps: &mut [ScopeCondition]) -> BTreeMap<StepId, Vec<TransitionId>> {
    let mut found = BTreeMap::new();
    if !chart.steps.iter().any(|step| matches!(step.kind, StepKind::Ask { .. })) {
        return found;
    }
    let takers = Takers::new(chart);
    for i in 0..steps.len() {
        if let Some(by) = takers.before(chart, StepId::at(i), steps) {
            steps[i].within.clear();
            found.insert(StepId::at(i), by);
        }
    }
    found
}

/// The condition that the `from` of a transition describes. Without a `from`: that its source is active.
pub fn scope(chart: &Chart, transition: &Transition) -> ScopeCondition {
    let mut place = ScopeCondition::in_state(transition.source);
    if let Some(scope) = &transition.scope {
        if !scope.any_of.is_empty() {
            place.narrow(chart, &scope.any_of);
        }
        place.exclude(chart, &scope.none_of);
    }
    place
}

/// Whether anything besides the walk may change the configuration while a step is under way, such as an event, a deadline, or the
/// result of a tool that a step calls.
fn is_interrupted(chart: &Chart) -> bool {
    let outside = |t: &Trigger| {
        matches!(
            t,
            Trigger::Event(_)
                | Trigger::AnyEvent
                | Trigger::AnyOccurrence
                | Trigger::After(_)
                | Trigger::Error(_)
                | Trigger::LimitWarn(_)
        )
    };
    let beside = |k: &StepKind| matches!(k, StepKind::Human(_) | StepKind::Run(..));
    chart.transitions.iter().any(|t| outside(&t.trigger))
        || chart.steps.iter().any(|s| beside(&s.kind) || s.tools.is_some())
}

/// Whether a step may end although its condition no longer holds. In general it may, because a step is canceled only when its state is
/// exited. But a question ends with its leaf, and code takes no time.
fn outlives(chart: &Chart, step: StepId, interrupted: bool) -> bool {
    match &chart.steps[step.index()].kind {
        StepKind::Code(_) | StepKind::Ask { .. } => false,
        _ => interrupted,
    }
}

/// The condition of a transition without its guard: its scope, the condition of its step, or the completion of its state.
fn transition_scope(
    chart: &Chart,
    transition: &Transition,
    steps: &[ScopeCondition],
    interrupted: bool,
) -> ScopeCondition {
    let mut place = scope(chart, transition);
    if let Some(id) = transition.trigger.step() {
        let step = &steps[id.index()];
        if step.within.is_empty() || !outlives(chart, id, interrupted) {
            place.is_approximate |= step.is_approximate;
            place.narrow(chart, &step.within);
            place.exclude(chart, &step.except);
        }
    }
    if let Trigger::StateDone(state) = transition.trigger {
        if matches!(chart.state(state).kind, StateKind::Compound { .. }) {
            let ends: Vec<_> = chart.children(state).filter(|c| is_final(chart, *c)).collect();
            place.narrow(chart, &ends);
        } else {
            place.narrow(chart, &[state]);
        }
    }
    place
}

/// Whether a state is final.
pub fn is_final(chart: &Chart, state: StateId) -> bool {
    matches!(chart.state(state).kind, StateKind::Final { .. })
}

/// The states in which a question may be open, ascending.
fn asks(chart: &Chart, steps: &[ScopeCondition]) -> Vec<StateId> {
    let mut states: Vec<StateId> = chart
        .steps
        .iter()
        .zip(steps)
        .filter(|(step, _)| matches!(step.kind, StepKind::Ask { .. }))
        .flat_map(|(_, place)| place.within.iter().copied())
        .collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// The parts of `within` in which a question may be open: a state entirely if the question belongs to it or an ancestor, otherwise its
/// descendants that have a question.
fn offered(chart: &Chart, within: &[StateId], asks: &[StateId]) -> Vec<StateId> {
    let mut parts = Vec::new();
    // `asks` is ascending, and the descendants of a state are a contiguous range of ids.
    for state in within {
        if chart.ancestors(*state).any(|a| asks.binary_search(&a).is_ok()) {
            parts.push(*state);
        } else {
            let from = asks.partition_point(|a| a < state);
            let below = asks[from..].iter().take_while(|a| chart.contains(*state, **a));
            parts.extend(below.copied());
        }
    }
    parts
}

/// The transition table, by the state that a row permits to enter: the index of the row, and the state to leave (`None` for any).
struct Table {
    rows: BTreeMap<StateId, Vec<(usize, Option<StateId>)>>,
    /// By row: whether some move needs it.
    used: Vec<bool>,
}

impl Table {
    fn new(chart: &Chart) -> Self {
        let mut rows: BTreeMap<StateId, Vec<(usize, Option<StateId>)>> = BTreeMap::new();
        for (row, permission) in chart.permissions.iter().enumerate() {
            let guard = permission.guard.as_ref();
            // A permission whose guard never holds permits nothing.
            if !guard.is_some_and(|g| matches!(decide(chart, &[(g, true)]), Verdict::Never)) {
                rows.entry(permission.to).or_default().push((row, permission.from));
            }
        }
        Self { rows, used: vec![false; chart.permissions.len()] }
    }

    /// Narrows the condition of a move to where the table permits it. Returns the states in which the table forbids it entirely.
    fn apply(
        &mut self,
        chart: &Chart,
        transition: &Transition,
        place: &mut ScopeCondition,
    ) -> Vec<StateId> {
        if self.used.is_empty() {
            return Vec::new();
        }
        let mut refused = Vec::new();
        for target in &transition.targets {
            let rows = self.rows.get(&target.state).map_or(&[][..], Vec::as_slice);
            for (row, from) in rows {
                let meets = from.is_none_or(|from| !meet(chart, &place.within, &[from]).is_empty());
                self.used[*row] |= meets && !place.within.is_empty();
            }
            if rows.iter().any(|(_, from)| from.is_none()) {
                continue;
            }
            let from: Vec<StateId> = rows.iter().filter_map(|(_, from)| *from).collect();
            refused.extend(
                place.within.iter().filter(|s| meet(chart, &[**s], &from).is_empty()).copied(),
            );
            place.narrow(chart, &from);
        }
        refused
    }
}

/// The states in which one of `left` and one of `right` can be active together, ascending. Of two such states, the inner one; of two in
/// different regions, the one of `left`.
pub fn meet(chart: &Chart, left: &[StateId], right: &[StateId]) -> Vec<StateId> {
    let mut both = Vec::new();
    for a in left {
        for b in right {
            if chart.contains(*a, *b) {
                both.push(*b);
            } else if chart.contains(*b, *a) || !exclusive(chart, *a, *b) {
                both.push(*a);
            }
        }
    }
    both.sort_unstable();
    both.dedup();
    both
}

/// Whether two states are in different regions of the same parallel.
fn apart(chart: &Chart, a: StateId, b: StateId) -> bool {
    !chart.contains(a, b) && !chart.contains(b, a) && !exclusive(chart, a, b)
}

/// Whether two states can never be active together, because they are in different children of a compound.
pub fn exclusive(chart: &Chart, a: StateId, b: StateId) -> bool {
    let common = chart.ancestors(a).find(|s| chart.contains(*s, b));
    common.is_some_and(|s| s != a && s != b && !matches!(chart.state(s).kind, StateKind::Parallel))
}

/// States of which at least one is active whenever the condition holds. `None` if the condition implies no such set.
fn confines(chart: &Chart, guard: &Expr) -> Option<Vec<StateId>> {
    if let ExprKind::Observable(Observable::In(state)) = &guard.kind {
        Some(vec![*state])
    } else if let ExprKind::Predicate(id) = &guard.kind {
        confines(chart, &chart.predicates[id.index()].expr)
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &guard.kind {
        match (confines(chart, a), confines(chart, b)) {
            (Some(a), Some(b)) => Some(meet(chart, &a, &b)),
            (one, other) => one.or(other),
        }
    } else if let ExprKind::Binary(BinaryOp::Or, a, b) = &guard.kind {
        Some([confines(chart, a)?, confines(chart, b)?].concat())
    } else {
        None
    }
}

/// States that are all inactive whenever the condition has this value.
fn excludes(chart: &Chart, guard: &Expr, value: bool) -> Vec<StateId> {
    let joined = if value { BinaryOp::And } else { BinaryOp::Or };
    if let ExprKind::Observable(Observable::In(state)) = &guard.kind {
        if value { Vec::new() } else { vec![*state] }
    } else if let ExprKind::Predicate(id) = &guard.kind {
        excludes(chart, &chart.predicates[id.index()].expr, value)
    } else if let ExprKind::Unary(UnaryOp::Not, inner) = &guard.kind {
        excludes(chart, inner, !value)
    } else if let ExprKind::Binary(op, a, b) = &guard.kind
        && *op == joined
    {
        [excludes(chart, a, value), excludes(chart, b, value)].concat()
    } else {
        Vec::new()
    }
}
