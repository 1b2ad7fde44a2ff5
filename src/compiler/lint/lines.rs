//! Findings about transitions that do nothing, are never taken, or hide each other.
//!
//! The problem: of several lines for one event, the first whose condition holds is taken, and the others do not show that they are dead.
//! The idea: each lint compares lines with the same trigger. In the order of this file:
//!
//! - `DEAD_LINE`: the exploration has tried every run, and none takes the line.
//! - `SHADOWED_LINE`: lines before it, or those of inner states, always come first (`cover::shadows`).
//! - `IDLE_LINE`: the line has no target and no actions, and nothing would change without it (`matters`). Often a `when` after it was meant
//!   as `if`.
//! - `OVERLAP`: the conditions of two lines may hold together, and neither implies the other, so only their order decides.
//! - `GAP`: the conditions cover all cases but one (`cover::gaps`).
//! - `WILDCARD_INTO_ITSELF`, `WILDCARD_WITHOUT_EFFECT`: a `from` applies in its own target, or nowhere.
//! - `UNUSED_BINDING`: the line names data of its event and uses none.
//!
//! One line of the text may be several transitions, as of `each after`. Such a line is reported once. For example:
//!
//! ```text
//! on mail(kind) if kind == "bug" -> bugs
//! on mail(kind) if kind == "bug" and n > 3 -> many     shadowed: whenever it holds, so does the line above
//! on mail(kind) if n > 5 -> full                       overlaps the first one, for a `bug` with n = 6
//! on ping                                              idle
//! ```

