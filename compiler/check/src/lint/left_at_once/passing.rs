//! States that a `when` transition leaves as soon as they are entered, because every way into them makes its guard hold. For example:
//!
//! ```text
//! state a { on go -> b { n = 3 } }
//! state b { llm ask { … } -> a  when n > 2 -> c }
//! ```
//!
//! The only way into `b` is `on go`. After it, `n == 3` is known, which implies the guard `n > 2`. So `b` is left before `ask` runs.

use crate::facts::Facts;
use crate::facts::deadline::leaves;
use crate::facts::guard::implies;
use crate::facts::livelock::is_outside_parallel;
use crate::facts::reach::{domain, entered_by_default, entries, is_history};
use crate::facts::uses::{assigned, reads};
use crate::facts::witness::witness;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, CompareOp, Expr, ExprKind, StepKind, Transition, Trigger,
    Type, UnaryOp, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of transitions into one state that are examined.
const MOST: usize = 32;
/// The maximum number of `when` transitions that are examined.
const LINES: usize = 128;

/// A state that is left as soon as it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passing {
    /// The `when` transition that leaves the state.
    pub transition: TransitionId,
    /// The reason why its guard holds.
    pub because: Because,
}

/// The reason why a guard holds as soon as its state is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Because {
    /// Every way into the state makes the guard hold. These transitions lead into it.
    Always(Vec<TransitionId>),
    /// On the first entry, this step of the state has not yet set the variables that the guard reads.
    Early(StepId),
}

/// Conditions on the data that hold when a state is entered.
type KnownConditions = Vec<Expr>;

/// Finds the `when` transitions that hold as soon as their states are entered, in document order.
pub(super) fn passing(chart: &Chart, facts: &Facts) -> Vec<Passing> {
    let mut ways: Option<BTreeMap<StateId, Ways>> = None;
    let mut found = Vec::new();
    let whens = chart.transitions.iter().enumerate().filter(|(_, l)| l.trigger == Trigger::When);
    for (i, transition) in whens.take(LINES) {
        let (id, state) = (TransitionId::at(i), transition.source);
        let Some(guard) = &transition.guard else { continue };
        let mut read = BTreeSet::new();
        // Values that change with the configuration are not tracked, and guards that always hold are reported elsewhere.
        if !facts.reach.can_take(id)
            || !leaves(facts, transition, id)
            || !is_outside_parallel(chart, state)
            || reads(chart, guard, &mut read)
            || read.is_empty()
            || implies(chart, None, Some(guard))
            || !works(chart, state)
            || is_forestalled(chart, id, &read)
        {
            continue;
        }
        let ways = ways.get_or_insert_with(|| all_ways(chart, facts));
        if let Some(into) = ways.get(&state)
            && always(chart, state, into, guard, &read)
        {
            let because = Because::Always(into.transitions.clone());
            found.push(Passing { transition: id, because });
        } else if let Some(step) = early(chart, facts, state, guard, &read) {
            found.push(Passing { transition: id, because: Because::Early(step) });
        }
    }
    found
}

/// Whether the state has steps or transitions other than `when`: a state with `when` transitions only is a junction.
fn works(chart: &Chart, state: StateId) -> bool {
    let end = chart.state(state).end;
    let inside = |s: StateId| state <= s && s < end;
    chart.steps.iter().any(|step| inside(step.state))
        || chart.transitions.iter().any(|l| inside(l.source) && l.trigger != Trigger::When)
}

/// Whether another `when` transition in the state, which may be taken first, sets a variable that this one reads.
fn is_forestalled(chart: &Chart, id: TransitionId, read: &BTreeSet<VarId>) -> bool {
    let state = chart.transition(id).source;
    chart.transitions.iter().enumerate().any(|(i, transition)| {
        TransitionId::at(i) != id
            && transition.trigger == Trigger::When
            && chart.contains(state, transition.source)
            && !assigned(&transition.actions).is_disjoint(read)
    })
}

/// The ways in which a run may enter a state.
#[derive(Debug, Clone, Default)]
struct Ways {
    transitions: Vec<TransitionId>,
    /// Whether a run starts in the state.
    starts: bool,
    /// Whether a history state may restore the state, or not all ways into it are known.
    open: bool,
}

