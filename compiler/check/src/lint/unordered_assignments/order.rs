//! Decides whether two assignments of different regions have an order.

use super::site::{Cause, Phase, Site, agree, mentions};
use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide, implies};
use crate::facts::reach::domain;
use crate::facts::scope::ScopeCondition;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{AskOn, Chart, Expr, StateKind, Step, StepKind, Transition, Trigger};

/// Two assignments without an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Race {
    /// The regions that contain them, in document order.
    pub(super) regions: [StateId; 2],
    pub(super) kind: RaceKind,
}

/// The reason why two assignments have no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RaceKind {
    /// One event triggers both.
    Event,
    /// The assignments belong to steps that are open at the same time.
    Outcome,
}

/// The race of two assignments of a variable; `None` if they have an order, exclude each other, or agree.
pub(super) fn race(
    chart: &Chart,
    facts: &Facts,
    variable: VarId,
    one: &Site<'_>,
    two: &Site<'_>,
) -> Option<Race> {
    let (mut one, mut two) = (one, two);
    if two.cause.state(chart) < one.cause.state(chart) {
        (one, two) = (two, one);
    }
    let [a, b] = [one, two].map(|site| site.cause.state(chart));
    let regions = regions(chart, a, b)?;
    let under = |site: &Site<'_>| site.under.iter().any(|(e, _)| mentions(chart, e, variable));
    // A block that tests the variable first is taken to respect the value that the other one has assigned.
    if under(one) || under(two) || leaves(chart, one.cause, b) || leaves(chart, two.cause, a) {
        return None;
    }
    let kind = match (one.cause, two.cause) {
        (Cause::Transition(l), Cause::Transition(r)) if coincide(chart, l, r) => RaceKind::Event,
        _ if open_together(chart, facts, regions, one, two) => RaceKind::Outcome,
        _ => return None,
    };
    let at_once = kind == RaceKind::Event;
    if agree(chart, variable, one, two, at_once)
        || (at_once && builds_on(chart, variable, one, two))
    {
        return None;
    }
    let guards = |site: &Site<'_>| guards(chart, site.cause);
    let closed = |state: StateId, site: &Site<'_>| {
        guards(site).iter().any(|guard| ScopeCondition::in_state(state).is_closed_by(chart, guard))
    };
    if closed(a, two) || closed(b, one) {
        return None;
    }
    let both: Vec<&Expr> = guards(one).into_iter().chain(guards(two)).collect();
    let excluded = if at_once {
        let under = one.under.iter().chain(&two.under).copied();
        let goals: Vec<_> = both.into_iter().map(|guard| (guard, true)).chain(under).collect();
        decide(chart, &goals) == Verdict::Never
    } else {
        // Each outcome is taken by itself, so its condition sees what the other one has assigned.
        both.into_iter().any(|guard| mentions(chart, guard, variable))
    };
    (!excluded).then_some(Race { regions, kind })
}

/// Whether the second of two assignments that one event makes reads what the first has assigned.
fn builds_on(chart: &Chart, variable: VarId, one: &Site<'_>, two: &Site<'_>) -> bool {
    // Exit blocks run from the last region to the first.
    let reversed = (one.phase, two.phase) == (Phase::Exit, Phase::Exit);
    let second = if two.phase < one.phase || reversed { one } else { two };
    second.value.is_some_and(|value| mentions(chart, value, variable))
}

/// The regions of one parallel that contain the states, if these are in different ones.
fn regions(chart: &Chart, a: StateId, b: StateId) -> Option<[StateId; 2]> {
    let common = chart.ancestors(a).find(|s| chart.contains(*s, b))?;
    let is_parallel = matches!(chart.state(common).kind, StateKind::Parallel);
    let below = |state| chart.ancestors(state).find(|s| chart.state(*s).parent == Some(common));
    is_parallel.then_some([below(a)?, below(b)?])
}

/// Whether the transition or step that assigns also exits the state, so that its assignment is the last one.
fn leaves(chart: &Chart, cause: Cause, state: StateId) -> bool {
    let exits = |transition: &Transition| {
        domain(chart, transition).is_some_and(|d| d != state && chart.contains(d, state))
    };
    match cause {
        Cause::Transition(id) => exits(chart.transition(id)),
        Cause::Step(id) => chart.steps[id.index()].outcomes.iter().any(|transition| {
            let transition = chart.transition(*transition);
            matches!(transition.trigger, Trigger::StepDone(_)) && exits(transition)
        }),
    }
}

