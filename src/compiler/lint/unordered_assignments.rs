//! Regions that assign one variable although nothing says which is first.
//!
//! The problem: the regions of a parallel run beside each other. If two of them assign the same variable, the value of one is lost, and
//! which one depends on document order or on time. The idea: [`site`] lists every assignment with its cause and its phase of a microstep,
//! and [`order`] decides for each pair in different regions whether they may happen together. For example:
//!
//! ```text
//! parallel work {
//!   state left  { initial a  state a { on go { best = 1 } } }
//!   state right { initial b  state b { on go { best = 2 } } }
//! }
//! ```
//!
//! 1. `best` has two assignments, whose causes are the transitions of `a` and `b`.
//! 2. The causes are in different regions of `work`, and one event, `go`, triggers both.
//! 3. Neither value is computed from `best`, the values differ, and no guards exclude each other: a race.

use super::guards::place;
use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::{implies, is_impossible};
use crate::analysis::facts::counters::{CounterChange, Owner, Writer};
use crate::analysis::facts::reach::{ScopeCondition, domain, entered_by_default, entries};
use crate::analysis::facts::usage::reads;
use crate::rules::UNORDERED_ASSIGNMENTS;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::Span;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, Expr, ExprKind, StateKind, Step, StepKind,
    Transition, Trigger,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &UNORDERED_ASSIGNMENTS, needs_whole: true, run };

/// The maximum number of assignments of one variable that are compared with each other.
const MOST: usize = 64;

/// The maximum number of places that a finding shows besides its own.
const SHOWN: usize = 3;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    for (variable, sites) in sites(chart, facts) {
        let sites = &sites[..sites.len().min(MOST)];
        let mut told: Vec<Span> = Vec::new();
        for (nth, later) in sites.iter().enumerate() {
            let at = span(context, variable, later);
            let mut races = sites[..nth].iter().filter_map(|earlier| {
                let race = race(chart, facts, variable, earlier, later)?;
                Some((span(context, variable, earlier), race))
            });
            let Some((first, race)) = races.next() else { continue };
            if told.contains(&at) {
                continue;
            }
            told.push(at);
            let mut places = vec![first];
            places.extend(races.filter(|(_, other)| other.kind == race.kind).map(|(at, _)| at));
            places.dedup();
            diagnostics.push(finding(context, variable, at, &places, &race));
        }
    }
}

fn finding(
    context: &Context<'_>,
    variable: VarId,
    at: Span,
    places: &[Span],
    race: &Race,
) -> Diagnostic {
    let chart = context.chart;
    let name = &chart.variables[variable.index()].name;
    let [one, two] = race.regions.map(|region| words::state(chart, region));
    let (message, help) = match race.kind {
        RaceKind::Event => (
            format!("{one} and {two} assign `{name}` on the same event: one of the values is lost"),
            "assign it in one of the regions only, or a variable in each",
        ),
        RaceKind::Outcome => (
            format!(
                "{one} and {two} assign `{name}` in any order: the one that comes last decides"
            ),
            "assign a variable in each region, and compare them when both have ended",
        ),
    };
    let found = UNORDERED_ASSIGNMENTS.at(at, message).help(help);
    places
        .iter()
        .take(SHOWN)
        .fold(found, |found, place| found.related(*place, format!("{one} assigns it here")))
}

/// The place of an assignment.
fn span(context: &Context<'_>, variable: VarId, site: &Site<'_>) -> Span {
    match (site.place, site.cause) {
        (Some((owner, nth)), _) => {
            let writer = Writer { owner, nth, change: CounterChange::Other, is_repeated: false };
            place(context, variable, writer)
        }
        (None, Cause::Transition(transition)) => context.map.transition(transition).trigger,
        (None, Cause::Step(step)) => context.map.step(step).name,
    }
}

// The assignments that transitions and steps make.

/// The cause of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// The transition is taken.
    Transition(TransitionId),
    /// The step ends: its answer is stored, or its code has run.
    Step(StepId),
}

impl Cause {
    /// The state that must be active for the cause to occur.
    fn state(self, chart: &Chart) -> StateId {
        match self {
            Self::Transition(id) => chart.transition(id).source,
            Self::Step(id) => chart.steps[id.index()].state,
        }
    }
}

/// The phases of a microstep, in order. Exit blocks run from the last region to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Exit,
    Actions,
    Entry,
}