use super::{Context, Lint, guards, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::{Verdict, decide, implies};
use crate::analysis::facts::cover::{Key, gaps, keys, shadows};
use crate::analysis::facts::deadline::restarts;
use crate::analysis::facts::reach::{
    ScopeCondition, exclusive, is_end, is_history, is_leaf, scope,
};
use crate::analysis::facts::usage::{reads, takes_payload};
use crate::explore::witness::json;
use crate::lower::{Follower, TransitionSpans};
use crate::notation::{self, expression_in};
use crate::rules::{self, used_up_budget};
use crate::syntax::diagnostic::{Broken, Diagnostic};
use crate::syntax::source::Span;
use chartc_core::arena::{EventId, StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Chart, Expr, Failure, Otherwise, Scope, Step, StepKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static DEAD_LINE: Lint =
    Lint { rule: &rules::DEAD_LINE, needs_whole: true, run: find_dead_line };

/// The maximum number of values of a variable that are shown.
const SHOWN: usize = 5;

fn find_dead_line(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let Some(seen) = &context.runs.seen else { return };
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (Some(guard), false) = (&transition.guard, seen.is_taken(id)) else { continue };
        let span = map.transitions[i].whole;
        // One line may define several transitions; one of the others may be taken.
        let is_alone = map.transitions.iter().filter(|other| other.whole == span).count() == 1;
        let place = facts.scopes.transition(id);
        let entered: Vec<StateId> =
            place.within.iter().copied().filter(|s| context.enters(*s)).collect();
        // If the source or the target is never entered, another rule reports that.
        let leads_nowhere = transition.targets.iter().any(|target| !context.enters(target.state));
        if !is_alone
            || !facts.reach.can_take(id)
            || entered.is_empty()
            || leads_nowhere
            || matches!(transition.trigger, Trigger::Error(_) | Trigger::LimitWarn(_))
        {
            continue;
        }
        let mut variables = BTreeSet::new();
        reads(chart, guard, &mut variables);
        let payload = super::super::notation::payload(transition);
        let text = words::short(&expression_in(chart, guard, &payload));
        let there = words::states(chart, &entered);
        let mut one = rules::DEAD_LINE.at(
            map.transitions[i].guard.unwrap_or(map.transitions[i].trigger),
            format!("no run takes this line: in {there}, `{text}` does not hold when the line could be taken"),
        );
        let values: Vec<String> =
            variables.into_iter().filter_map(|id| told_of(context, &entered, id)).collect();
        if !values.is_empty() {
            one = one.label(values.join("; "));
        }
        found.push(
            one.help("every run was tried: correct the condition, or remove the line").about(span),
        );
    }
    diagnostics.append(&mut found);
}

/// Describes the values of a variable in these states in the explored runs.
fn told_of(context: &Context<'_>, states: &[StateId], id: VarId) -> Option<String> {
    let Context { chart, .. } = context;
    let row = &chart.variables[id.index()];
    let seen = context.runs.seen.as_ref()?;
    if !matches!(row.kind, VariableKind::Var { .. }) {
        return None;
    }
    let mut values: Vec<&Value> = Vec::new();
    for value in states.iter().flat_map(|state| seen.values(chart, *state, id)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| json(value)).collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    (!shown.is_empty()).then(|| format!("`{}` is {}{more} there", row.name, shown.join(" or ")))
}

// Transitions that are never taken because others have priority.

pub(super) static SHADOWED_LINE: Lint =
    Lint { rule: &rules::SHADOWED_LINE, needs_whole: false, run: find_shadowed_line };

fn find_shadowed_line(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let (shadows, open) = shadows(chart, facts);
    if let Some(first) = open.first() {
        diagnostics.push(used_up_budget::uncompared(map.transition(*first).trigger, open.len()));
    }
    let shadows = shadows.into_iter().map(|shadow| (shadow.transition, shadow));
    for (whole, all) in context.whole_lines(shadows, |_| true) {
        let (_, shadow) = &all[0];
        // C0311 reports a guard that always holds, together with the transition that it shadows.
        if matches!(&shadow.by[..], [by] if guards::is_told(context, *by)) {
            continue;
        }
        let name = words::transition(chart, shadow.transition);
        let (why, help) = if shadow.inner {
            (
                "a line of every state below always comes first",
                "an inner state's line is tried before its parent's: guard the inner lines, or remove this one",
            )
        } else if shadow.by.len() > 1 {
            (
                "one of the lines above it always comes first",
                "the lines above cover every case: remove this one, or narrow one of them",
            )
        } else {
            (
                "a line above it always comes first",
                "lines are tried from top to bottom, and the first that can be taken wins: put the narrower line first, or remove one of them",
            )
        };
        let mut found = rules::SHADOWED_LINE
            .at(map.transition(shadow.transition).trigger, format!("{name} is never taken: {why}"))
            .help(help);
        for by in shadow.by.iter().take(3) {
            found = found.related(map.transition(*by).whole, "comes first");
        }
        found = found.breaks(Broken::Construct(whole));
        for by in &shadow.by {
            found = found.because(map.transition(*by).whole);
        }
        diagnostics.push(found);
    }
    find_useless_defer(context, diagnostics);
}

/// Reports events that a state defers although a line of its own always takes them.
fn find_useless_defer(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (state, row) in chart.state_ids().zip(&chart.states) {
        let always_takes = |event: EventId| {
            row.transitions.iter().copied().find(|id| {
                let transition = chart.transition(*id);
                let takes = match &transition.trigger {
                    Trigger::Event(events) => events.contains(&event),
                    Trigger::AnyEvent | Trigger::AnyOccurrence => true,
                    _ => false,
                };
                let whole = *facts.scopes.transition(*id) == ScopeCondition::in_state(state);
                takes && whole && transition.guard.is_none()
            })
        };
        for (event, span) in &map.state(state).defers {
            let Some(by) = always_takes(*event) else { continue };
            let name = notation::path(&chart.events[event.index()].name);
            let message = format!(
                "`{name}` is never deferred here: a line of the same state always takes it"
            );
            let found = rules::SHADOWED_LINE
                .at(*span, message)
                .help("a state's own lines come before its `defer`: guard the line, or do not defer the event")
                .related(map.transition(by).whole, "comes first");
            diagnostics.push(found);
        }
    }
}

// Transitions that do nothing, and guards that were read as transitions of their own.

// Runs on incomplete charts, too: a guard that was read as a transition may be the reason for the errors.
pub(super) static IDLE_LINE: Lint =
    Lint { rule: &rules::IDLE_LINE, needs_whole: false, run: find_idle_line };

/// The position of the following transition in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// On the same line of the source, or indented further, like a continuation.
    GoesOn,
    /// On the next line.
    Next,
}

