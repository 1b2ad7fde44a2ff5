//! Counters: whole-number variables that a chart counts up or down, the conditions that bound them, and the assignments that change
//! them.

use super::Facts;
use super::reach::{GraphNode, entries, is_final};
use super::usage::reads;
use super::values::{self, Range, assumed, order_bounds, turned};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, CompareOp, Expr, ExprKind, StepKind, Transition,
    Trigger, Type, UnaryOp, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// A comparison of a counter with an expression that no run changes: `counter op bound`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CounterBound<'e> {
    pub(crate) counter: VarId,
    pub(crate) op: CompareOp,
    pub(crate) than: &'e Expr,
}

/// The comparisons of counters that must be true for the condition to hold. Variables that are reset in each turn are included.
pub(crate) fn bounds<'e>(chart: &'e Chart, guard: &'e Expr) -> Vec<CounterBound<'e>> {
    let mut found = Vec::new();
    let mut open = vec![guard];
    while let Some(expr) = open.pop() {
        if let ExprKind::Binary(BinaryOp::And, a, b) = &expr.kind {
            open.extend([&**a, &**b]);
        }
        if let ExprKind::Predicate(id) = expr.kind {
            open.push(&chart.predicates[id.index()].expr);
        }
        let (compared, opposite) = negated(expr);
        let ExprKind::Compare(first, rest) = &compared.kind else { continue };
        let [(op, second)] = rest.as_slice() else { continue };
        for (side, other, swap) in [(&**first, second, false), (second, &**first, true)] {
            if let (ExprKind::Variable(counter), Some(op)) =
                (&side.kind, ordered(*op, swap, opposite))
                && is_counter(chart, *counter)
                && is_fixed(chart, other)
            {
                found.push(CounterBound { counter: *counter, op, than: other });
            }
        }
    }
    found
}

/// If the expression is `not e`: `e` and `true`. Otherwise: the expression itself and `false`.
fn negated(expr: &Expr) -> (&Expr, bool) {
    if let ExprKind::Unary(UnaryOp::Not, inner) = &expr.kind {
        (inner, true)
    } else {
        (expr, false)
    }
}

/// The ordering that a comparison asserts: negated if `opposite`, with its sides swapped if `swap`. `None` for `==`, `!=` and `in`.
fn ordered(op: CompareOp, swap: bool, opposite: bool) -> Option<CompareOp> {
    let op = order_bounds(op, !opposite)
        .filter(|op| !matches!(op, CompareOp::Equal | CompareOp::NotEqual))?;
    Some(if swap { turned(op) } else { op })
}

fn is_counter(chart: &Chart, id: VarId) -> bool {
    let row = &chart.variables[id.index()];
    row.ty == Type::Int && matches!(row.kind, VariableKind::Var { .. })
}

/// Whether the variable is an Int that the chart sets and that keeps its value across turns.
pub(crate) fn is_lasting(chart: &Chart, id: VarId) -> bool {
    is_counter(chart, id) && !is_of_turn(chart, id)
}

/// Whether the variable is reset in each turn.
pub(crate) fn is_of_turn(chart: &Chart, id: VarId) -> bool {
    matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
}

/// Whether the expression consists of params, whole numbers and arithmetic only, so that its value is constant during a run.
fn is_fixed(chart: &Chart, expr: &Expr) -> bool {
    !expr.any(&mut |e| match e.kind {
        ExprKind::Variable(id) => {
            !matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
        }
        ExprKind::Int(_) | ExprKind::Binary(..) | ExprKind::Unary(..) => false,
        _ => true,
    })
}

