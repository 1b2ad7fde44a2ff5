//! Lines that ask whether a counter is below a bound and do not count, beside lines that do.

use crate::facts::Facts;
use crate::facts::graph::Node;
use crate::facts::place::is_final;
use crate::facts::uses::own_walk;
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, StepKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that are looked at; a chart with more is built by a program.
const MOST: usize = 64;

/// A line that does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncounted {
    /// The line.
    pub line: TransitionId,
    /// The counter that its condition compares.
    pub counter: VarId,
    /// A line that leads to the same state, or back as well, under such a condition, and counts.
    pub counting: TransitionId,
}

/// Lines that lead back while a counter is below a bound, without counting, where another line to the same state counts; the way back
/// does not count either, and only lines with such a condition do. Where a model decides of both, in a chart that is meant to end, the
/// other one may lead back to any state: both bound their rounds.
pub fn uncounted(chart: &Chart, facts: &Facts) -> Vec<Uncounted> {
    let mut asking: BTreeMap<VarId, Vec<TransitionId>> = BTreeMap::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if let Some(guard) = line.guard.as_ref().filter(|_| facts.reach.takes(id)) {
            for counter in bounded(chart, guard) {
                asking.entry(counter).or_default().push(id);
            }
        }
    }
    asking.retain(|_, lines| lines.len() > 1);
    if asking.is_empty() {
        return Vec::new();
    }
    let elsewhere = counted_elsewhere(chart, &asking);
    let ends = chart.children(StateId::at(0)).any(|s| is_final(chart, s));
    let mut found = Vec::new();
    for (counter, lines) in asking.iter().filter(|(v, _)| !elsewhere.contains(v)) {
        let (counting, others): (Vec<TransitionId>, Vec<TransitionId>) =
            lines.iter().partition(|l| counts(chart.transition(**l), *counter));
        let sets = |l: &TransitionId| assigns(&chart.transition(*l).actions, *counter);
        let others = others.into_iter().filter(|l| !sets(l)).take(MOST);
        for line in others {
            let goal = |l: TransitionId| chart.transition(l).targets.first().map(|t| t.state);
            let twin = counting.iter().find(|c| goal(line).is_some() && goal(**c) == goal(line));
            let retries = |l: TransitionId| ends && is_back(chart, l);
            let twin = twin.or(counting.iter().find(|c| retries(line) && retries(**c)));
            if let Some(twin) = twin
                && comes_back(chart, facts, line, *counter)
            {
                found.push(Uncounted { line, counter: *counter, counting: *twin });
            }
        }
    }
    found.sort_by_key(|u| u.line);
    found
}

/// Counters that a condition keeps below a bound.
fn bounded(chart: &Chart, guard: &Expr) -> Vec<VarId> {
    let mut found = Vec::new();
    let mut open = vec![guard];
    while let Some(expr) = open.pop() {
        if let ExprKind::Binary(BinaryOp::And, a, b) = &expr.kind {
            open.extend([&**a, &**b]);
        }
        let ExprKind::Compare(first, rest) = &expr.kind else { continue };
        let [(op, second)] = rest.as_slice() else { continue };
        let (low, high) = match op {
            CompareOp::Less | CompareOp::LessEqual => (&**first, second),
            CompareOp::Greater | CompareOp::GreaterEqual => (second, &**first),
            CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => continue,
        };
        let ExprKind::Variable(id) = low.kind else { continue };
        let is_counter =
            matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: false });
        let mut fixed = true;
        own_walk(high, &mut |e| {
            fixed &= if let ExprKind::Variable(id) = e.kind {
                matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
            } else {
                matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Binary(..))
            };
        });
        if is_counter && fixed {
            found.push(id);
        }
    }
    found
}

/// Whether a step or an option leads to its own state, or to one that stands before it.
fn is_back(chart: &Chart, id: TransitionId) -> bool {
    let line = chart.transition(id);
    let moves = line.trigger.step().is_some() || matches!(line.trigger, Trigger::Choice(_));
    moves && line.targets.first().is_some_and(|target| target.state <= line.source)
}

/// Whether it is `x + n`.
fn is_step(counter: VarId, value: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind else { return false };
    a.kind == ExprKind::Variable(counter) && matches!(b.kind, ExprKind::Int(n) if n > 0)
}

/// Whether the line counts whenever it is taken.
fn counts(line: &Transition, counter: VarId) -> bool {
    line.actions.iter().any(
        |a| matches!(a, Action::Assign(id, value) if *id == counter && is_step(counter, value)),
    )
}

fn assigns(actions: &[Action], counter: VarId) -> bool {
    let mut sets = false;
    Action::walk(actions, &mut |a| sets |= matches!(a, Action::Assign(id, _) if *id == counter));
    sets
}

/// Counters that anything but the lines that ask for them sets, other than to a constant.
fn counted_elsewhere(
    chart: &Chart,
    asking: &BTreeMap<VarId, Vec<TransitionId>>,
) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut look = |actions: &[Action], line: Option<TransitionId>| {
        Action::walk(actions, &mut |action| {
            let Action::Assign(id, value) = action else { return };
            let mut constant = true;
            own_walk(value, &mut |e| constant &= !matches!(e.kind, ExprKind::Variable(_)));
            let own = asking.get(id).is_some_and(|lines| line.is_some_and(|l| lines.contains(&l)));
            if !constant && !own && asking.contains_key(id) {
                found.insert(*id);
            }
        });
    };
    for (i, line) in chart.transitions.iter().enumerate() {
        look(&line.actions, Some(TransitionId::at(i)));
    }
    for state in &chart.states {
        for block in state.entry.iter().chain(&state.exit).chain([&state.default_actions]) {
            look(block, None);
        }
    }
    for step in &chart.steps {
        if let StepKind::Code(actions) = &step.kind {
            look(actions, None);
        }
    }
    found.extend(chart.steps.iter().filter_map(|s| s.into));
    found
}

/// Whether the line can be taken again after itself by lines that do not set the counter.
pub(crate) fn comes_back(chart: &Chart, facts: &Facts, line: TransitionId, counter: VarId) -> bool {
    let Some(actor) = facts.reach.actors[line.index()] else { return false };
    let mut seen = vec![false; facts.moves.nodes()];
    let mut open: Vec<Node> = crate::facts::reach::entries(chart, chart.transition(line))
        .into_iter()
        .map(Node::Entered)
        .collect();
    let goals: BTreeSet<StateId> =
        facts.places.line(line).within.iter().copied().chain([actor]).collect();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[facts.moves.place(node)], true) {
            continue;
        }
        match node {
            Node::Active(state) if goals.contains(&state) => return true,
            Node::Line(id) if assigns(&chart.transition(id).actions, counter) => {}
            Node::Active(_) | Node::Entered(_) | Node::Line(_) | Node::Any(_) => {
                open.extend(facts.moves.next(node));
            }
        }
    }
    false
}