fn find_idle_line(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // In agents, such transitions are normal; in SCXML documents, they are deliberate.
    let name = &context.sources.get(map.file).name;
    if [".yaml", ".yml", ".scxml"].iter().any(|end| name.ends_with(end)) {
        return;
    }
    let mut told = BTreeSet::new();
    for Idle { transition, hides } in idle(chart, facts) {
        let spans = map.transition(transition);
        if !told.insert(spans.whole) {
            continue;
        }
        let name = words::transition(chart, transition);
        let next = spans.next.and_then(|next| Some((next, behind(context, spans, next)?)));
        let is_option = matches!(chart.transition(transition).trigger, Trigger::Choice(_));
        let open = spans.guard.is_none();
        match next {
            Some((next, Behind::GoesOn)) if next.word == "when" && open => {
                let found = condition(&name, is_option, spans, next);
                diagnostics.push(with_consequences(context, transition, next, found));
            }
            _ if hides || !context.all_read => {}
            Some((next, Behind::Next)) if next.is_condition && open => {
                let help = "lead it to a state or give it actions; if the `when` after it is meant as its condition, write `if`";
                diagnostics
                    .push(nothing(&name, spans.trigger, help).replace(next.span, "if", false));
            }
            Some((next, Behind::GoesOn)) => {
                let help = "lead it to a state, `-> state`, give it actions, or remove it";
                let found = nothing(&name, spans.trigger, help);
                let what = format!("`{}` begins a line of its own", next.word);
                diagnostics.push(found.related(next.span, what));
            }
            Some((_, Behind::Next)) | None => {
                let help = "lead it to a state, `-> state`, give it actions, or remove it";
                diagnostics.push(nothing(&name, spans.trigger, help));
            }
        }
    }
}

/// The finding for a transition without target and actions.
fn nothing(name: &str, place: Span, help: &str) -> Diagnostic {
    rules::IDLE_LINE
        .at(place, format!("{name} does nothing: it has no target and no actions"))
        .help(help)
}

/// The finding for a guard that was written with `when` instead of `if`.
fn condition(name: &str, is_option: bool, spans: &TransitionSpans, next: Follower) -> Diagnostic {
    let what = if is_option { "is offered without it" } else { "does nothing" };
    let message =
        format!("a condition is `if`: `when` begins a line of its own, and {name} {what}");
    let found =
        rules::IDLE_LINE.at(next.span, message).help("write `if`").related(spans.trigger, what);
    // `if` can only replace a `when` whose condition ends where a guard would end.
    if next.is_condition { found.replace(next.span, "if", true) } else { found }
}

/// Adds the consequences of the misread guard, so that they are not reported separately: unknown names of the event's data, and transitions
/// that the unguarded one hides.
fn with_consequences(
    context: &Context<'_>,
    transition: TransitionId,
    next: Follower,
    mut found: Diagnostic,
) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let within = |outer: Span, inner: Span| {
        outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
    };
    let Some(when) = map.transitions.iter().find(|spans| within(spans.whole, next.span)) else {
        return found;
    };
    for name in notation::payload(chart.transition(transition)) {
        found = found.breaks(Broken::Name(name.to_owned(), Some(when.whole)));
    }
    found.breaks(Broken::Construct(map.transition(transition).whole))
}

