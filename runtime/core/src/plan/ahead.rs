//! The columns that follow from the others: what a state reacts to, which of its lines an event makes candidates, what a line
//! leaves and enters.

use super::{Plan, Pools, span};
use crate::arena::{StateId, TransitionId};
use crate::tables::{
    Dispatch, LimitsRow, Reacts, Route, Span, StateRow, StateRowKind, StepRowKind, TransitionRow,
    TriggerRow,
};
use alloc::vec::Vec;

/// A state with more lines has them sorted by event.
const SCANNED: usize = 4;

/// A line that enters more states computes them when it is taken, so that the tables stay linear in the chart.
const LONGEST: usize = 32;

/// Fills them in, linear in the size of the chart up to a logarithm.
pub(super) fn fill(plan: &mut Plan<'_>) {
    for index in 0..plan.states.len() {
        let own = reacts(plan, index);
        let parent = plan.states[index].parent.index();
        let above = if parent == index { Reacts::NOTHING } else { plan.states[parent].on_path };
        let histories = histories(index, &plan.states);
        let histories = span(&mut plan.pools.states, histories);
        let lines = dispatch(&plan.states[index], &plan.transitions, &mut plan.pools);
        let row = &mut plan.states[index];
        row.histories = histories;
        row.here = own;
        row.on_path = own.with(above);
        row.index = lines;
    }
    let mut entry = Vec::new();
    for index in 0..plan.transitions.len() {
        let row = plan.transitions[index];
        plan.transitions[index].route = route(&row, &plan.states, &mut plan.pools, &mut entry);
    }
}

fn reacts(plan: &Plan<'_>, index: usize) -> Reacts {
    let state = &plan.states[index];
    let mut all = Reacts::NOTHING;
    for line in state.transitions.of(&plan.transitions) {
        all = all.with(kind(&line.trigger));
        if line.trigger.is_alive() {
            all = all.with(Reacts::ALIVE);
        }
    }
    for step in state.steps.of(&plan.pools.steps) {
        all = all.with(Reacts::ALIVE);
        if matches!(plan.steps[step.index()].kind, StepRowKind::Ask { on: Some(_), .. }) {
            all = all.with(Reacts::ASK);
        }
    }
    let LimitsRow { time, time_warn, .. } = state.limits;
    if time.or(time_warn).is_some() { all.with(Reacts::TIME) } else { all }
}

fn histories(index: usize, states: &[StateRow<'_>]) -> Vec<StateId> {
    let mut found = Vec::new();
    let mut child = StateId::at(index + 1);
    while child < states[index].end {
        if matches!(states[child.index()].kind, StateRowKind::History { .. }) {
            found.push(child);
        }
        child = states[child.index()].end;
    }
    found
}

const fn kind(trigger: &TriggerRow<'_>) -> Reacts {
    match trigger {
        TriggerRow::Event(_) | TriggerRow::AnyEvent => Reacts::EVENT,
        TriggerRow::AnyOccurrence => Reacts::VISIBLE,
        TriggerRow::Turn => Reacts::TURN,
        TriggerRow::When => Reacts::WHEN,
        TriggerRow::StateDone(_) => Reacts::DONE,
        TriggerRow::After(_) | TriggerRow::AfterTurns(_) | TriggerRow::StepTimeout(..) => {
            Reacts::DEADLINE
        }
        TriggerRow::Choice(_) => Reacts::CHOICE,
        TriggerRow::StepDone(_)
        | TriggerRow::StepError(_)
        | TriggerRow::StepDoubt(_)
        | TriggerRow::StepElse(_) => Reacts::STEP,
        TriggerRow::Error(_) => Reacts::ERROR,
        TriggerRow::LimitWarn(_) => Reacts::WARN,
    }
}

/// The lines of a state by event, if it has many.
fn dispatch(state: &StateRow<'_>, lines: &[TransitionRow<'_>], pools: &mut Pools<'_>) -> Span {
    if (state.transitions.len as usize) <= SCANNED {
        return Span::EMPTY;
    }
    let start = pools.dispatch.len();
    for (i, row) in state.transitions.of(lines).iter().enumerate() {
        let line = TransitionId(state.transitions.start + i as u32);
        match row.trigger {
            TriggerRow::Event(events) => {
                let events = events.of(&pools.events).iter();
                pools.dispatch.extend(events.map(|event| Dispatch { event: *event, line }));
            }
            TriggerRow::AnyEvent | TriggerRow::AnyOccurrence => {
                pools.dispatch.push(Dispatch { event: Dispatch::ANY, line });
            }
            TriggerRow::Turn
            | TriggerRow::When
            | TriggerRow::StateDone(_)
            | TriggerRow::After(_)
            | TriggerRow::AfterTurns(_)
            | TriggerRow::Choice(_)
            | TriggerRow::StepDone(_)
            | TriggerRow::StepError(_)
            | TriggerRow::StepTimeout(..)
            | TriggerRow::StepDoubt(_)
            | TriggerRow::StepElse(_)
            | TriggerRow::Error(_)
            | TriggerRow::LimitWarn(_) => {}
        }
    }
    pools.dispatch[start..].sort_unstable();
    let len = pools.dispatch.len() - start;
    if len == 0 { Span::EMPTY } else { Span { start: start as u32, len: len as u32 } }
}

