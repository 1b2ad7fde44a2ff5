//! States that a `when` line leaves as soon as they are entered, because what leads into them makes its condition hold.

use crate::facts::Facts;
use crate::facts::deadline::leaves;
use crate::facts::guard::implies;
use crate::facts::livelock::lonely;
use crate::facts::reach::{domain, entered_with, entries, is_history};
use crate::facts::uses::{assigned, reads};
use crate::facts::witness::witness;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, CompareOp, Expr, ExprKind, StateKind, StepKind,
    Transition, Trigger, Type, UnaryOp, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that lead to one state and are looked at.
const MOST: usize = 32;
/// `when` lines that are looked at; a chart with more is built by a program.
const LINES: usize = 128;

/// A state that is left at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passing {
    /// The `when` line.
    pub line: TransitionId,
    /// Why it holds.
    pub because: Because,
}

/// Why a condition holds as soon as a state is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Because {
    /// Whatever leads there makes it hold; the lines, and whether the run begins there.
    Always(Vec<TransitionId>),
    /// When it is entered first, this step of it has not yet set what the condition reads.
    Early(StepId),
}

/// What is known of the data when a state is entered: conditions that hold.
type Known = Vec<Expr>;

/// Every such line, ascending.
pub(super) fn passing(chart: &Chart, facts: &Facts) -> Vec<Passing> {
    let mut ways: Option<BTreeMap<StateId, Ways>> = None;
    let mut found = Vec::new();
    let whens = chart.transitions.iter().enumerate().filter(|(_, l)| l.trigger == Trigger::When);
    for (i, line) in whens.take(LINES) {
        let (id, state) = (TransitionId::at(i), line.source);
        let Some(guard) = &line.guard else { continue };
        let mut read = BTreeSet::new();
        // What a change of state changes is not followed; what always holds is told of otherwise.
        if !facts.reach.takes(id)
            || !leaves(facts, line, id)
            || !lonely(chart, state)
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
            let because = Because::Always(into.lines.clone());
            found.push(Passing { line: id, because });
        } else if let Some(step) = early(chart, facts, state, guard, &read) {
            found.push(Passing { line: id, because: Because::Early(step) });
        }
    }
    found
}

/// Whether there is anything to do in the state but to go on from it: a state of `when` lines alone is a junction.
fn works(chart: &Chart, state: StateId) -> bool {
    let end = chart.state(state).end;
    let inside = |s: StateId| state <= s && s < end;
    chart.steps.iter().any(|step| inside(step.state))
        || chart.transitions.iter().any(|l| inside(l.source) && l.trigger != Trigger::When)
}

/// Whether a `when` line that may be taken before this one sets what it reads.
fn is_forestalled(chart: &Chart, id: TransitionId, read: &BTreeSet<VarId>) -> bool {
    let state = chart.transition(id).source;
    chart.transitions.iter().enumerate().any(|(i, line)| {
        TransitionId::at(i) != id
            && line.trigger == Trigger::When
            && chart.contains(state, line.source)
            && !assigned(&line.actions).is_disjoint(read)
    })
}

/// What leads into a state.
#[derive(Debug, Clone, Default)]
struct Ways {
    lines: Vec<TransitionId>,
    /// A run begins there.
    starts: bool,
    /// A history may bring it back, or it cannot be told how it is entered.
    open: bool,
}

fn all_ways(chart: &Chart, facts: &Facts) -> BTreeMap<StateId, Ways> {
    let mut found: BTreeMap<StateId, Ways> = BTreeMap::new();
    let mut histories: BTreeSet<StateId> = BTreeSet::new();
    for state in entered_by_default(chart, &[StateId::at(0)]) {
        found.entry(state).or_default().starts = true;
    }
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.takes(id) {
            continue;
        }
        let targets = entries(chart, line);
        let mut into = entered_by_default(chart, &targets);
        if let Some(top) = domain(chart, line) {
            for target in &targets {
                into.extend(chart.ancestors(*target).skip(1).take_while(|s| *s != top));
            }
        }
        let fresh = |t: &&StateId| is_history(chart, **t) && !histories.contains(*t);
        let fresh: Vec<StateId> = targets.iter().filter(fresh).copied().collect();
        for target in &fresh {
            let parent = chart.state(*target).parent.unwrap_or(StateId::at(0));
            for state in (parent.0..chart.state(parent).end.0).map(StateId) {
                found.entry(state).or_default().open = true;
            }
        }
        histories.extend(fresh);
        for state in into {
            let ways = found.entry(state).or_default();
            ways.open |= ways.lines.len() == MOST;
            if !ways.open {
                ways.lines.push(id);
            }
        }
    }
    found
}

/// The states that come with the default entry of these.
fn entered_by_default(chart: &Chart, states: &[StateId]) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    let mut open = states.to_vec();
    while let Some(state) = open.pop() {
        if !found.insert(state) {
            continue;
        }
        match &chart.state(state).kind {
            StateKind::Atomic | StateKind::Final { .. } => {}
            StateKind::Compound { initial } => {
                open.extend(entered_with(chart, initial, state));
                for inner in initial {
                    found.extend(chart.ancestors(*inner).skip(1).take_while(|s| *s != state));
                }
            }
            StateKind::Parallel => {
                open.extend(chart.children(state).filter(|c| !is_history(chart, *c)));
            }
            StateKind::History { default, .. } => open.extend(default),
        }
    }
    found
}