/// The position of the following transition; `None` if there is more than white space between the two.
fn behind(context: &Context<'_>, spans: &TransitionSpans, next: Follower) -> Option<Behind> {
    let source = context.sources.get(spans.whole.file);
    let between = Span { start: spans.whole.end, end: next.span.start, ..spans.whole };
    if next.span.file != spans.whole.file || !source.slice(between).trim().is_empty() {
        return None;
    }
    let end = source.position(spans.whole.end);
    let (from, to) = (source.position(spans.whole.start), source.position(next.span.start));
    // The text before the transition on its line.
    let head = Span {
        start: spans.whole.start + 1 - from.column as u32,
        end: spans.whole.start,
        ..between
    };
    let leads = source.slice(head).trim().is_empty();
    Some(if end.line == to.line || leads && to.column > from.column {
        Behind::GoesOn
    } else {
        Behind::Next
    })
}

/// A transition without targets and actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Idle {
    transition: TransitionId,
    /// Whether the transition has an effect nevertheless: without it, another transition, a question or a policy would apply, or it is an
    /// option.
    hides: bool,
}

/// Finds every transition without targets and actions, in document order.
fn idle(chart: &Chart, facts: &Facts) -> Vec<Idle> {
    let transitions = chart.transitions.iter().enumerate();
    let empty = transitions
        .filter(|(_, transition)| transition.targets.is_empty() && transition.actions.is_empty());
    empty
        .map(|(i, _)| TransitionId::at(i))
        .map(|transition| Idle { transition, hides: matters(chart, facts, transition) })
        .collect()
}

/// Whether the chart would behave differently without the transition, which has no targets and no actions.
fn matters(chart: &Chart, facts: &Facts, id: TransitionId) -> bool {
    let transition = chart.transition(id);
    let by_itself = match &transition.trigger {
        // An option is still offered; a timeout cancels its call; an `else` replaces the failure.
        Trigger::Choice(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_) | Trigger::When => {
            true
        }
        Trigger::StepError(step) | Trigger::StepDoubt(step) => {
            let row = &chart.steps[step.index()];
            match &row.kind {
                StepKind::Ask { otherwise, .. } => *otherwise != Otherwise::Stay,
                _ => row.failure.then != Failure::Skip,
            }
        }
        // Without a handler, the run ends at the limit.
        Trigger::Error(pattern) => pattern == "*" || pattern.starts_with("limit"),
        // Without the transition, the event would be deferred, forwarded to a child chart, or start a step.
        Trigger::Event(events) => events.iter().any(|event| {
            facts.passed.contains(event)
                || chart.states.iter().any(|state| state.defers.contains(event))
                || beside(chart, transition.source).any(|step| step.events().contains(event))
        }),
        Trigger::AnyEvent | Trigger::AnyOccurrence => {
            !facts.passed.is_empty()
                || chart.defers()
                || beside(chart, transition.source).any(|step| is_ask(step) || step.is_on_event())
        }
        Trigger::Turn => {
            beside(chart, transition.source).any(|step| is_ask(step) && step.is_walked())
        }
        _ => false,
    };
    by_itself || others(chart, id).any(|other| share(transition, chart.transition(other)))
}

/// The other transitions of the same source and those of its ancestors, which have lower priority.
fn others(chart: &Chart, id: TransitionId) -> impl Iterator<Item = TransitionId> + '_ {
    let source = chart.transition(id).source;
    let above = chart.ancestors(source).filter(move |state| *state != source);
    let own = chart.state(source).transitions.iter().filter(move |other| **other != id);
    own.chain(above.flat_map(|state| &chart.state(state).transitions)).copied()
}

/// Whether both transitions may be enabled at the same time.
fn share(transition: &Transition, other: &Transition) -> bool {
    match (&transition.trigger, &other.trigger) {
        (Trigger::After(_) | Trigger::AfterTurns(_), _)
        | (_, Trigger::After(_) | Trigger::AfterTurns(_)) => false,
        (Trigger::AnyOccurrence, _) | (_, Trigger::AnyOccurrence) => true,
        (Trigger::AnyEvent, Trigger::Event(_) | Trigger::AnyEvent)
        | (Trigger::Event(_), Trigger::AnyEvent)
        | (Trigger::Error(_), Trigger::Error(_))
        | (Trigger::LimitWarn(_), Trigger::LimitWarn(_)) => true,
        _ => {
            let own = keys(transition);
            keys(other).iter().any(|key| *key != Key::When && own.contains(key))
        }
    }
}

