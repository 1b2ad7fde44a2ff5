//! The positions in the picture: the nodes that represent a state, and the states from which a transition starts.

use chartc_check::lower::SourceMap;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{
    BinaryOp, Chart, Expr, ExprKind, Observable, StateKind, Transition, Trigger,
};
use std::collections::{BTreeMap, BTreeSet};

/// A node of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PictureNode {
    /// A state without children.
    State(StateId),
    /// The dot that marks the initial state of a compound.
    Initial(StateId),
    /// `*`: any state of a compound.
    Any(StateId),
}

impl PictureNode {
    pub(crate) fn name(self) -> String {
        match self {
            Self::State(s) => format!("s{}", s.0),
            Self::Initial(s) => format!("i{}", s.0),
            Self::Any(s) => format!("any{}", s.0),
        }
    }
}

/// The place at which the edge of a transition starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The border of a state.
    State(StateId),
    /// The `*` of a compound.
    Any(StateId),
}

/// The positions in the picture of a chart's states, steps and transitions.
pub(crate) struct Places<'c> {
    pub(crate) chart: &'c Chart,
    map: &'c SourceMap,
    /// For each state, the node at which an edge from above ends if it is not clipped.
    top: Vec<PictureNode>,
    /// For each state, the node at which an edge from above ends if it is clipped at the state's border. No node in the state is higher, so
    /// the edge's label is not drawn inside the state.
    border: Vec<PictureNode>,
    /// For each state, the node at which an edge from below ends.
    bottom: Vec<PictureNode>,
    /// For each step, the states to which its `if` restricts it.
    homes: Vec<Vec<StateId>>,
}

impl<'c> Places<'c> {
    /// Computes all positions in time linear in the size of the chart.
    pub(crate) fn new(chart: &'c Chart, map: &'c SourceMap) -> Self {
        let mut top: Vec<PictureNode> = chart.state_ids().map(PictureNode::State).collect();
        let (mut bottom, mut border) = (top.clone(), top.clone());
        // Children come after their parent, so they are placed first.
        for id in (0..chart.states.len()).rev().map(StateId::at) {
            match &chart.state(id).kind {
                StateKind::Compound { initial } => {
                    top[id.index()] = PictureNode::Initial(id);
                    // A history is drawn above its default.
                    let is_history =
                        |c: &StateId| matches!(chart.state(*c).kind, StateKind::History { .. });
                    let history = chart.children(id).find(is_history);
                    border[id.index()] =
                        history.map_or(PictureNode::Initial(id), PictureNode::State);
                    let last =
                        chart.children(id).filter(|c| is_left_by_transitions(chart, *c)).last();
                    // The initial state is drawn below its dot, and so below its siblings.
                    let pushed = initial.iter().copied().find(|s| !is_beside_dot(chart, id, *s));
                    let lowest = pushed.or(last);
                    bottom[id.index()] =
                        lowest.map_or(PictureNode::Initial(id), |c| bottom[c.index()]);
                }
                StateKind::Parallel => {
                    if let Some(first) =
                        chart.children(id).find(|c| is_left_by_transitions(chart, *c))
                    {
                        top[id.index()] = top[first.index()];
                        border[id.index()] = border[first.index()];
                        bottom[id.index()] = bottom[first.index()];
                    }
                }
                StateKind::Atomic | StateKind::Final { .. } | StateKind::History { .. } => {}
            }
        }
        let homes = chart.steps.iter().map(|s| homes(chart, s.state, s.guard.as_ref()).0).collect();
        Self { chart, map, top, border, bottom, homes }
    }

    pub(crate) fn top(&self, state: StateId) -> PictureNode {
        self.top[state.index()]
    }

    pub(crate) fn border(&self, state: StateId) -> PictureNode {
        self.border[state.index()]
    }

    pub(crate) fn bottom(&self, state: StateId) -> PictureNode {
        self.bottom[state.index()]
    }

    /// Whether a state is drawn as a cluster: it has children that are drawn inside.
    pub(crate) fn is_cluster(&self, state: StateId) -> bool {
        state.0 != 0 && self.top(state) != PictureNode::State(state)
    }

    /// The states whose labels list a step: those that its `if` names, or else its own state.
    pub(crate) fn homes(&self, step: StepId) -> &[StateId] {
        match self.homes[step.index()].as_slice() {
            [] => std::slice::from_ref(&self.chart.steps[step.index()].state),
            homes => homes,
        }
    }