/// The amount that the assigned value adds to the counter: `n` for `x + n` and `n + x`, `-n` for `x - n`.
pub(crate) fn step(counter: VarId, value: &Expr) -> Option<i64> {
    let own = |e: &Expr| e.kind == ExprKind::Variable(counter);
    match &value.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => added(own(a), a, own(b), b),
        ExprKind::Builtin(Builtin::JsAdd, both) => match both.as_slice() {
            [a, b] => added(own(a), a, own(b), b),
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Subtract, a, b) => match b.kind {
            ExprKind::Int(n) if own(a) => n.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

fn added(first: bool, a: &Expr, second: bool, b: &Expr) -> Option<i64> {
    match (&a.kind, &b.kind) {
        (_, ExprKind::Int(n)) if first => Some(*n),
        (ExprKind::Int(n), _) if second => Some(*n),
        _ => None,
    }
}

/// The effect of an assignment on its counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterChange {
    /// Adds this number, which is not zero.
    By(i64),
    /// Sets the counter to a value that is constant during a run: a number, or `None` if it is not a literal.
    To(Option<i64>),
    /// Any other effect.
    Other,
}

/// The owner of an action block that sets a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The actions of a transition.
    Transition(TransitionId),
    /// The `entry`, `exit` or default actions of a state.
    State(StateId),
    /// The code of a step.
    Step(StepId),
}

/// An assignment to a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The owner of the block with the assignment.
    pub owner: Owner,
    /// The index of this assignment among the owner's assignments to this counter.
    pub nth: usize,
    pub(crate) change: CounterChange,
    /// Whether a `for` in the block assigns the counter, so that it may change several times.
    pub(crate) is_repeated: bool,
}

/// Every assignment to the counter; `None` if the answer of a step or the result of a tool call sets it as well.
pub(crate) fn writers(chart: &Chart, counter: VarId) -> Option<Vec<Writer>> {
    let answered = chart.steps.iter().any(|s| s.into == Some(counter))
        || chart
            .choices
            .iter()
            .any(|c| matches!(c.kind, ChoiceKind::Call(_, Some(id)) if id == counter));
    if answered {
        return None;
    }
    let mut found: Vec<Writer> = Vec::new();
    let mut look = |owner: Owner, block: &[Action]| {
        let mut is_repeated = false;
        Action::walk(block, &mut |action| {
            is_repeated |= matches!(action, Action::For(_, _, body) if sets(body, counter));
        });
        Action::walk(block, &mut |action| {
            if let Action::Assign(id, value) = action
                && *id == counter
            {
                let nth = found.iter().rev().take_while(|w| w.owner == owner).count();
                let change = change(chart, counter, value);
                found.push(Writer { owner, nth, change, is_repeated });
            }
        });
    };
    for (i, state) in chart.states.iter().enumerate() {
        for block in state.entry.iter().chain([&state.default_actions]).chain(&state.exit) {
            look(Owner::State(StateId::at(i)), block);
        }
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        look(Owner::Transition(TransitionId::at(i)), &transition.actions);
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if let StepKind::Code(block) = &step.kind {
            look(Owner::Step(StepId::at(i)), block);
        }
    }
    Some(found)
}

fn change(chart: &Chart, counter: VarId, value: &Expr) -> CounterChange {
    match step(counter, value) {
        Some(by) if by != 0 => return CounterChange::By(by),
        // Adding zero is neither progress nor a reset.
        Some(_) => return CounterChange::Other,
        None => {}
    }
    let mut read = BTreeSet::new();
    let local = reads(chart, value, &mut read);
    let is_param =
        |id: &VarId| matches!(chart.variables[id.index()].kind, VariableKind::Param { .. });
    if local || !read.iter().all(is_param) || !is_fixed(chart, value) {
        return CounterChange::Other;
    }
    CounterChange::To(if let ExprKind::Int(n) = value.kind { Some(n) } else { None })
}

/// Whether the value is constant during a run, so that the assignment resets the counter.
pub(crate) fn is_reset(chart: &Chart, counter: VarId, value: &Expr) -> bool {
    matches!(change(chart, counter, value), CounterChange::To(_))
}

/// Whether the actions assign the counter, also inside `if` and `for`.
pub(crate) fn sets(actions: &[Action], counter: VarId) -> bool {
    let mut sets = false;
    Action::walk(actions, &mut |a| sets |= matches!(a, Action::Assign(id, _) if *id == counter));
    sets
}