/// What a line leaves and enters; `entry` is scratch.
fn route(
    line: &TransitionRow<'_>,
    states: &[StateRow<'_>],
    pools: &mut Pools<'_>,
    entry: &mut Vec<StateId>,
) -> Route {
    let targets = line.targets.of(&pools.states);
    if targets.is_empty() {
        return Route::Stay;
    }
    let is_history = |id: StateId| matches!(states[id.index()].kind, StateRowKind::History { .. });
    if targets.len() > LONGEST || targets.iter().any(|target| is_history(*target)) {
        return Route::Computed;
    }
    let domain = domain(line, targets, states);
    entry.clear();
    let entered = targets.iter().all(|target| enter(*target, domain, states, entry));
    if !entered || !complete(states, &pools.states, entry) {
        return Route::Computed;
    }
    let entry = if *entry == targets {
        line.targets
    } else {
        span(&mut pools.states, entry.iter().copied())
    };
    Route::Known { domain, entry }
}

/// As the step algorithm has it, for targets that are no histories.
fn domain(line: &TransitionRow<'_>, targets: &[StateId], states: &[StateRow<'_>]) -> StateId {
    let holds = |outer: StateId| {
        let end = states[outer.index()].end;
        matches!(states[outer.index()].kind, StateRowKind::Compound(_))
            && targets.iter().all(|target| outer < *target && *target < end)
    };
    if line.internal && holds(line.source) {
        return line.source;
    }
    let mut domain = line.source;
    loop {
        let parent = states[domain.index()].parent;
        if parent == domain {
            return domain;
        }
        domain = parent;
        if holds(domain) {
            return domain;
        }
    }
}

/// Adds a state and those above it, below `top`; false when there are too many.
fn enter(state: StateId, top: StateId, states: &[StateRow<'_>], entry: &mut Vec<StateId>) -> bool {
    let mut at = state;
    while at != top {
        if let Err(place) = entry.binary_search(&at) {
            if entry.len() == LONGEST {
                return false;
            }
            entry.insert(place, at);
        }
        let parent = states[at.index()].parent;
        if parent == at {
            break;
        }
        at = parent;
    }
    true
}

/// Adds default children and regions; false when there are too many, a history decides, or a default has actions.
fn complete(states: &[StateRow<'_>], pool: &[StateId], entry: &mut Vec<StateId>) -> bool {
    let mut at = 0;
    while let Some(state) = entry.get(at).copied() {
        at += 1;
        let row = &states[state.index()];
        match row.kind {
            StateRowKind::Compound(initial) => {
                let is_given = entry.get(at).is_some_and(|next| *next < row.end);
                let is_history =
                    |id: &StateId| matches!(states[id.index()].kind, StateRowKind::History { .. });
                let initial = initial.of(pool);
                let mut enters = || initial.iter().all(|id| enter(*id, state, states, entry));
                if !is_given && (row.default_actions || initial.iter().any(is_history) || !enters())
                {
                    return false;
                }
            }
            StateRowKind::Parallel => {
                let mut region = StateId(state.0 + 1);
                while region < row.end {
                    let is_history =
                        matches!(states[region.index()].kind, StateRowKind::History { .. });
                    if !is_history && !enter(region, state, states, entry) {
                        return false;
                    }
                    region = states[region.index()].end;
                }
            }
            StateRowKind::Atomic | StateRowKind::Final(_) | StateRowKind::History { .. } => {}
        }
    }
    true
}