/// Whether the condition holds whatever led into the state.
fn always(
    chart: &Chart,
    state: StateId,
    ways: &Ways,
    guard: &Expr,
    read: &BTreeSet<VarId>,
) -> bool {
    if ways.open || ways.lines.is_empty() && !ways.starts {
        return false;
    }
    let holds = |known: &Known| implied(chart, known, guard);
    let by_lines = ways.lines.iter().all(|id| {
        let line = chart.transition(*id);
        // What a call of the host returns comes between its condition and its actions.
        let called = matches!(line.trigger, Trigger::Choice(choice)
            if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)));
        !called && after_line(chart, line, state, read).is_some_and(|known| holds(&known))
    });
    let at_start = || begun(chart, state, read).is_some_and(|known| holds(&known));
    by_lines && (!ways.starts || at_start())
}

/// What is known of these variables when a line has led into the state; `None` if nothing is.
fn after_line(
    chart: &Chart,
    line: &Transition,
    state: StateId,
    read: &BTreeSet<VarId>,
) -> Option<Known> {
    moved(chart, line, state, line.guard.iter().cloned().collect(), read)
}

/// What is known of them when a line has led on to the state; `None` if nothing is.
fn moved(
    chart: &Chart,
    line: &Transition,
    state: StateId,
    mut known: Known,
    read: &BTreeSet<VarId>,
) -> Option<Known> {
    let top = domain(chart, line)?;
    for left in (top.0..chart.state(top).end.0).map(StateId) {
        for block in &chart.state(left).exit {
            forget(chart, &assigned(block), &mut known);
        }
    }
    act(chart, &line.actions, &mut known, read);
    entered(chart, top, state, known, read)
}

/// What is known when the state has been entered from below `top`; `None` if nothing is.
fn entered(
    chart: &Chart,
    top: StateId,
    state: StateId,
    mut known: Known,
    read: &BTreeSet<VarId>,
) -> Option<Known> {
    let mut path: Vec<StateId> = chart.ancestors(state).take_while(|s| *s != top).collect();
    path.reverse();
    for above in path {
        let row = chart.state(above);
        row.entry.iter().for_each(|block| act(chart, block, &mut known, read));
        // A line may lead further down itself.
        forget(chart, &assigned(&row.default_actions), &mut known);
    }
    // What is entered below may set something, too.
    for below in (state.0 + 1..chart.state(state).end.0).map(StateId) {
        for block in &chart.state(below).entry {
            forget(chart, &assigned(block), &mut known);
        }
    }
    (!known.is_empty()).then_some(known)
}

/// What is known when a run has begun in the state; `None` if nothing is.
fn begun(chart: &Chart, state: StateId, read: &BTreeSet<VarId>) -> Option<Known> {
    let mut known = defaults(chart, read);
    let root = chart.state(StateId::at(0));
    root.entry.iter().for_each(|block| act(chart, block, &mut known, read));
    act(chart, &root.default_actions, &mut known, read);
    entered(chart, StateId::at(0), state, known, read)
}

/// The values that these variables begin with.
fn defaults(chart: &Chart, read: &BTreeSet<VarId>) -> Known {
    let one = |id: &VarId| {
        let row = &chart.variables[id.index()];
        let default = row.default.as_ref()?;
        matches!(row.kind, VariableKind::Var { .. }).then(|| is(chart, *id, default)).flatten()
    };
    read.iter().filter_map(one).collect()
}

/// That a variable has this value, if that is a constant.
#[allow(clippy::wildcard_enum_match_arm, reason = "whatever is no constant is not followed")]
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

/// Forgets what is known of variables.
fn forget(chart: &Chart, set: &BTreeSet<VarId>, known: &mut Known) {
    known.retain(|condition| {
        let mut read = BTreeSet::new();
        reads(chart, condition, &mut read);
        read.is_disjoint(set)
    });
}

/// What is known after a block.
fn act(chart: &Chart, actions: &[Action], known: &mut Known, read: &BTreeSet<VarId>) {
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

/// Whether all of them together make the condition hold.
fn implied(chart: &Chart, known: &[Expr], guard: &Expr) -> bool {
    let all = known.iter().cloned().reduce(|a, b| Expr {
        kind: ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b)),
        ty: Type::Bool,
    });
    implies(chart, all.as_ref(), Some(guard))
}

/// A step of the state that sets what the condition reads, if the condition holds before when the state is first entered: nothing on the
/// shortest way there sets it to more than constants.
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
    for (nth, (actor, line, _)) in hops.iter().enumerate() {
        let row = chart.transition(*line);
        let near = |s: &StateId| chart.contains(*s, *actor) || chart.contains(*actor, *s);
        let mut steps = chart.steps.iter().zip(&facts.places.steps);
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