/// The bounds of an expression while the counter is within `range`. Assumes that a param without a declared range has its default
/// value, if that is positive.
pub(crate) fn value(chart: &Chart, expr: &Expr, counter: VarId, range: Range) -> Range {
    values::range(expr, &|id| if id == counter { range } else { assumed(chart, id) })
}

// Transitions whose guard bounds a counter that they do not increment, next to transitions that do.
//
// For example, in a state `work`, `done if tries < 3 -> work { tries = tries + 1 }` is a bounded retry, and
// `error if tries < 3 -> work` beside it has probably forgotten to count.

/// The maximum number of transitions that are examined for each counter. Only charts generated by programs have more.
const MOST: usize = 64;

/// A transition that does not increment the counter that its guard tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncounted {
    /// The transition.
    pub transition: TransitionId,
    /// The counter that the guard compares with a bound.
    pub counter: VarId,
    /// A transition with a guard on the same counter that increments it, and either leads to the same state or also leads back.
    pub counting: TransitionId,
}

/// Finds transitions that can lead back to themselves while a counter is below a bound and do not increment it, although another
/// transition to the same state does. No transition on the way back sets the counter, and only transitions whose guard bounds it
/// increment it. In a chart with a final state, two transitions of steps or options that both lead back are compared even if their
/// targets differ, because both are then bounded retries.
pub fn uncounted(chart: &Chart, facts: &Facts) -> Vec<Uncounted> {
    let mut asking: BTreeMap<VarId, Vec<TransitionId>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if let Some(guard) = transition.guard.as_ref().filter(|_| facts.reach.can_take(id)) {
            for counter in bounded(chart, guard) {
                asking.entry(counter).or_default().push(id);
            }
        }
    }
    let elsewhere = counted_elsewhere(chart, &asking);
    let ends = chart.children(StateId::at(0)).any(|s| is_final(chart, s));
    asking.retain(|counter, _| !elsewhere.contains(counter));
    let mut found = Vec::new();
    for (counter, transitions) in asking.iter().filter(|(_, all)| all.len() > 1) {
        let (counting, others): (Vec<TransitionId>, Vec<TransitionId>) =
            transitions.iter().partition(|l| counts(chart.transition(**l), *counter));
        let sets = |l: &TransitionId| sets(&chart.transition(*l).actions, *counter);
        let others = others.into_iter().filter(|l| !sets(l)).take(MOST);
        for transition in others {
            let goal = |l: TransitionId| chart.transition(l).targets.first().map(|t| t.state);
            let twin = counting
                .iter()
                .find(|c| goal(transition).is_some() && goal(**c) == goal(transition));
            let retries = |l: TransitionId| ends && is_back(chart, l);
            let twin = twin.or(counting.iter().find(|c| retries(transition) && retries(**c)));
            if let Some(twin) = twin
                && can_return(chart, facts, transition, *counter)
            {
                found.push(Uncounted { transition, counter: *counter, counting: *twin });
            }
        }
    }
    found.extend(without_effect(chart, facts, &asking));
    found.sort_by_key(|u| u.transition);
    found
}

/// Finds transitions without a guard that lead back to the same state as an earlier one of the same trigger, which counts and tests the
/// count. So the bound has no effect: once it is reached, the other transition is taken, and nothing else happens.
fn without_effect(
    chart: &Chart,
    facts: &Facts,
    asking: &BTreeMap<VarId, Vec<TransitionId>>,
) -> Vec<Uncounted> {
    let mut found = Vec::new();
    for (counter, transitions) in asking {
        for counting in transitions.iter().filter(|l| counts(chart.transition(**l), *counter)) {
            let row = chart.transition(*counting);
            let is_alike = |id: &&TransitionId| {
                let other = chart.transition(**id);
                *id > counting
                    && other.trigger == row.trigger
                    && other.targets == row.targets
                    && other.kind == row.kind
                    && other.guard.is_none()
                    && other.actions.is_empty()
                    && !row.targets.is_empty()
                    && can_return(chart, facts, **id, *counter)
            };
            let other = chart.state(row.source).transitions.iter().find(is_alike);
            found.extend(other.map(|transition| Uncounted {
                transition: *transition,
                counter: *counter,
                counting: *counting,
            }));
        }
    }
    found
}