/// Whether one event triggers both transitions.
fn coincide(chart: &Chart, one: TransitionId, two: TransitionId) -> bool {
    let [a, b] = [one, two].map(|id| chart.transition(id));
    match (&a.trigger, &b.trigger) {
        (Trigger::Event(a), Trigger::Event(b)) => a.iter().any(|event| b.contains(event)),
        (
            Trigger::AnyEvent | Trigger::AnyOccurrence,
            Trigger::Event(_) | Trigger::AnyEvent | Trigger::AnyOccurrence,
        )
        | (Trigger::Event(_), Trigger::AnyEvent | Trigger::AnyOccurrence)
        | (Trigger::Turn, Trigger::AnyOccurrence)
        | (Trigger::AnyOccurrence, Trigger::Turn) => true,
        // Two conditions certainly come to hold at the same time only if one implies the other.
        (Trigger::When, Trigger::When) => {
            let [a, b] = [a, b].map(|transition| transition.guard.as_ref());
            implies(chart, a, b) || implies(chart, b, a)
        }
        (
            Trigger::Turn | Trigger::StateDone(_) | Trigger::Error(_) | Trigger::LimitWarn(_),
            other,
        ) => a.trigger == *other,
        (Trigger::StepDone(_) | Trigger::StepError(_) | Trigger::StepDoubt(_), other) => {
            a.trigger == *other
        }
        (
            Trigger::Event(_)
            | Trigger::AnyEvent
            | Trigger::AnyOccurrence
            | Trigger::When
            | Trigger::After(_)
            | Trigger::AfterTurns(_)
            | Trigger::Choice(_)
            | Trigger::StepTimeout(..)
            | Trigger::StepElse(_),
            _,
        ) => false,
    }
}

/// Whether both assignments belong to steps of their regions that may be open at the same time.
fn open_together(
    chart: &Chart,
    facts: &Facts,
    regions: [StateId; 2],
    one: &Site<'_>,
    two: &Site<'_>,
) -> bool {
    let [a, b] = [(one, regions[0]), (two, regions[1])]
        .map(|(site, region)| open(chart, facts, site.cause, region));
    a.iter().any(|a| b.iter().any(|b| together(chart, *a, *b)))
}

/// The steps of the region, or questions put to it, whose outcome the assignment waits for.
fn open(chart: &Chart, facts: &Facts, cause: Cause, region: StateId) -> Vec<StepId> {
    let step = match cause {
        Cause::Step(step) => Some(step),
        Cause::Transition(id) => {
            let transition = chart.transition(id);
            if matches!(transition.trigger, Trigger::Choice(_)) {
                let asks = (0..chart.steps.len()).map(StepId::at).filter(|id| {
                    let ask = &chart.steps[id.index()];
                    let (within, at) = (facts.scopes.step(*id), transition.source);
                    matches!(ask.kind, StepKind::Ask { .. })
                        && within
                            .within
                            .iter()
                            .any(|s| chart.contains(*s, at) || chart.contains(at, *s))
                });
                return asks.collect();
            }
            transition.trigger.step()
        }
    };
    let inside = |step: &StepId| chart.contains(region, chart.steps[step.index()].state);
    let Some(step) = step.filter(inside) else { return Vec::new() };
    if !matches!(chart.steps[step.index()].kind, StepKind::Code(_)) {
        return vec![step];
    }
    // Code takes no time: it runs when the walk has finished the step before it, for which it may have waited.
    let waits = |step: &Step| {
        matches!(
            &step.kind,
            StepKind::Llm | StepKind::Call(..) | StepKind::Ask { on: AskOn::Turn, .. }
        )
    };
    let earlier = (0..step.index()).map(StepId::at).filter(inside);
    earlier.filter(|id| waits(&chart.steps[id.index()])).collect()
}

/// Whether the steps may be open at the same time. Questions for different events are not, because the host sends one event after the
/// other.
fn together(chart: &Chart, one: StepId, two: StepId) -> bool {
    match (&chart.steps[one.index()].kind, &chart.steps[two.index()].kind) {
        (StepKind::Ask { on: AskOn::Event(a), .. }, StepKind::Ask { on: AskOn::Event(b), .. }) => {
            a.iter().any(|event| b.contains(event))
        }
        (StepKind::Ask { on: AskOn::Event(_), .. }, _)
        | (_, StepKind::Ask { on: AskOn::Event(_), .. }) => false,
        (
            StepKind::Llm
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Human(_)
            | StepKind::Run(_)
            | StepKind::Code(_),
            _,
        ) => true,
    }
}

/// The conditions of a cause: the guard of the transition and the condition of the step.
fn guards(chart: &Chart, cause: Cause) -> Vec<&Expr> {
    let (transition, step) = match cause {
        Cause::Transition(id) => (Some(chart.transition(id)), chart.transition(id).trigger.step()),
        Cause::Step(id) => (None, Some(id)),
    };
    let step = step.and_then(|id| chart.steps[id.index()].guard.as_ref());
    transition.and_then(|transition| transition.guard.as_ref()).into_iter().chain(step).collect()
}