/// The steps that may be under way while the state is active.
fn beside(chart: &Chart, state: StateId) -> impl Iterator<Item = &Step> {
    chart.steps.iter().filter(move |step| !exclusive(chart, step.state, state))
}

const fn is_ask(step: &Step) -> bool {
    matches!(step.kind, StepKind::Ask { .. })
}

// Transitions whose guards overlap, so that only document order decides.

pub(super) static OVERLAP: Lint =
    Lint { rule: &rules::OVERLAP, needs_whole: false, run: find_overlap };

fn find_overlap(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for overlap in overlaps(chart, facts) {
        let (line, case) = (
            words::transition(chart, overlap.then),
            words::case(chart, overlap.then, &overlap.case),
        );
        let spans = map.transition(overlap.then);
        let message = format!(
            "where {case}, both this line and an earlier one could be taken: their order decides"
        );
        diagnostics.push(
            rules::OVERLAP.at(spans.guard.unwrap_or(spans.trigger), message)
                .related(map.transition(overlap.first).whole, "is taken then")
                .help(format!(
                    "if that is meant, say so: `// chartc: allow(C0315) reason`; else narrow the condition of {line}"
                )),
        );
    }
}

/// The maximum number of transitions with the same trigger that are compared with each other.
const MOST: usize = 12;

/// Two transitions between which only document order decides.
#[derive(Debug, Clone, PartialEq)]
struct Overlap {
    /// The transition that is taken.
    first: TransitionId,
    /// The transition that could be taken, too.
    then: TransitionId,
    /// Values for which both guards hold.
    case: Vec<(Expr, Value)>,
}