fn all_ways(chart: &Chart, facts: &Facts) -> BTreeMap<StateId, Ways> {
    let mut found: BTreeMap<StateId, Ways> = BTreeMap::new();
    let mut histories: BTreeSet<StateId> = BTreeSet::new();
    for state in closure(chart, &[StateId::at(0)]) {
        found.entry(state).or_default().starts = true;
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) {
            continue;
        }
        let targets = entries(chart, transition);
        let mut into = closure(chart, &targets);
        // The states between the domain and a target are entered on the way to the target.
        if let Some(top) = domain(chart, transition) {
            for target in &targets {
                into.extend(chart.ancestors(*target).skip(1).take_while(|s| *s != top));
            }
        }
        let fresh = |t: &&StateId| is_history(chart, **t) && !histories.contains(*t);
        let fresh: Vec<StateId> = targets.iter().filter(fresh).copied().collect();
        for target in &fresh {
            // A history may restore any descendant of its parent.
            let parent = chart.state(*target).parent.unwrap_or(StateId::at(0));
            for state in (parent.0..chart.state(parent).end.0).map(StateId) {
                found.entry(state).or_default().open = true;
            }
        }
        histories.extend(fresh);
        for state in into {
            let ways = found.entry(state).or_default();
            // Beyond the maximum, the ways into the state count as unknown.
            ways.open |= ways.transitions.len() == MOST;
            if !ways.open {
                ways.transitions.push(id);
            }
        }
    }
    found
}

/// The given states and all states that are entered with them by default.
fn closure(chart: &Chart, states: &[StateId]) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    let mut open = states.to_vec();
    while let Some(state) = open.pop() {
        if found.insert(state) {
            for entered in entered_by_default(chart, state) {
                let above = chart.ancestors(entered).skip(1);
                found.extend(above.take_while(|s| !chart.contains(*s, state)));
                open.push(entered);
            }
        }
    }
    found
}

/// Whether the guard holds after every way into the state.
fn always(
    chart: &Chart,
    state: StateId,
    ways: &Ways,
    guard: &Expr,
    read: &BTreeSet<VarId>,
) -> bool {
    if ways.open || ways.transitions.is_empty() && !ways.starts {
        return false;
    }
    let holds = |known: &KnownConditions| implied(chart, known, guard);
    let by_lines = ways.transitions.iter().all(|id| {
        let transition = chart.transition(*id);
        // The result of a tool call is stored after the guard was evaluated, so what the guard implies may not hold any more.
        let called = matches!(transition.trigger, Trigger::Choice(choice)
            if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)));
        !called
            && after_transition(chart, transition, state, read).is_some_and(|known| holds(&known))
    });
    let at_start = || begun(chart, state, read).is_some_and(|known| holds(&known));
    by_lines && (!ways.starts || at_start())
}

/// The conditions on these variables that hold when the transition has entered the state; `None` if there are none.
fn after_transition(
    chart: &Chart,
    transition: &Transition,
    state: StateId,
    read: &BTreeSet<VarId>,
) -> Option<KnownConditions> {
    moved(chart, transition, state, transition.guard.iter().cloned().collect(), read)
}

/// Like [`after_transition`], for conditions that held before the transition.
fn moved(
    chart: &Chart,
    transition: &Transition,
    state: StateId,
    mut known: KnownConditions,
    read: &BTreeSet<VarId>,
) -> Option<KnownConditions> {
    let top = domain(chart, transition)?;
    // Which of these states are active is not known, so all their exit blocks count.
    for left in (top.0..chart.state(top).end.0).map(StateId) {
        for block in &chart.state(left).exit {
            forget(chart, &assigned(block), &mut known);
        }
    }
    act(chart, &transition.actions, &mut known, read);
    entered(chart, top, state, known, read)
}

/// The conditions that hold when the state has been entered from `top`; `None` if there are none.
fn entered(
    chart: &Chart,
    top: StateId,
    state: StateId,
    mut known: KnownConditions,
    read: &BTreeSet<VarId>,
) -> Option<KnownConditions> {
    let mut path: Vec<StateId> = chart.ancestors(state).take_while(|s| *s != top).collect();
    path.reverse();
    for above in path {
        let row = chart.state(above);
        row.entry.iter().for_each(|block| act(chart, block, &mut known, read));
        // A transition may enter a descendant directly, without the default actions, so the variables that they set become unknown.
        forget(chart, &assigned(&row.default_actions), &mut known);
    }
    // The entry of descendants may set variables, too.
    for below in (state.0 + 1..chart.state(state).end.0).map(StateId) {
        for block in &chart.state(below).entry {
            forget(chart, &assigned(block), &mut known);
        }
    }
    (!known.is_empty()).then_some(known)
}

