//! Steps whose state is never active when the walk of a turn reaches them.
//!
//! For example, a state with `llm a { … } -> next` and, below it, `llm b { … }`: the walk reaches `b` only after `a`, whose outcome has
//! exited the state.

use crate::facts::Facts;
use crate::facts::reach::{entries, is_history};
use crate::facts::uses::is_where;
use crate::turn::calls::region;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{AskOn, Chart, Failure, Step, StepKind, Transition, Trigger};
use std::collections::BTreeMap;

/// A step that never runs, because an earlier one exits its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreached {
    /// The step that never runs.
    pub step: StepId,
    /// The state in which it would run.
    pub state: StateId,
    /// An earlier step of that state. It always runs, and afterwards the walk has ended or the state has been exited.
    pub after: StepId,
    /// The transition of that step that exits the state.
    pub transition: TransitionId,
}

/// The steps that never run, ascending. A walk visits each step at most once, in document order. So if an earlier step always exits the
/// state and nothing in between re-enters it, the later step never runs. Linear in steps and transitions.
pub fn unreached(chart: &Chart, facts: &Facts) -> Vec<Unreached> {
    let mut found = Vec::new();
    let mut by_state: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
    for (i, place) in facts.scopes.steps.iter().enumerate() {
        if let [state] = place.within[..]
            && state != StateId::at(0)
            && facts.reach.can_enter(state)
        {
            by_state.entry(state).or_default().push(StepId::at(i));
        }
    }
    by_state.retain(|_, steps| steps.len() > 1);
    if by_state.is_empty() {
        return found;
    }
    let back = Entering::new(chart);
    for (state, steps) in by_state {
        // The last step so far after which the state has been exited.
        let mut gone: Option<(StepId, TransitionId)> = None;
        for id in steps {
            if let Some((after, transition)) = gone
                && in_walk(&chart.steps[id.index()])
                && !back.between(chart, state, after, id)
            {
                found.push(Unreached { step: id, state, after, transition });
                continue;
            }
            if let Some(transition) = leaves(chart, facts, state, id) {
                gone = Some((id, transition));
            }
        }
    }
    found.sort_by_key(|f| f.step);
    found
}

/// Whether the walk of a turn starts the step.
fn in_walk(step: &Step) -> bool {
    match &step.kind {
        StepKind::Ask { on, .. } => *on == AskOn::Turn,
        StepKind::Run(run) => !run.on_entry,
        _ => true,
    }
}

/// A transition on the step's outcome, if the step runs whenever its state is active, and the walk continues only after the state has
/// been exited. `None` otherwise.
fn leaves(chart: &Chart, facts: &Facts, state: StateId, id: StepId) -> Option<TransitionId> {
    let step = &chart.steps[id.index()];
    let awaited = match &step.kind {
        StepKind::Llm | StepKind::Call(..) | StepKind::Code(_) => true,
        StepKind::Ask { .. } | StepKind::Human(_) | StepKind::Run(..) => false,
    };
    let place = facts.scopes.step(id);
    let always = step.guard.as_ref().is_none_or(is_where)
        && place.except.is_empty()
        && !place.is_approximate;
    if !awaited || !always || step.failure.then == Failure::Skip {
        return None;
    }
    let mut sure = None;
    let failing = match step.failure.then {
        Failure::Take(transition) => Some(transition),
        Failure::Fail | Failure::Skip => None,
    };
    for transition in step.outcomes.iter().copied().chain(failing) {
        let row = chart.transition(transition);
        // Every transition must exit the state, whichever outcome the step has.
        let away = !row.targets.is_empty()
            && permitted(chart, state, row)
            && outside(chart, state, transition);
        if !away {
            return None;
        }
        if matches!(row.trigger, Trigger::StepDone(_)) && row.guard.is_none() {
            sure = sure.or(Some(transition));
        }
    }
    sure
}

/// Whether the transition table permits the move from the state whatever the variables are.
fn permitted(chart: &Chart, state: StateId, transition: &Transition) -> bool {
    let rows = &chart.permissions;
    let permits = |target: StateId| {
        rows.iter().any(|row| {
            let from = row.from.is_none_or(|from| chart.contains(from, state));
            from && row.to == target && row.guard.is_none()
        })
    };
    rows.is_empty() || transition.targets.iter().all(|target| permits(target.state))
}

/// Whether the transition exits the state without entering it again.
fn outside(chart: &Chart, state: StateId, transition: TransitionId) -> bool {
    entries(chart, chart.transition(transition))
        .iter()
        .all(|target| !touches(chart, *target, state))
}

/// Whether entering `target` may activate `state`.
fn touches(chart: &Chart, target: StateId, state: StateId) -> bool {
    let target = if is_history(chart, target) {
        chart.state(target).parent.unwrap_or(StateId::at(0))
    } else {
        target
    };
    chart.contains(target, state) || chart.contains(state, target)
}

/// The states that transitions may enter during a walk.
struct Entering {
    /// By step: the states that transitions on its outcomes enter.
    steps: BTreeMap<StepId, Vec<StateId>>,
    /// The states that other transitions enter.
    others: Vec<StateId>,
    /// The questions, ascending. Their options enter the states of `chosen`.
    asks: Vec<StepId>,
    /// The states that options enter.
    chosen: Vec<StateId>,
}

impl Entering {
    fn new(chart: &Chart) -> Self {
        let (mut steps, mut others) = (BTreeMap::<StepId, Vec<StateId>>::new(), Vec::new());
        let mut chosen = Vec::new();
        for transition in &chart.transitions {
            let entered = entries(chart, transition);
            if matches!(transition.trigger, Trigger::Choice(_)) {
                chosen.extend(entered);
            } else if let Some(step) = transition.trigger.step() {
                steps.entry(step).or_default().extend(entered);
            } else {
                others.extend(entered);
            }
        }
        let asks = chart.steps.iter().enumerate();
        let asks = asks.filter(|(_, s)| matches!(s.kind, StepKind::Ask { .. }));
        for entered in [&mut others, &mut chosen] {
            entered.sort_unstable();
            entered.dedup();
        }
        Self { steps, others, asks: asks.map(|(i, _)| StepId::at(i)).collect(), chosen }
    }

    /// Whether the state may be entered again between two steps of a walk.
    fn between(&self, chart: &Chart, state: StateId, after: StepId, until: StepId) -> bool {
        let any = |entered: &[StateId]| entered.iter().any(|t| touches(chart, *t, state));
        let waits = |s: &StepId| match &chart.steps[s.index()].kind {
            StepKind::Ask { on, .. } => *on != AskOn::Turn,
            StepKind::Llm | StepKind::Code(_) | StepKind::Call(..) => false,
            StepKind::Human(_) | StepKind::Run(..) => true,
        };
        // Steps outside of the walk may end at any time, and so may questions on events. Meanwhile, the walks of other regions continue.
        let own = region(chart, state);
        let other = |s: &StepId| region(chart, chart.steps[s.index()].state) != own;
        let beside = |id: &StepId| waits(id) || other(id) || (after < *id && *id < until);
        any(&self.others)
            || self.steps.iter().any(|(id, entered)| beside(id) && any(entered))
            || self.asks.iter().any(beside) && any(&self.chosen)
    }
}