/// Finds, for each transition, the first earlier one that it overlaps; in document order. If one guard implies the other, that is no
/// overlap: the narrower transition is first on purpose, or the later one is shadowed. Transitions with the same effect do not count
/// either.
fn overlaps(chart: &Chart, facts: &Facts) -> Vec<Overlap> {
    let mut found: BTreeMap<TransitionId, Overlap> = BTreeMap::new();
    for state in chart.state_ids().filter(|s| facts.reach.can_enter(*s)) {
        let mut moments: BTreeMap<Key, Vec<TransitionId>> = BTreeMap::new();
        for id in &chart.state(state).transitions {
            let transition = chart.transition(*id);
            // An unguarded transition shadows all later ones, which another rule reports.
            if transition.guard.is_none() || !facts.reach.can_take(*id) {
                continue;
            }
            for key in keys(transition).into_iter().filter(is_shared) {
                let earlier = moments.entry(key).or_default();
                let hit = earlier.iter().find_map(|first| overlap(chart, *first, *id));
                if let Some(hit) = hit {
                    found.entry(*id).or_insert(hit);
                }
                if earlier.len() < MOST {
                    earlier.push(*id);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Whether transitions with this key are candidates at the same time.
fn is_shared(key: &Key) -> bool {
    matches!(key, Key::Event(_) | Key::Turn | Key::StateDone(_) | Key::Step(..))
}

fn overlap(chart: &Chart, first: TransitionId, then: TransitionId) -> Option<Overlap> {
    let (a, b) = (chart.transition(first), chart.transition(then));
    if a.scope != b.scope || same(a, b) {
        return None;
    }
    let (one, other) = (a.guard.as_ref()?, b.guard.as_ref()?);
    let Verdict::Example(case) = decide(chart, &[(one, true), (other, true)]) else { return None };
    // Only examples count, so that cases that could not be decided are not reported.
    let apart = |given: &Expr, then: &Expr| {
        matches!(decide(chart, &[(given, true), (then, false)]), Verdict::Example(_))
    };
    let narrower = implies(chart, Some(one), Some(other)) || implies(chart, Some(other), Some(one));
    (!narrower && apart(one, other) && apart(other, one)).then_some(Overlap { first, then, case })
}

/// Whether both transitions have the same effect.
fn same(a: &Transition, b: &Transition) -> bool {
    a.targets == b.targets && a.kind == b.kind && a.actions == b.actions
}

// Transitions whose guards leave one case uncovered.

pub(super) static GAP: Lint = Lint { rule: &rules::GAP, needs_whole: true, run: find_gap };

fn find_gap(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for gap in gaps(chart, facts) {
        let (Some(first), Some(last)) = (gap.transitions.first(), gap.transitions.last()) else {
            continue;
        };
        // The transition that names most of the event's fields describes the case best.
        let bound = |transition: &TransitionId| chart.transition(*transition).bound.len();
        let named = gap.transitions.iter().copied().max_by_key(bound).unwrap_or(*last);
        let case = words::case(chart, named, &gap.case);
        let what = match chart.transition(*first).trigger.step() {
            Some(step) => format!("no `done` line of {} holds", words::step(chart, step)),
            None => format!("no {} line holds", words::transition(chart, *first)),
        };
        let message = format!("{what} where {case}: nothing happens then");
        let spans = map.transition(*last);
        // The uncovered values come from the step or the event.
        let place = match chart.transition(*first).trigger.step() {
            Some(step) if gap.is_given() => map.step(step).name,
            None if gap.is_given() => map.transition(*first).trigger,
            Some(_) | None => spans.guard.unwrap_or(spans.trigger),
        };
        let mut found = rules::GAP
            .at(place, message)
            .help("add a line for that case, or leave the last condition out");
        let others = if gap.is_given() {
            &gap.transitions[..]
        } else {
            &gap.transitions[..gap.transitions.len() - 1]
        };
        for transition in others.iter().rev().take(3) {
            found = found.related(map.transition(*transition).whole, "takes other cases");
        }
        diagnostics.push(found);
    }
}

// `from` transitions that apply in their own target.

pub(super) static WILDCARD_INTO_ITSELF: Lint =
    Lint { rule: &rules::WILDCARD_INTO_ITSELF, needs_whole: false, run: find_wildcard_into_itself };

fn find_wildcard_into_itself(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for restart in restarts(chart, facts) {
        let transition = chart.transition(restart.transition);
        let spans = map.transition(restart.transition);
        let state = words::state(chart, restart.state);
        let name = words::transition(chart, restart.transition);
        let help = if transition.scope.as_ref().is_some_and(|s| s.wildcard) {
            format!("write `except {}`", chart.state(restart.state).path)
        } else {
            format!(
                "leave {state} out of `from`; if it is to start over, say so in a line of its own"
            )
        };
        let back = transition.targets.iter().any(|t| is_history(chart, t.state));
        let what = if back { "to where it was" } else { "from the start" };
        let message = format!("in {state} itself, {name} leaves it and enters it again, {what}");
        let target = spans.targets.first().copied().unwrap_or(spans.trigger);
        let mut found = rules::WILDCARD_INTO_ITSELF.at(target, message).help(help);
        if let Some(from) = spans.from {
            found = found.related(from, format!("{state} is one of these"));
        }
        diagnostics.push(found);
    }
}

// `from` transitions that apply in no state, and `on *` in charts without events.

pub(super) static WILDCARD_WITHOUT_EFFECT: Lint = Lint {
    rule: &rules::WILDCARD_WITHOUT_EFFECT,
    needs_whole: true,
    run: find_wildcard_without_effect,
};

fn find_wildcard_without_effect(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (row, span) in chart.permissions.iter().zip(&map.permissions) {
        if let Some(end) = row.from.filter(|s| is_end(chart, *s)) {
            let message =
                format!("{} ends the run: nothing moves from it", words::state(chart, end));
            let found = rules::WILDCARD_WITHOUT_EFFECT
                .at(*span, message)
                .related(map.state(end).name, "it is final");
            diagnostics.push(found.help("remove this line: it permits nothing"));
        }
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        let spans = map.transition(TransitionId::at(i));
        let name = || words::transition(chart, TransitionId::at(i));
        if transition.trigger == Trigger::AnyEvent && chart.events.is_empty() {
            let message = format!("{} is never taken: the chart declares no event", name());
            diagnostics.push(
                rules::WILDCARD_WITHOUT_EFFECT
                    .at(spans.trigger, message)
                    .help("declare the events that the host sends: `event name`"),
            );
        }
        let Some(from) = &transition.scope else { continue };
        let place = spans.from.unwrap_or(spans.trigger);
        if let Some(end) = from.any_of.iter().find(|s| is_end(chart, **s)) {
            let message = format!("{} ends the run: no line leaves it", words::state(chart, *end));
            let found = rules::WILDCARD_WITHOUT_EFFECT
                .at(place, message)
                .related(map.state(*end).name, "it is final");
            diagnostics.push(found.help("leave it out of `from`"));
            continue;
        }
        let mut holds = scope(chart, transition);
        holds.within.retain(|s| facts.reach.can_enter(*s));
        if facts.reach.can_enter(transition.source) && !has_leaf(context, &holds) {
            let found = rules::WILDCARD_WITHOUT_EFFECT
                .at(place, format!("this `from` applies to no state: {}", reason(context, from)));
            let found = found.label(format!("{} can never be taken", name()));
            diagnostics
                .push(found.help("name a state that can be active here, or remove the line"));
        }
    }
}

/// Whether the scope covers a reachable leaf.
fn has_leaf(context: &Context<'_>, place: &ScopeCondition) -> bool {
    let Context { chart, facts, .. } = context;
    let below = |s: &StateId| (s.0..chart.state(*s).end.0).map(StateId);
    let mut leaves = place.within.iter().flat_map(below);
    leaves.any(|l| facts.reach.can_enter(l) && is_leaf(chart, l) && !place.excludes_leaf(chart, l))
}

fn reason(context: &Context<'_>, from: &Scope) -> String {
    let Context { chart, facts, .. } = context;
    let closed: Vec<_> =
        from.any_of.iter().copied().filter(|s| !facts.reach.can_enter(*s)).collect();
    if !closed.is_empty() {
        return format!("{} can never be entered", words::states(chart, &closed));
    }
    if from.wildcard {
        return format!(
            "every state is one of the excepted or of the targets, {}",
            words::states(chart, &from.none_of)
        );
    }
    "its states are not inside the state to which the line belongs".into()
}

// Transitions that bind the data of their event and use none of it.

pub(super) static UNUSED_BINDING: Lint =
    Lint { rule: &rules::UNUSED_BINDING, needs_whole: true, run: find_unused_binding };

fn find_unused_binding(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    // One line of source may define several transitions.
    let mut used = BTreeSet::new();
    let mut unused = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        // The parameters of an option are filled by the model and need not be used.
        if transition.bound.is_empty() || matches!(transition.trigger, Trigger::Choice(_)) {
            continue;
        }
        if takes_payload(transition) {
            used.insert(map.transitions[i].whole);
        } else {
            unused.push(TransitionId::at(i));
        }
    }
    let mut told = used;
    for id in unused {
        let spans = map.transition(id);
        if !told.insert(spans.whole) {
            continue;
        }
        let names = words::names(chart.transition(id).bound.iter().map(String::as_str));
        let message = format!("nothing uses {names}, which this line names");
        diagnostics.push(rules::UNUSED_BINDING.at(spans.trigger, message).help(
            "use it in the condition, the target or the actions of the line, or leave the name out",
        ));
    }
}