/// The lasting counters that must be below a bound for the condition to hold.
fn bounded(chart: &Chart, guard: &Expr) -> Vec<VarId> {
    let is_below = |bound: &CounterBound<'_>| {
        matches!(bound.op, CompareOp::Less | CompareOp::LessEqual)
            && is_lasting(chart, bound.counter)
    };
    bounds(chart, guard).into_iter().filter(is_below).map(|bound| bound.counter).collect()
}

/// Whether a transition of a step or an option leads to its own source, or to a state that precedes its source in document order.
fn is_back(chart: &Chart, id: TransitionId) -> bool {
    let transition = chart.transition(id);
    let moves =
        transition.trigger.step().is_some() || matches!(transition.trigger, Trigger::Choice(_));
    moves && transition.targets.first().is_some_and(|target| target.state <= transition.source)
}

/// Whether the value is `x + n` with a positive `n`.
fn is_step(counter: VarId, value: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind else { return false };
    a.kind == ExprKind::Variable(counter) && matches!(b.kind, ExprKind::Int(n) if n > 0)
}

/// Whether the transition increments the counter whenever it is taken.
fn counts(transition: &Transition, counter: VarId) -> bool {
    transition.actions.iter().any(
        |a| matches!(a, Action::Assign(id, value) if *id == counter && is_step(counter, value)),
    )
}

/// Counters that are set to a value with variables by anything except the transitions that test them, or by the answer of a step.
fn counted_elsewhere(
    chart: &Chart,
    asking: &BTreeMap<VarId, Vec<TransitionId>>,
) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut look = |actions: &[Action], transition: Option<TransitionId>| {
        Action::walk(actions, &mut |action| {
            let Action::Assign(id, value) = action else { return };
            let constant = !value.any(&mut |e| matches!(e.kind, ExprKind::Variable(_)));
            let own = asking
                .get(id)
                .is_some_and(|transitions| transition.is_some_and(|l| transitions.contains(&l)));
            if !constant && !own && asking.contains_key(id) {
                found.insert(*id);
            }
        });
    };
    for (i, transition) in chart.transitions.iter().enumerate() {
        look(&transition.actions, Some(TransitionId::at(i)));
    }
    let lines: BTreeSet<*const Action> =
        chart.transitions.iter().map(|transition| transition.actions.as_ptr()).collect();
    let others = chart.bodies().filter(|block| !lines.contains(&block.as_ptr()));
    others.for_each(|block| look(block, None));
    found.extend(chart.steps.iter().filter_map(|s| s.into));
    found
}

/// Whether a path of transitions that do not set the counter leads from this transition back to a state in which it can be taken.
pub(crate) fn can_return(
    chart: &Chart,
    facts: &Facts,
    transition: TransitionId,
    counter: VarId,
) -> bool {
    let Some(actor) = facts.reach.actors[transition.index()] else { return false };
    let entered = entries(chart, chart.transition(transition));
    let from: Vec<GraphNode> = entered.into_iter().map(GraphNode::Entered).collect();
    let within = &facts.scopes.transition(transition).within;
    let goals: BTreeSet<StateId> = within.iter().copied().chain([actor]).collect();
    let goes_on = |node, _| !matches!(node, GraphNode::Transition(id) if sets(&chart.transition(id).actions, counter));
    let is_goal = |node| matches!(node, GraphNode::Active(state) if goals.contains(&state));
    facts.moves.path(&from, goes_on, is_goal).is_some()
}