    /// The origins of a transition's edges. For a transition without targets, the states whose labels list it.
    pub(crate) fn origins(&self, transition: &Transition) -> Vec<Origin> {
        if let Some(scope) = &transition.scope {
            return match scope.any_of.as_slice() {
                [] => vec![Origin::Any(transition.source)],
                any_of => any_of.iter().map(|s| Origin::State(*s)).collect(),
            };
        }
        let states = match transition.trigger.step() {
            Some(step) if self.chart.steps[step.index()].state == transition.source => {
                self.homes(step)
            }
            _ => std::slice::from_ref(&transition.source),
        };
        states.iter().map(|s| self.origin(*s, transition)).collect()
    }

    fn origin(&self, source: StateId, transition: &Transition) -> Origin {
        let has_children = self.top(source) != PictureNode::State(source);
        let goes_inside = transition.targets.iter().any(|t| self.chart.contains(source, t.state));
        if source.0 == 0 || (has_children && goes_inside) {
            Origin::Any(source)
        } else {
            Origin::State(source)
        }
    }

    /// The transitions that come from one `each` line: the first of them, with the state that contains the line, and the set of all others.
    pub(crate) fn copies(&self) -> (BTreeMap<TransitionId, StateId>, BTreeSet<TransitionId>) {
        let mut first_at = BTreeMap::new();
        let (mut of, mut others) = (BTreeMap::new(), BTreeSet::new());
        for (index, spans) in
            self.map.transitions.iter().enumerate().take(self.chart.transitions.len())
        {
            let id = TransitionId::at(index);
            let is_deadline = matches!(
                self.chart.transition(id).trigger,
                Trigger::After(_) | Trigger::AfterTurns(_)
            );
            if !is_deadline {
                continue;
            }
            match first_at.get(&spans.whole) {
                None => {
                    first_at.insert(spans.whole, id);
                }
                Some(first) => {
                    others.insert(id);
                    of.entry(*first).or_insert_with(|| self.writer(*first));
                }
            }
        }
        (of, others)
    }

    /// The innermost ancestor of the transition's source whose text contains the line.
    fn writer(&self, transition: TransitionId) -> StateId {
        let span = self.map.transition(transition).whole;
        let source = self.chart.transition(transition).source;
        let holds = |s: &StateId| {
            self.map
                .states
                .get(s.index())
                .is_some_and(|spans| spans.whole.start <= span.start && span.end <= spans.whole.end)
        };
        self.chart.ancestors(source).find(holds).unwrap_or(StateId(0))
    }
}

/// Whether the dot of a compound is drawn beside its initial state, because a transition leads from that state to a later sibling.
pub(crate) fn is_beside_dot(chart: &Chart, compound: StateId, initial: StateId) -> bool {
    let is_child = |s: StateId| chart.state(s).parent == Some(compound);
    compound.0 > 0
        && is_child(initial)
        && (chart.state(initial).transitions.iter())
            .flat_map(|t| &chart.transition(*t).targets)
            .any(|t| t.state > initial && is_child(t.state))
}

fn is_left_by_transitions(chart: &Chart, state: StateId) -> bool {
    !matches!(chart.state(state).kind, StateKind::Final { .. } | StateKind::History { .. })
}

/// The states that a guard names in a conjunct `in(a) or in(b)`, if all are descendants of `state`, and the other conjuncts.
pub(crate) fn homes<'e>(
    chart: &Chart,
    state: StateId,
    guard: Option<&'e Expr>,
) -> (Vec<StateId>, Vec<&'e Expr>) {
    let Some(guard) = guard else { return (Vec::new(), Vec::new()) };
    let mut found = Vec::new();
    let mut rest = Vec::new();
    for conjunct in operands(guard, BinaryOp::And) {
        let states: Option<Vec<StateId>> = operands(conjunct, BinaryOp::Or)
            .into_iter()
            .map(|e| {
                let ExprKind::Observable(Observable::In(s)) = &e.kind else { return None };
                chart.contains(state, *s).then_some(*s)
            })
            .collect();
        match states {
            Some(states) if found.is_empty() => found = states,
            _ => rest.push(conjunct),
        }
    }
    (found, rest)
}

/// The operands of `a op b op c`, in order.
fn operands(expr: &Expr, op: BinaryOp) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        if let ExprKind::Binary(o, left, right) = &next.kind
            && *o == op
        {
            open.extend([&**right, &**left]);
        } else {
            found.push(next);
        }
    }
    found
}