/// An assignment with its cause and its conditions.
#[derive(Debug)]
struct Site<'c> {
    cause: Cause,
    /// The block that contains it, and its index among the block owner's assignments to the variable; `None` for an answer.
    place: Option<(Owner, usize)>,
    /// The assigned value; `None` for an answer.
    value: Option<&'c Expr>,
    /// The phase of a microstep in which the assignment is made.
    phase: Phase,
    /// The conditions of the `if`s around it, each with the value that it must have.
    under: Vec<(&'c Expr, bool)>,
}

/// Every assignment that a run may make, by variable, in the document order of causes.
fn sites<'c>(chart: &'c Chart, facts: &Facts) -> BTreeMap<VarId, Vec<Site<'c>>> {
    let mut found = SiteCollector(BTreeMap::new());
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) {
            continue;
        }
        let cause = Cause::Transition(id);
        found.block(cause, Owner::Transition(id), [&transition.actions], |_| Some(Phase::Actions));
        for (state, enters) in moved(chart, transition) {
            let row = chart.state(state);
            let entered = row.entry.len() + 1;
            let blocks = row.entry.iter().chain([&row.default_actions]).chain(&row.exit);
            found.block(cause, Owner::State(state), blocks, |nth| match (enters, nth < entered) {
                (true, true) => Some(Phase::Entry),
                (false, false) => Some(Phase::Exit),
                (true, false) | (false, true) => None,
            });
        }
        if let Trigger::Choice(choice) = transition.trigger
            && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
        {
            found.answer(cause, variable);
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !facts.reach.can_enter(step.state) || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        if let StepKind::Code(actions) = &step.kind {
            found.block(Cause::Step(id), Owner::Step(id), [actions], |_| Some(Phase::Actions));
        }
        if let Some(variable) = step.into {
            found.answer(Cause::Step(id), variable);
        }
    }
    found.0
}

/// The states that a transition certainly exits (`false`) and enters (`true`).
fn moved(chart: &Chart, transition: &Transition) -> Vec<(StateId, bool)> {
    let Some(domain) = domain(chart, transition) else { return Vec::new() };
    let below = |state: StateId| chart.ancestors(state).take_while(move |s| *s != domain);
    let mut found: BTreeSet<(StateId, bool)> =
        below(transition.source).map(|s| (s, false)).collect();
    let mut open = entries(chart, transition);
    while let Some(state) = open.pop() {
        found.extend(below(state).map(|s| (s, true)));
        open.extend(entered_by_default(chart, state));
    }
    found.into_iter().collect()
}

struct SiteCollector<'c>(BTreeMap<VarId, Vec<Site<'c>>>);

impl<'c> SiteCollector<'c> {
    fn answer(&mut self, cause: Cause, variable: VarId) {
        let site =
            Site { cause, place: None, value: None, phase: Phase::Actions, under: Vec::new() };
        self.0.entry(variable).or_default().push(site);
    }

    /// Adds the assignments of those blocks of an owner for which `phase` gives a phase by their index.
    fn block(
        &mut self,
        cause: Cause,
        owner: Owner,
        blocks: impl IntoIterator<Item = &'c Vec<Action>>,
        phase: impl Fn(usize) -> Option<Phase>,
    ) {
        let mut seen = BTreeMap::new();
        for (nth, block) in blocks.into_iter().enumerate() {
            let mut each = |variable, value, under: &[_]| {
                let place: &mut usize = seen.entry(variable).or_default();
                if let Some(phase) = phase(nth) {
                    let (place, under) = (Some((owner, *place)), under.to_vec());
                    let site = Site { cause, place, value: Some(value), phase, under };
                    self.0.entry(variable).or_default().push(site);
                }
                // Counted even without a phase: the index is one among all assignments of the owner.
                *place += 1;
            };
            walk(block, &mut Vec::new(), &mut each);
        }
    }
}

/// A function that takes the variable, the value and the conditions of an assignment.
type Take<'t, 'c> = dyn FnMut(VarId, &'c Expr, &[(&'c Expr, bool)]) + 't;

fn walk<'c>(actions: &'c [Action], under: &mut Vec<(&'c Expr, bool)>, each: &mut Take<'_, 'c>) {
    for action in actions {
        match action {
            Action::Assign(variable, value) => each(*variable, value, under),
            Action::If(condition, then, otherwise) => {
                for (block, wanted) in [(then, true), (otherwise, false)] {
                    under.push((condition, wanted));
                    walk(block, under, each);
                    under.pop();
                }
            }
            Action::For(_, _, body) => walk(body, under, each),
            _ => {}
        }
    }
}

