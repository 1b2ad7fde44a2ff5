//! Computes columns in advance: the kinds of occurrences that a state reacts to, its transitions by event, and the exit and entry sets of
//! transitions.

use super::{Plan, Pools, span};
use crate::arena::{StateId, TransitionId};
use crate::machine::LimitKind;
use crate::structure::{self, EntrySet, Shape, Tree};
use crate::tables::{
    Dispatch, LimitsRow, Reacts, Route, Rows, Span, StateRow, StateRowKind, StepRowKind,
    TransitionRow, TriggerRow, WalkRow,
};
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of transitions that are scanned for an event. A state with more gets an index by event.
const SCANNED: usize = 4;

/// The maximum size of an entry set that is stored. A larger one is computed when its transition is taken, so that the tables stay linear
/// in the size of the chart.
const LONGEST: usize = 32;

/// Fills the columns, in time linear in the size of the chart up to a logarithmic factor.
pub(super) fn fill(plan: &mut Plan<'_>) {
    for index in 0..plan.states.len() {
        let own = reacts(plan, index);
        let parent = plan.states[index].parent.index();
        // Parents precede their children, so the parent's column is already filled.
        let above = if parent == index { Reacts::NOTHING } else { plan.states[parent].on_path };
        let tree = Rows { states: &plan.states, pool: &plan.pools.states };
        let is_history = |child: &StateId| matches!(tree.shape(*child), Shape::History(_));
        let histories = structure::children(&tree, StateId::at(index)).filter(is_history);
        let histories: Vec<StateId> = histories.collect();
        let histories = span(&mut plan.pools.states, histories);
        let lines = dispatch(&plan.states[index], &plan.transitions, &mut plan.pools);
        let row = &mut plan.states[index];
        row.histories = histories;
        row.here = own;
        row.on_path = own.with(above);
        row.index = lines;
    }
    for index in 0..plan.transitions.len() {
        let row = plan.transitions[index];
        plan.transitions[index].route = route(&row, &plan.states, &mut plan.pools);
    }
    walks(plan);
    places(&mut plan.states);
}

/// Gives each state a place, so that states which can be active together have different places. Children of a parallel state get disjoint
/// ranges, because they are active together; other siblings share a range.
fn places(states: &mut [StateRow<'_>]) {
    let sizes = together(states);
    // The first free place for a child, for each state.
    let mut next = vec![0; states.len()];
    for index in 0..states.len() {
        let parent = states[index].parent.index();
        if parent != index {
            let is_parallel = matches!(states[parent].kind, StateRowKind::Parallel);
            states[index].place = next[parent];
            if is_parallel {
                next[parent] += sizes[index];
            }
        }
        next[index] = states[index].place + 1;
    }
}

/// The maximum number of states that are active together in the subtree of each state.
pub(super) fn together(states: &[StateRow<'_>]) -> Vec<u32> {
    summed(states, |kind| u32::from(!matches!(kind, StateRowKind::History { .. })))
}

/// The maximum of the sum of `own` over states that are active together, in the subtree of each state. A parallel state adds the sums of
/// all its children; any other state adds only the greatest sum of a child.
pub(super) fn summed(states: &[StateRow<'_>], own: impl Fn(StateRowKind) -> u32) -> Vec<u32> {
    let mut below = vec![0; states.len()];
    // Children follow their parents, so reverse order completes each subtree before its parent.
    for (index, row) in states.iter().enumerate().rev() {
        below[index] += own(row.kind);
        let (all, parent) = (below[index], row.parent.index());
        if parent == index {
            continue;
        }
        below[parent] = match states[parent].kind {
            StateRowKind::Parallel => below[parent] + all,
            _ => below[parent].max(all),
        };
    }
    below
}

/// Finds the regions, and the innermost region that contains each state.
fn walks(plan: &mut Plan<'_>) {
    plan.walks.push(WalkRow::PLAIN);
    // Nothing is walked without steps.
    if plan.steps.is_empty() {
        return;
    }
    // Each step belongs to the walk of its region and to those of all regions around it.
    for index in 1..plan.states.len() {
        let row = plan.states[index];
        let (parent, outer) = (row.parent, plan.states[row.parent.index()].walk);
        let tree = Rows { states: &plan.states, pool: &plan.pools.states };
        let is_region = matches!(plan.states[parent.index()].kind, StateRowKind::Parallel)
            && !matches!(tree.shape(StateId::at(index)), Shape::History(_));
        plan.states[index].walk = if is_region { plan.walks.len() as u32 } else { outer };
        if is_region {
            plan.walks.push(WalkRow { state: StateId::at(index), outer, steps: Span::EMPTY });
        }
    }
    for (index, step) in (0..).zip(&plan.steps) {
        let mut at = plan.states[step.state.index()].walk;
        loop {
            let row = &mut plan.walks[at as usize];
            if row.steps.len == 0 {
                row.steps.start = index;
            }
            row.steps.len = index + 1 - row.steps.start;
            if at == 0 {
                break;
            }
            at = row.outer;
        }
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
    let mut computed = plan.computed_limits.iter().filter(|row| row.state.index() == index);
    if time.or(time_warn).is_some() || computed.any(|row| row.kind == LimitKind::Time) {
        all.with(Reacts::TIME)
    } else {
        all
    }
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

/// The transitions of a state sorted by event, if the state has many.
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
            _ => {}
        }
    }
    // No two entries are equal, so the sort need not be stable.
    pools.dispatch[start..].sort_unstable();
    let len = pools.dispatch.len() - start;
    if len == 0 { Span::EMPTY } else { Span { start: start as u32, len: len as u32 } }
}

/// The exit and entry sets of a transition, if they do not depend on histories.
fn route(line: &TransitionRow<'_>, states: &[StateRow<'_>], pools: &mut Pools<'_>) -> Route {
    let targets = line.targets.of(&pools.states);
    if targets.is_empty() {
        return Route::Stay;
    }
    let tree = Rows { states, pool: &pools.states };
    let is_history = |target: &StateId| matches!(tree.shape(*target), Shape::History(_));
    if targets.len() > LONGEST || targets.iter().any(is_history) {
        return Route::Computed;
    }
    let mut entry = Known { tree, states: Vec::new() };
    let domain = structure::domain(&tree, line.source, line.internal, |state| {
        targets.iter().all(|target| structure::lies_below(&tree, &entry, *target, state))
    });
    if !targets.iter().all(|target| structure::add_target(&tree, &mut entry, *target, domain))
        || !structure::complete(&tree, &mut entry)
    {
        return Route::Computed;
    }
    let entry = entry.states;
    // A span of the targets is shared if they are exactly the entry set.
    let entry = if entry == targets { line.targets } else { span(&mut pools.states, entry) };
    Route::Known { domain, entry }
}

/// The entry set of a transition in document order, if it is always the same: no history and no default with actions is involved.
struct Known<'t> {
    tree: Rows<'t>,
    states: Vec<StateId>,
}

impl EntrySet for Known<'_> {
    fn add(&mut self, state: StateId) -> bool {
        if let Err(place) = self.states.binary_search(&state) {
            if self.states.len() == LONGEST {
                return false;
            }
            self.states.insert(place, state);
        }
        true
    }

    fn next(&self, from: StateId, end: StateId) -> Option<StateId> {
        let place = self.states.partition_point(|state| *state < from);
        self.states.get(place).copied().filter(|state| *state < end)
    }

    fn enter_default(&mut self, state: StateId) -> bool {
        let row = &self.tree.states[state.index()];
        // Default actions run only when an entry set is computed.
        !row.default_actions && !matches!(row.kind, StateRowKind::History { .. })
    }
}
