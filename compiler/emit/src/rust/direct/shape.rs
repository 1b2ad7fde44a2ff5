//! Decides which charts have direct code, and says why the others have none.

use super::configuration;
use crate::rust::uses;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Limits, Observable, StateKind, Transition, Trigger,
};
use chartc_core::tables::Tables;
use std::collections::BTreeMap;

/// How the code of a chart takes a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Shape {
    /// Direct code: the steps for each occurrence in each of these configurations. A configuration is the list of its active leaves.
    Direct(Vec<Vec<StateId>>),
    /// The configuration as a set of bits, and the step algorithm of the interpreter; with the reason why direct code is impossible.
    Shared(&'static str),
}

/// The form of direct code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) enum Form {
    /// The same code for all cells; one table holds their differences.
    Uniform,
    /// A `match` on the event, then on groups of leaves; tables hold the differences within a group.
    ByEvent,
    /// A `match` on the leaf, then on the event.
    #[default]
    ByLeaf,
    /// Steps as data, with a row for each event and configuration.
    Data,
}

/// The maximum number of leaves times occurrences times levels, so that direct code stays short.
const MOST: usize = 6000;

/// The maximum number of guarded transitions that one occurrence may try in one leaf. Direct code puts each into the `else` of the one
/// before, so more would nest too deeply.
const DEEPEST: usize = 100;

impl Shape {
    /// The simplest shape for the chart. Direct code requires that everything in the chart is known at compile time.
    pub(in super::super) fn new(chart: &Chart, tables: &Tables<'_>) -> Self {
        if let Some(why) = why_not(chart) {
            return Self::Shared(why);
        }
        match configuration::all(chart, tables) {
            Ok(all) => Self::Direct(all),
            Err(why) => Self::Shared(why),
        }
    }

    /// Returns the description of the shape for the head of the file.
    pub(in super::super) fn text(&self, form: Form) -> String {
        let all = match self {
            Self::Direct(all) => all,
            Self::Shared(why) => return format!("bit sets with the shared step, because {why}"),
        };
        let one = "because one leaf is active at a time and nothing has to be remembered but data";
        match form {
            Form::Uniform => {
                "one dense table, because all events do alike in all leaves, but for where they lead".to_owned()
            }
            Form::ByEvent => format!("direct `match` on the event and groups of leaves, {one}"),
            Form::ByLeaf => format!("direct `match` on the leaf and then the event, {one}"),
            Form::Data => format!(
                "dense tables of steps as data, because no line has a guard and there are {} configurations in all",
                all.len()
            ),
        }
    }
}

fn why_not(chart: &Chart) -> Option<&'static str> {
    if chart.events.is_empty() {
        return Some("there are no events");
    }
    if !chart.steps.is_empty() || !chart.choices.is_empty() || !chart.permissions.is_empty() {
        return Some("there are steps, options or permissions");
    }
    let state = chart.states.iter().find_map(|state| {
        match state.kind {
            StateKind::History { .. } => return Some("there is history"),
            StateKind::Atomic | StateKind::Final { .. } if state.parent.is_none() => {
                return Some("there is one state");
            }
            StateKind::Atomic
            | StateKind::Compound { .. }
            | StateKind::Parallel
            | StateKind::Final { .. } => {}
        }
        (state.advice.is_some() || state.limits != Limits::default())
            .then_some("there are limits or advice")
    });
    if state.is_some() {
        return state;
    }
    if let Some(why) = chart.transitions.iter().find_map(unsupported) {
        return Some(why);
    }
    let mut why = None;
    actions(chart, &mut |one| why = why.or(action(one)));
    expressions(chart, &mut |expr, moves| {
        if let ExprKind::Observable(observable) = &expr.kind {
            why = why.or(seen(observable, moves));
        }
    });
    if why.is_some() {
        return why;
    }
    // A state without children ends right after itself.
    let leaves = chart.states.iter().enumerate().filter(|(i, s)| s.end.index() == i + 1).count();
    let depth = chart.states.iter().map(|s| s.path.matches('.').count()).max().unwrap_or_default();
    if leaves * (chart.events.len() + 4) * (1 + depth) > MOST {
        return Some("there are many states");
    }
    (deepest(chart) > DEEPEST).then_some("many lines with a condition are on one event")
}

/// The maximum number of guarded transitions that one occurrence may try in one leaf.
fn deepest(chart: &Chart) -> usize {
    // For each state, the number of its own and its ancestors' transitions with each trigger.
    let mut all: Vec<BTreeMap<TriggerKey, usize>> = Vec::with_capacity(chart.states.len());
    for state in &chart.states {
        let mut counts = state.parent.map_or_else(BTreeMap::new, |p| all[p.index()].clone());
        let transitions = state.transitions.iter().map(|id| chart.transition(*id));
        for moment in transitions.filter(|transition| transition.guard.is_some()).flat_map(moments)
        {
            *counts.entry(moment).or_default() += 1;
        }
        all.push(counts);
    }
    // Transitions on any event count for each event.
    let deep = |counts: &BTreeMap<TriggerKey, usize>| {
        let any = counts.get(&TriggerKey::AnyEvent).copied().unwrap_or_default();
        let others = counts.iter().filter(|(moment, _)| **moment != TriggerKey::AnyEvent);
        any + others.map(|(_, count)| *count).max().unwrap_or_default()
    };
    all.iter().map(deep).max().unwrap_or_default()
}

