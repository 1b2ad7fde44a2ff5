//! Writes direct code, for charts whose configurations are all known when the code is written.
//!
//! The problem: the step algorithm finds out at run time which transitions to try and which states to exit and enter, although the answer
//! for an occurrence in a configuration is always the same. The idea: the step algorithm itself computes all answers beforehand
//! ([`chartc_core::semantics::unroll`]), and this module only writes them as code. For example:
//!
//! ```text
//! chart D {                                            match self.configuration {
//!   event go                                               Configuration::A => {
//!   initial a                                                  direct::taken(sink, 0);
//!   state a { on go -> b }                                     direct::exited(sink, 1);
//!   state b {                                                  direct::entered(sink, 2);
//!     initial c                                                direct::entered(sink, 3);
//!     state c { on go -> a }                                   self.configuration = Configuration::BC;
//!   }                                                          true
//! }                                                        }
//!                                                          Configuration::BC => { … }
//!                                                      }
//! ```
//!
//! `shape` decides which charts have direct code. Without parallels the active leaf is the whole configuration, and the code is a `match`
//! (`dispatch`, whose arms are `cell`s); with parallels, or if all leaves do alike, the steps are data (`rows`).

mod cells;
mod dispatch;
mod rows;

pub(super) use dispatch::{emit_core, fields};

use super::Context;
use super::code::{Fragment, Use};
use cells::Cells;
use chartc_core::arena::{EventId, StateId};
use chartc_core::machine::ErrorKind;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Limits, Observable, StateKind, Transition, Trigger,
};
use chartc_core::plan::Plan;
use chartc_core::semantics::unroll::Unroll;
use chartc_core::store::Occurrence;
use codegen::{Function, Impl};
use dispatch::Parameter;
use std::collections::{BTreeMap, BTreeSet};

impl Context<'_> {
    /// Whether the chart has direct code.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.shape, Shape::Direct(_))
    }

    /// Returns the parameter through which a method of the chart reads the machine; direct code has none.
    pub(super) fn view(&self, body: &Fragment) -> Option<String> {
        (!self.is_direct()).then(|| body.parameter("view", Use::View))
    }

    /// The configurations of a chart with direct code.
    fn configurations(&self) -> &[Vec<StateId>] {
        match &self.shape {
            Shape::Direct(all) => all,
            Shape::Shared(_) => &[],
        }
    }

    /// Names a configuration: after its leaf if every configuration has a single leaf, otherwise by its number.
    fn configuration(&self, nth: usize) -> String {
        match &self.configurations()[nth][..] {
            [leaf] if !self.has_parallels() => {
                let name = self.names.states[leaf.index()].as_deref().unwrap_or_default();
                format!("Configuration::{name}")
            }
            _ => format!("Configuration::C{nth}"),
        }
    }

    /// Returns the name of the configuration with these active leaves.
    fn within(&self, leaves: &[StateId]) -> String {
        self.configuration(self.nth(leaves))
    }

    /// Returns the number of the configuration with these active leaves.
    fn nth(&self, leaves: &[StateId]) -> usize {
        // `configuration::all` returns the configurations in this order.
        let found = self.configurations().binary_search_by(|one| one.as_slice().cmp(leaves));
        found.unwrap_or_else(|_| unreachable!("all configurations are known"))
    }

    fn has_parallels(&self) -> bool {
        self.configurations().iter().any(|leaves| leaves.len() > 1)
    }

    /// Whether further microsteps may follow the first: by raised events, completions, errors or eventless transitions.
    fn is_queueing(&self) -> bool {
        raises(self.chart)
            || self.chart.transitions.iter().any(|transition| match &transition.trigger {
                Trigger::When | Trigger::StateDone(_) | Trigger::Error(_) => true,
                Trigger::Event(_)
                | Trigger::AnyEvent
                | Trigger::AnyOccurrence
                | Trigger::Turn
                | Trigger::After(_)
                | Trigger::AfterTurns(_)
                | Trigger::Choice(_)
                | Trigger::StepDone(_)
                | Trigger::StepError(_)
                | Trigger::StepTimeout(..)
                | Trigger::StepDoubt(_)
                | Trigger::StepElse(_)
                | Trigger::LimitWarn(_) => false,
            })
    }

    /// Whether a transition reads a field of the current event or answer.
    pub(super) fn is_binding(&self) -> bool {
        reads_fields(self.chart)
    }
}