/// Whether the expression reads the variable.
fn mentions(chart: &Chart, expr: &Expr, variable: VarId) -> bool {
    let mut read = BTreeSet::new();
    reads(chart, expr, &mut read);
    read.contains(&variable)
}

/// An operation for which the order of updates does not matter: `x = x + a`, then `x = x + b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Update {
    Add,
    Multiply,
    And,
    Or,
    Least,
    Greatest,
}

/// Whether both assignments are kept, whichever is first: both update the old value by the same operation, or both assign the
/// same value. `at_once` says that both read the data of the same event.
fn agree(chart: &Chart, variable: VarId, one: &Site<'_>, two: &Site<'_>, at_once: bool) -> bool {
    let (Some(one), Some(two)) = (one.value, two.value) else { return false };
    let how = update(chart, variable, one);
    if how.is_some() && how == update(chart, variable, two) {
        return true;
    }
    let mut is_own = mentions(chart, one, variable);
    // At different times, such an expression may have different values.
    if !at_once {
        crate::analysis::facts::usage::walk(chart, one, &mut |e| {
            is_own |= matches!(
                e.kind,
                ExprKind::Payload(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Observable(_)
                    | ExprKind::Call(..)
                    | ExprKind::Variable(_)
            );
        });
    }
    one == two && !is_own
}

fn update(chart: &Chart, variable: VarId, value: &Expr) -> Option<Update> {
    let is_old = |e: &Expr| e.kind == ExprKind::Variable(variable);
    let is_other = |e: &Expr| !mentions(chart, e, variable);
    let either = |a: &Expr, b: &Expr, how| {
        ((is_old(a) && is_other(b)) || (is_old(b) && is_other(a))).then_some(how)
    };
    match &value.kind {
        ExprKind::Binary(op, a, b) => match op {
            // `x + a + b` is `(x + a) + b`.
            BinaryOp::Add if update(chart, variable, a) == Some(Update::Add) && is_other(b) => {
                Some(Update::Add)
            }
            BinaryOp::Add => either(a, b, Update::Add),
            BinaryOp::Subtract => (is_old(a) && is_other(b)).then_some(Update::Add),
            BinaryOp::Multiply => either(a, b, Update::Multiply),
            BinaryOp::And => either(a, b, Update::And),
            BinaryOp::Or => either(a, b, Update::Or),
            _ => None,
        },
        ExprKind::Builtin(builtin, parts) => {
            let [a, b] = parts.as_slice() else { return None };
            let how = [
                (Builtin::JsAdd, Update::Add),
                (Builtin::Min, Update::Least),
                (Builtin::Max, Update::Greatest),
            ];
            let (_, how) = how.into_iter().find(|(known, _)| known == builtin)?;
            either(a, b, how)
        }
        _ => None,
    }
}

// Decides whether two assignments of different regions have an order.

/// Two assignments without an order.
#[derive(Debug, Clone, Copy)]
struct Race {
    /// The regions that contain them, in document order.
    regions: [StateId; 2],
    kind: RaceKind,
}

/// The reason why two assignments have no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RaceKind {
    /// One event triggers both.
    Event,
    /// The assignments belong to steps that are open at the same time.
    Outcome,
}

/// The race of two assignments of a variable; `None` if they have an order, exclude each other, or agree.
fn race(
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
        is_impossible(chart, &goals)
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
        step.is_walked()
            && matches!(&step.kind, StepKind::Llm | StepKind::Call(..) | StepKind::Ask { .. })
    };
    let earlier = (0..step.index()).map(StepId::at).filter(inside);
    earlier.filter(|id| waits(&chart.steps[id.index()])).collect()
}

/// Whether the steps may be open at the same time. Steps on different events are not, because the host sends one event after the other.
fn together(chart: &Chart, one: StepId, two: StepId) -> bool {
    let (one, two) = (&chart.steps[one.index()], &chart.steps[two.index()]);
    match (one.is_on_event(), two.is_on_event()) {
        (false, false) => true,
        (true, true) => one.events().iter().any(|event| two.events().contains(event)),
        (true, false) | (false, true) => false,
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