/// A trigger, as far as it decides which transitions are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TriggerKey {
    Event(EventId),
    AnyEvent,
    StateDone(StateId),
    Turn,
    When,
    Other,
}

/// Returns the triggers of a transition: one for each event that it names, or a single one.
fn moments(transition: &Transition) -> Vec<TriggerKey> {
    vec![match &transition.trigger {
        Trigger::Event(events) => return events.iter().copied().map(TriggerKey::Event).collect(),
        Trigger::AnyEvent => TriggerKey::AnyEvent,
        Trigger::StateDone(state) => TriggerKey::StateDone(*state),
        Trigger::Turn => TriggerKey::Turn,
        Trigger::When => TriggerKey::When,
        Trigger::Error(_)
        | Trigger::AnyOccurrence
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::Choice(_)
        | Trigger::StepDone(_)
        | Trigger::StepError(_)
        | Trigger::StepTimeout(..)
        | Trigger::StepDoubt(_)
        | Trigger::StepElse(_)
        | Trigger::LimitWarn(_) => TriggerKey::Other,
    }]
}

/// Says why a transition rules out direct code, if it does.
fn unsupported(transition: &Transition) -> Option<&'static str> {
    match &transition.trigger {
        Trigger::Event(_)
        | Trigger::AnyEvent
        | Trigger::Turn
        | Trigger::When
        | Trigger::StateDone(_)
        | Trigger::Error(_) => None,
        Trigger::After(_) | Trigger::AfterTurns(_) | Trigger::StepTimeout(..) => {
            Some("there are deadlines")
        }
        Trigger::Choice(_)
        | Trigger::StepDone(_)
        | Trigger::StepError(_)
        | Trigger::StepDoubt(_)
        | Trigger::StepElse(_) => Some("there are steps or options"),
        Trigger::LimitWarn(_) => Some("there are limits"),
        Trigger::AnyOccurrence => Some("a line is on every occurrence"),
    }
}

/// Says why an action rules out direct code, if it does.
fn action(action: &Action) -> Option<&'static str> {
    match action {
        Action::Assign(..)
        | Action::If(..)
        | Action::For(..)
        | Action::Do(..)
        | Action::Raise(..)
        | Action::Result(..)
        | Action::Log(_) => None,
        Action::Send { .. } | Action::Cancel(_) => Some("events are sent"),
    }
}

/// Says why an observable rules out direct code, if it does. Those that depend only on the active states are known in transitions and
/// blocks.
fn seen(observable: &Observable, in_line: bool) -> Option<&'static str> {
    match observable {
        Observable::Turns | Observable::Event => None,
        Observable::State | Observable::In(_) if in_line => None,
        Observable::State | Observable::In(_) => Some("a `pred` or a default reads active states"),
        Observable::TurnsHere
        | Observable::TurnsIn(_)
        | Observable::FailsHere
        | Observable::Elapsed
        | Observable::ElapsedHere
        | Observable::Health
        | Observable::Advice
        | Observable::LastResult
        | Observable::Calls(_)
        | Observable::Tokens(_)
        | Observable::Cost(_)
        | Observable::Streak(_)
        | Observable::Repeated(..) => Some("time, turns or calls in a state are read"),
    }
}

/// Calls `found` with every expression, and whether it belongs to a transition or block.
fn expressions(chart: &Chart, found: &mut dyn FnMut(&Expr, bool)) {
    for expr in chart.variables.iter().filter_map(|v| v.default.as_ref()) {
        uses::walk(expr, &mut |e| found(e, false));
    }
    for predicate in &chart.predicates {
        uses::walk(&predicate.expr, &mut |e| found(e, false));
    }
    for transition in &chart.transitions {
        let arguments = transition.targets.iter().flat_map(|target| &target.arguments);
        for expr in transition.guard.iter().chain(arguments) {
            uses::walk(expr, &mut |e| found(e, true));
        }
    }
    actions(chart, &mut |action| {
        uses::direct(action, &mut |expr| uses::walk(expr, &mut |e| found(e, true)));
    });
}

/// Calls `found` with every action, including those in branches.
fn actions<'c>(chart: &'c Chart, found: &mut dyn FnMut(&'c Action)) {
    for block in chart.blocks() {
        Action::walk(block, found);
    }
}

/// Whether a block raises an event.
pub(super) fn raises(chart: &Chart) -> bool {
    let mut raises = false;
    actions(chart, &mut |action| raises |= matches!(action, Action::Raise(..)));
    raises
}

/// Whether an expression reads a field of the current event or answer.
pub(super) fn reads_fields(chart: &Chart) -> bool {
    let mut reads = false;
    expressions(chart, &mut |expr, _| reads |= matches!(expr.kind, ExprKind::Payload(_)));
    reads
}

/// Whether an expression reads the name of the current event.
pub(super) fn reads_event(chart: &Chart) -> bool {
    let mut reads = false;
    expressions(chart, &mut |expr, _| {
        reads |= matches!(expr.kind, ExprKind::Observable(Observable::Event));
    });
    reads
}