// Decides which charts have direct code, and says why the others have none.

/// How the code of a chart takes a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// Direct code: the steps for each occurrence in each of these configurations. A configuration is the list of its active leaves.
    Direct(Vec<Vec<StateId>>),
    /// The configuration as a set of bits, and the step algorithm of the interpreter; with the reason why direct code is impossible.
    Shared(&'static str),
}

/// The form of direct code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    /// A `match` on the event, then on groups of leaves; tables hold the differences within a group.
    #[default]
    Match,
    /// Steps as data, with a row for each event and configuration.
    Data,
}

/// The maximum number of leaves times occurrences times levels, so that direct code stays short.
const MOST_CELLS: usize = 6000;

/// The maximum number of guarded transitions that one occurrence may try in one leaf. Direct code puts each into the `else` of the one
/// before, so more would nest too deeply.
const DEEPEST: usize = 100;

impl Shape {
    /// The simplest shape for the chart. Direct code requires that everything in the chart is known at compile time.
    pub(super) fn new(chart: &Chart, plan: &Plan) -> Self {
        if let Some(why) = why_not(chart) {
            return Self::Shared(why);
        }
        match self::all(chart, plan) {
            Ok(all) => Self::Direct(all),
            Err(why) => Self::Shared(why),
        }
    }

    /// Returns the description of the shape for the head of the file.
    pub(super) fn text(&self, form: Form) -> String {
        let all = match self {
            Self::Direct(all) => all,
            Self::Shared(why) => return format!("bit sets with the shared step, because {why}"),
        };
        match form {
            Form::Match => "direct `match` on the event and groups of leaves, because one leaf is active at a time and nothing has to be remembered but data".to_owned(),
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
        if !state.defers.is_empty() {
            return Some("there are deferred events");
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
    if leaves * (chart.events.len() + 4) * (1 + depth) > MOST_CELLS {
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
        | Observable::LastFailed
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
        expr.walk(&mut |e| found(e, false));
    }
    for predicate in &chart.predicates {
        predicate.expr.walk(&mut |e| found(e, false));
    }
    for transition in &chart.transitions {
        let arguments = transition.targets.iter().flat_map(|target| &target.arguments);
        for expr in transition.guard.iter().chain(arguments) {
            expr.walk(&mut |e| found(e, true));
        }
    }
    actions(chart, &mut |action| {
        for expr in action.expressions() {
            expr.walk(&mut |e| found(e, true));
        }
    });
}

/// Calls `found` with every action, including those in branches.
fn actions<'c>(chart: &'c Chart, found: &mut dyn FnMut(&'c Action)) {
    for block in chart.blocks() {
        Action::walk(block, found);
    }
}

/// Whether a block raises an event.
fn raises(chart: &Chart) -> bool {
    let mut raises = false;
    actions(chart, &mut |action| raises |= matches!(action, Action::Raise(..)));
    raises
}

/// Whether an expression reads a field of the current event or answer.
fn reads_fields(chart: &Chart) -> bool {
    let mut reads = false;
    expressions(chart, &mut |expr, _| reads |= matches!(expr.kind, ExprKind::Payload(_)));
    reads
}

/// Whether an expression reads the name of the current event.
fn reads_event(chart: &Chart) -> bool {
    let mut reads = false;
    expressions(chart, &mut |expr, _| {
        reads |= matches!(expr.kind, ExprKind::Observable(Observable::Event));
    });
    reads
}

// Enumerates the configurations of a chart with direct code.

/// The maximum number of configurations of a chart with parallels, so that their tables stay short.
const MOST_CONFIGURATIONS: usize = 256;

/// The maximum number of rows of those tables, one for each configuration and event.
const MOST_ROWS: usize = 4096;

/// All configurations as lists of their active leaves in document order, sorted. Without parallels, every leaf is a configuration; with
/// parallels, only the reachable configurations are listed.
///
/// # Errors
/// The reason why the configurations are not enumerated.
fn all(chart: &Chart, plan: &Plan) -> Result<Vec<Vec<StateId>>, &'static str> {
    let is_parallel = |kind: &StateKind| matches!(kind, StateKind::Parallel);
    if !chart.states.iter().any(|state| is_parallel(&state.kind)) {
        return Ok(leaves(chart).map(|leaf| vec![leaf]).collect());
    }
    // With guards, the next configuration is not known at compile time.
    if is_guarded(chart) {
        return Err("there are parallel states and guards");
    }
    let occurrences = occurrences(chart);
    let most = MOST_CONFIGURATIONS.min(MOST_ROWS / (chart.events.len() + 1));
    let mut unroll = Unroll::new(plan);
    let mut all = vec![unroll.start().lowest.to_vec()];
    let mut known: BTreeSet<Vec<StateId>> = all.iter().cloned().collect();
    let mut at = 0;
    while let Some(leaves) = all.get(at).cloned() {
        for occurrence in &occurrences {
            let next = unroll.step(&leaves, *occurrence).lowest.to_vec();
            if known.insert(next.clone()) {
                all.push(next);
            }
        }
        at += 1;
        if all.len() > most {
            return Err("the parallel states have many configurations");
        }
    }
    all.sort();
    Ok(all)
}

/// Whether a transition has a guard.
fn is_guarded(chart: &Chart) -> bool {
    chart.transitions.iter().any(|transition| transition.guard.is_some())
}

/// Every occurrence that can trigger a transition of a chart without guards; `None` stands for eventless transitions.
fn occurrences(chart: &Chart) -> Vec<Option<Occurrence>> {
    let mut all: Vec<Option<Occurrence>> = vec![None];
    all.extend((0..chart.events.len()).map(|i| Some(Occurrence::Event(EventId::at(i)))));
    all.extend(others(chart).into_iter().map(Some));
    all
}

/// The occurrences other than events that can trigger a transition: turns, awaited completions, errors.
fn others(chart: &Chart) -> Vec<Occurrence> {
    let mut all = vec![Occurrence::Turn];
    let states = (0..chart.states.len()).map(StateId::at);
    all.extend(states.filter(|state| awaits(chart, *state)).map(Occurrence::StateDone));
    let errors = [ErrorKind::Execution, ErrorKind::Livelock, ErrorKind::StuckDead];
    all.extend(errors.map(Occurrence::Error));
    all
}

/// Whether a transition waits for the completion of the state.
fn awaits(chart: &Chart, state: StateId) -> bool {
    chart.transitions.iter().any(|transition| transition.trigger == Trigger::StateDone(state))
}

/// The leaves of a chart, in document order.
fn leaves(chart: &Chart) -> impl Iterator<Item = StateId> + '_ {
    let rows = chart.states.iter().enumerate();
    rows.filter(|(_, row)| match row.kind {
        StateKind::Atomic | StateKind::Final { .. } => true,
        StateKind::Compound { .. } | StateKind::Parallel | StateKind::History { .. } => false,
    })
    .map(|(i, _)| StateId::at(i))
}

const EVENT: Parameter = (Use::Event, "event", "EventName");

const OCCURRENCE: Parameter = (Use::Occurrence, "occurrence", "store::Occurrence");

const FAULTS: Parameter = (Use::Faults, "faults", "&mut u32");

/// Adds `is_dead_end`, which says whether the current configuration is a dead end.
fn dead_end(cells: &mut Cells<'_>, item: &mut Impl) {
    let ends = cells.dead_ends();
    if !ends.is_empty() {
        let body = format!("matches!(self.configuration, {})", ends.join(" | "));
        item.new_fn("is_dead_end").arg_ref_self().ret("bool").line(body);
    }
}

/// Writes a method that is generic over the sink; the sink gets an underscore if the body does not use it.
fn sinking(name: &str, parameter: Option<Parameter>, body: Fragment, gives: bool) -> Function {
    let mut function = Function::new(name);
    function.generic("S: machine::Sink + ?Sized").arg_mut_self();
    function.attr(if body.has(Use::Sink) { "inline" } else { "inline(always)" });
    for (what, name, ty) in parameter.into_iter().chain([(Use::Sink, "sink", "&mut S")]) {
        function.arg(body.parameter(name, what), ty);
    }
    if gives {
        function.ret("bool");
    }
    function.line(body.text);
    function
}

/// Writes the Rust pattern of an occurrence.
fn pattern(occurrence: Occurrence) -> String {
    // The debug output is already Rust, except for the paths.
    let text = format!("{occurrence:?}");
    let text = text.replace("StateId", "arena::StateId");
    let text = text.replacen("Error(", "Error(machine::ErrorKind::", 1);
    format!("store::Occurrence::{text}")
}