/// The conditions that hold when a run has started in the state; `None` if there are none.
fn begun(chart: &Chart, state: StateId, read: &BTreeSet<VarId>) -> Option<KnownConditions> {
    let mut known = defaults(chart, read);
    let root = chart.state(StateId::at(0));
    root.entry.iter().for_each(|block| act(chart, block, &mut known, read));
    act(chart, &root.default_actions, &mut known, read);
    entered(chart, StateId::at(0), state, known, read)
}

/// The initial values of these variables, as conditions.
fn defaults(chart: &Chart, read: &BTreeSet<VarId>) -> KnownConditions {
    let one = |id: &VarId| {
        let row = &chart.variables[id.index()];
        let default = row.default.as_ref()?;
        matches!(row.kind, VariableKind::Var { .. }).then(|| is(chart, *id, default)).flatten()
    };
    read.iter().filter_map(one).collect()
}

/// The condition that a variable has this value; `None` if the value is no constant.
fn is(chart: &Chart, id: VarId, value: &Expr) -> Option<Expr> {
    let ty = chart.variables[id.index()].ty.clone();
    let own = Expr { kind: ExprKind::Variable(id), ty };
    let kind = match &value.kind {
        ExprKind::Bool(true) => return Some(own),
        ExprKind::Bool(false) => ExprKind::Unary(UnaryOp::Not, Box::new(own)),
        ExprKind::Text(text) if text.literal().is_none() => return None,
        ExprKind::None
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..) => {
            ExprKind::Compare(Box::new(own), vec![(CompareOp::Equal, value.clone())])
        }
        _ => return None,
    };
    Some(Expr { kind, ty: Type::Bool })
}

/// Removes the conditions that read one of these variables.
fn forget(chart: &Chart, set: &BTreeSet<VarId>, known: &mut KnownConditions) {
    known.retain(|condition| {
        let mut read = BTreeSet::new();
        reads(chart, condition, &mut read);
        read.is_disjoint(set)
    });
}

/// Updates the known conditions by the assignments of a block.
fn act(chart: &Chart, actions: &[Action], known: &mut KnownConditions, read: &BTreeSet<VarId>) {
    for action in actions {
        let set = assigned(std::slice::from_ref(action));
        forget(chart, &set, known);
        if let Action::Assign(id, value) = action
            && read.contains(id)
        {
            known.extend(is(chart, *id, value));
        }
    }
}

/// Whether the conditions together imply the guard.
fn implied(chart: &Chart, known: &[Expr], guard: &Expr) -> bool {
    let all = known.iter().cloned().reduce(|a, b| Expr {
        kind: ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b)),
        ty: Type::Bool,
    });
    implies(chart, all.as_ref(), Some(guard))
}

/// A step of the state that sets a variable of the guard, if the guard already holds when the state is first entered on the
/// shortest path, and no step or tool call on that path may set such a variable.
fn early(
    chart: &Chart,
    facts: &Facts,
    state: StateId,
    guard: &Expr,
    read: &BTreeSet<VarId>,
) -> Option<StepId> {
    let sets = |step: &chartc_core::model::Step| {
        let code =
            matches!(&step.kind, StepKind::Code(block) if !assigned(block).is_disjoint(read));
        code || step.into.is_some_and(|id| read.contains(&id))
    };
    let own = |step: &chartc_core::model::Step| chart.contains(state, step.state) && sets(step);
    let step = StepId::at(chart.steps.iter().position(own)?);
    let hops = witness(&facts.reach, state)?.hops;
    let mut known = begun(chart, hops.first().map_or(state, |(actor, ..)| *actor), read)?;
    for (nth, (actor, transition, _)) in hops.iter().enumerate() {
        let row = chart.transition(*transition);
        let near = |s: &StateId| chart.contains(*s, *actor) || chart.contains(*actor, *s);
        let mut steps = chart.steps.iter().zip(&facts.scopes.steps);
        if steps.any(|(step, place)| sets(step) && place.within.iter().any(near)) {
            return None;
        }
        let called = |choice: &chartc_core::model::Choice| matches!(choice.kind, ChoiceKind::Call(_, Some(id)) if read.contains(&id));
        if chart.choices.iter().any(called) {
            return None;
        }
        let to = hops.get(nth + 1).map_or(state, |(next, ..)| *next);
        known = moved(chart, row, to, known, read)?;
    }
    implied(chart, &known, guard).then_some(step)
}
