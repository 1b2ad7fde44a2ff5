//! Findings about events: sent to nobody, waited for in vain, or sent in a circle.
//!
//! The problem: an event that nothing handles is dropped without an error, so the mistake shows as something that does not happen. The
//! idea: compare who sends an event with who handles it, in this chart and in those that it runs (`Context::family`). In the order of this
//! file:
//!
//! - `UNHANDLED_EVENT`: nothing handles the event. `UNSENT_EVENT`: a chart that others run waits for events that nothing sends.
//! - `UNHEARD_MESSAGE`, `MISDIRECTED_EVENT`, `ABSENT_CHILD`: the event goes to a chart that does not handle it, that is not meant, or that
//!   does not run.
//! - `EVENT_CYCLE`: transitions send each other's events for ever.
//! - `PERMUTED_NAMES`: a line names the data of an event in another order.
//!
//! Whether a receiver runs depends on the states that are active when the event arrives: after the macrostep in which it is sent. `sender`
//! finds the block that sends, and `after` determines what the macrostep does to a state; it says `After::Perhaps` unless it is certain.
//! For example:
//!
//! ```text
//! state idle { on go -> work { send task to helper } }
//! state work { run helper Helper }
//! ```
//!
//! `on go` enters `work`, and then `task` arrives. But `helper` starts in the walk of a turn, so it does not run yet. With
//! `run helper Helper at entry` it does.

use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::deadline::{Handler, Unhandled, unhandled};
use crate::analysis::facts::endless::{is_outside_parallel, landing};
use crate::analysis::facts::reach::{
    ScopeCondition, domain, entered_by_default, entries, exclusive, is_history, is_leaf, meet,
};
use crate::lower::PostSpans;
use crate::rules;
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::Span;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{
    Action, BinaryOp, Chart, Expr, ExprKind, Field, Forward, Limits, Receiver, Starts, StateKind,
    Step, StepKind, Transition, Trigger, Type,
};
use chartc_core::tables::CATCH_ALL;
use std::collections::BTreeSet;

pub(super) static UNHANDLED_EVENT: Lint =
    Lint { rule: &rules::UNHANDLED_EVENT, needs_whole: true, run: find_unhandled_event };

fn find_unhandled_event(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, family, .. } = context;
    for one in unhandled(chart, facts) {
        let name = &chart.events[one.event.index()].name;
        // An event may be declared only to be sent to other charts.
        let posted = |post: &PostSpans| post.event == one.event && post.to != Receiver::Own;
        let is_told = family.place(map).is_some_and(|own| family.is_told(own, name));
        let elsewhere =
            is_told || facts.passed.contains(&one.event) || map.posts.iter().any(posted);
        if name == CATCH_ALL || elsewhere {
            continue;
        }
        let declared = map.events[one.event.index()];
        if !one.dead.is_empty() {
            diagnostics.push(dead(context, &one));
            continue;
        }
        let mut own: Vec<Span> =
            map.posts.iter().filter(|post| post.event == one.event).map(|post| post.span).collect();
        own.sort_unstable();
        own.dedup();
        let mut own = own.into_iter();
        let found = match own.next() {
            Some(first) => {
                let found = rules::UNHANDLED_EVENT
                    .at(first, format!("nothing handles `{name}`, which is sent here"))
                    .help(format!("add a line `on {name}` where it may come, or do not send it"));
                if declared == first { found } else { found.related(declared, "declared here") }
            }
            None => rules::UNHANDLED_EVENT.at(declared, format!("nothing handles `{name}`")).help(
                format!("add a line `on {name}` where it may come, or remove the declaration"),
            ),
        };
        diagnostics.push(own.take(2).fold(found, |found, at| found.related(at, "sent here, too")));
    }
}

/// The finding for an event that is handled only in states that are never active.
fn dead(context: &Context<'_>, one: &Unhandled) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = &chart.events[one.event.index()].name;
    let message = format!("`{name}` is handled only where the run never is");
    let mut found = rules::UNHANDLED_EVENT
        .at(map.events[one.event.index()], message)
        .help("lead the run there, or handle the event in a state that can be active");
    for handler in one.dead.iter().take(3) {
        let (span, state) = match handler {
            Handler::Transition(transition) => {
                (map.transition(*transition).whole, chart.transition(*transition).source)
            }
            Handler::Step(step) => (map.step(*step).name, chart.steps[step.index()].state),
        };
        found = found.related(span, format!("{} is never active", words::state(chart, state)));
    }
    // Another rule reports that the states are unreachable.
    found.severity = Severity::Note;
    found
}

// Charts that wait for events that nothing sends to them.

pub(super) static UNSENT_EVENT: Lint =
    Lint { rule: &rules::UNSENT_EVENT, needs_whole: true, run: find_unsent_event };

fn find_unsent_event(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, family, .. } = context;
    // A chart that nothing runs gets its events from the host.
    let Some(own) = family.place(map).filter(|own| !family.member(*own).parents.is_empty()) else {
        return;
    };
    let given: Vec<bool> = chart.events.iter().map(|e| family.can_receive(own, &e.name)).collect();
    let mut told = BTreeSet::new();
    for leaf in facts.reach.leaves(chart).filter(|leaf| is_outside_parallel(chart, *leaf)) {
        if !matches!(chart.state(leaf).kind, StateKind::Atomic) || !context.enters(leaf) {
            continue;
        }
        let Some(waits) = waits(context, leaf, &given) else { continue };
        let Some((transition, first)) = waits.first() else { continue };
        if !told.insert(*transition) {
            continue;
        }
        let name = |event: &EventId| chart.events[event.index()].name.as_str();
        let mut names: Vec<&str> = waits.iter().map(|(_, event)| name(event)).collect();
        names.dedup();
        let names = words::names(names).replace("` and `", "` or `");
        let state = words::state(chart, leaf);
        let message = format!(
            "nothing sends {names} to `{}`: it waits in {state} until it is stopped",
            chart.name
        );
        let help = cure(context, own, name(first));
        let mut found =
            rules::UNSENT_EVENT.at(map.transition(*transition).trigger, message).help(help);
        for (parent, step) in family.member(own).parents.iter().take(3) {
            let parent = family.member(*parent);
            let run = format!("`{}` runs it here", parent.chart.name);
            found = found.related(parent.map.step(*step).name, run);
        }
        diagnostics.push(found);
    }
}

/// The transitions for events, if they are all that may happen in the leaf and nothing sends these events; `None` otherwise.
fn waits(
    context: &Context<'_>,
    leaf: StateId,
    given: &[bool],
) -> Option<Vec<(TransitionId, EventId)>> {
    let Context { chart, facts, .. } = context;
    let is_limited = chart.ancestors(leaf).any(|s| chart.state(s).limits != Limits::default());
    let acts = |(i, row): (usize, &Step)| {
        facts.scopes.step(StepId::at(i)).may_hold_in(chart, leaf)
            && (!row.is_on_event() || row.events().iter().any(|event| given[event.index()]))
    };
    if is_limited || chart.steps.iter().enumerate().any(acts) {
        return None;
    }
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) || !facts.scopes.transition(id).may_hold_in(chart, leaf) {
            continue;
        }
        match &transition.trigger {
            Trigger::Event(events) => found.extend(events.iter().map(|event| (id, *event))),
            Trigger::AnyEvent => found.extend((0..given.len()).map(|n| (id, EventId::at(n)))),
            Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::After(_)
            | Trigger::AfterTurns(_) => return None,
            // None of these happens here without a step, a limit or an event.
            _ => {}
        }
    }
    (!found.iter().any(|(_, event)| given[event.index()])).then_some(found)
}

/// Advice on how the first parent can give the event to the chart.
fn cure(context: &Context<'_>, own: usize, event: &str) -> String {
    let family = context.family;
    let Some((parent, step)) = family.member(own).parents.first() else { return String::new() };
    let chart = family.member(*parent).chart;
    let row = &chart.steps[step.index()];
    let send = format!("send it in `{}`, `send {event} to {}`", chart.name, row.name);
    let StepKind::Run(run) = &row.kind else { return send };
    match run.forward {
        Forward::Nothing => format!("{send}, or leave out `events none`"),
        Forward::Rest if family.declares(*parent, event) => {
            format!("{send}, or let it have all events of the host: `events all`")
        }
        Forward::All | Forward::Rest => {
            format!("{send}, or declare it there too: then it gets the host's")
        }
    }
}

// Messages that the receiving chart never handles.

pub(super) static UNHEARD_MESSAGE: Lint =
    Lint { rule: &rules::UNHEARD_MESSAGE, needs_whole: true, run: find_unheard_message };

fn find_unheard_message(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, family, .. } = context;
    let Some(own) = family.place(map) else { return };
    for post in &map.posts {
        let event = &chart.events[post.event.index()].name;
        let receivers = family.receivers(own, post.to);
        if !family.is_unheard(&receivers, event) {
            continue;
        }
        let names = receivers.iter().map(|nth| family.member(*nth).chart.name.as_str());
        let names = words::names(names);
        let mut found = rules::UNHEARD_MESSAGE
            .at(post.span, format!("nothing in {names} handles `{event}`, which is sent there"))
            .help(format!("add a line `on {event}` to {names}, or do not send it"));
        for nth in receivers {
            let to = family.member(nth);
            let declared = to.chart.events.iter().position(|known| known.name == *event);
            if let Some(i) = declared {
                found = found.related(to.map.events[i], "declared here, and not handled");
            }
        }
        diagnostics.push(found);
    }
}

// Events that a chart sends to itself, although only a chart that it runs handles them.

pub(super) static MISDIRECTED_EVENT: Lint =
    Lint { rule: &rules::MISDIRECTED_EVENT, needs_whole: true, run: find_misdirected_event };

fn find_misdirected_event(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, family, .. } = context;
    let Some(own) = family.place(map) else { return };
    for post in map.posts.iter().filter(|post| post.to == Receiver::Own) {
        let name = &chart.events[post.event.index()].name;
        let takes = |(_, child): &&(_, usize)| family.can_handle(*child, name);
        let Some((step, child)) = family.member(own).children.iter().find(takes) else { continue };
        let never = !family.handles(own, name);
        if !never && !is_lost(context, post) {
            continue;
        }
        let (step, child) = (&chart.steps[step.index()].name, family.member(*child));
        let place = if never { "" } else { " where it is sent" };
        let message = format!(
            "nothing in `{}` handles `{name}`{place}: what a chart sends to itself does not come to `{step}`",
            chart.name
        );
        let mut found = rules::MISDIRECTED_EVENT
            .at(post.span, message)
            .help(format!("send it to the chart that handles it: `send {name} to {step}`"));
        if let Some(i) = child.chart.events.iter().position(|event| event.name == *name) {
            let handles = format!("`{}` handles it", words::short(&child.chart.name));
            found = found.related(child.map.events[i], handles);
        }
        diagnostics.push(found);
    }
}

/// Whether each transition and step for the event belongs to a state that is not active when the event comes.
fn is_lost(context: &Context<'_>, post: &PostSpans) -> bool {
    let Context { chart, facts, .. } = context;
    let Some(by @ Sender::Lines(_)) = sender(context, post) else { return false };
    let gone = |state| matches!(after(context, &by, state), After::Left | After::Inactive);
    let takes = |(i, transition): (usize, &Transition)| {
        let named = matches!(&transition.trigger, Trigger::Event(all) if all.contains(&post.event));
        let any = matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence);
        let within = &facts.scopes.transition(TransitionId::at(i)).within;
        (named || any) && within.iter().any(|state| !gone(*state))
    };
    let starts = |step: &Step| step.events().contains(&post.event) && !gone(step.state);
    let kept = chart.states.iter().any(|state| state.defers.contains(&post.event));
    !kept && !chart.transitions.iter().enumerate().any(takes) && !chart.steps.iter().any(starts)
}

// Events that are sent to a child chart while it does not run.

pub(super) static ABSENT_CHILD: Lint =
    Lint { rule: &rules::ABSENT_CHILD, needs_whole: true, run: find_absent_child };

fn find_absent_child(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for post in &map.posts {
        let Receiver::Child(step) = post.to else { continue };
        let row = &chart.steps[step.index()];
        let Some(sender) = sender(context, post).filter(|by| is_run(context, by)) else { continue };
        let on_entry = row.starts == Starts::OnEntry;
        let (name, state) = (words::step(chart, step), words::state(chart, row.state));
        let event = &chart.events[post.event.index()].name;
        let (message, help) = match after(context, &sender, row.state) {
            After::Perhaps => continue,
            // A step with `at entry` starts with its state, before the event comes.
            After::Entered if on_entry => continue,
            After::Entered => (
                format!(
                    "{name} does not run yet when `{event}` is sent: it starts in the walk of a turn"
                ),
                format!("start it with `at entry`, or send `{event}` later"),
            ),
            After::Left => (
                format!("{name} is stopped before `{event}` comes: {state} is left here"),
                format!(
                    "send `{event}` without leaving {state}, and leave it when {name} has ended"
                ),
            ),
            After::Inactive => (
                format!("{name} does not run when `{event}` is sent: {state} is not active here"),
                format!("send `{event}` while {state} is active, or lead there"),
            ),
        };
        let found = rules::ABSENT_CHILD.at(post.span, message).help(help);
        diagnostics.push(found.related(map.step(step).name, format!("{name} runs in {state}")));
    }
}

/// Whether a run may execute the block that sends. Other rules report blocks that no run executes.
fn is_run(context: &Context<'_>, sender: &Sender) -> bool {
    match sender {
        Sender::Lines(transitions) => {
            transitions.iter().any(|transition| context.facts.reach.can_take(*transition))
        }
        Sender::Entry(state) | Sender::Exit(state) => context.facts.reach.can_enter(*state),
    }
}

// Cycles of transitions that send each other's events for ever. For example:
//
// ```text
// state a { on ping -> b { send pong } }
// state b { on pong -> a { send ping } }
// ```
//
// After one `ping`, `a` sends `pong`, which leads from `b` back to `a` and sends `ping`, and so on.

pub(super) static EVENT_CYCLE: Lint =
    Lint { rule: &rules::EVENT_CYCLE, needs_whole: true, run: find_event_cycle };

fn find_event_cycle(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for transitions in echoes(chart, facts) {
        let Some((first, rest)) = transitions.split_first() else { continue };
        let name = words::transition(chart, *first);
        let message = if rest.is_empty() {
            format!("{name} sends its own event each time, so it is taken for ever")
        } else {
            format!(
                "once {name} is taken, these {} lines send each other's events for ever",
                transitions.len()
            )
        };
        let found = rules::EVENT_CYCLE.at(map.transition(*first).trigger, message).help(
            "send the event under a condition that comes to fail, or later: `send e after 1s`",
        );
        diagnostics.push(
            rest.iter().fold(found, |f, l| f.related(map.transition(*l).whole, "taken next")),
        );
    }
}

/// The maximum length of a cycle that is searched for.
const LONGEST: usize = 16;

/// A cycle of unguarded transitions that send each other's events without delay, in the order taken; the first has the least id.
type Echo = Vec<TransitionId>;

/// Finds every cycle, once. Each is certain: no transition does anything that may fail before it sends, no other transition can be taken
/// first, and no other event is sent in between.
fn echoes(chart: &Chart, facts: &Facts) -> BTreeSet<Echo> {
    let mut found = BTreeSet::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !matches!(transition.trigger, Trigger::Event(_)) || !facts.reach.can_take(id) {
            continue;
        }
        if sends_in_cycle(transition).is_some() {
            found.extend(cycle(chart, facts, id));
        }
    }
    found
}

/// Follows the transitions that are certainly taken after `first`, until it is taken again.
fn cycle(chart: &Chart, facts: &Facts, first: TransitionId) -> Option<Echo> {
    let mut transitions = vec![first];
    let mut transition = first;
    let mut below = {
        let source = chart.transition(first).source;
        (source.0..chart.state(source).end.0).map(StateId)
    };
    // Without a target, a transition stays in whichever leaf is active; only the case of a single leaf is followed.
    let mut at = below.find(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s))?;
    if below.any(|s| is_leaf(chart, s)) && chart.transition(first).targets.is_empty() {
        return None;
    }
    while transitions.len() <= LONGEST {
        let row = chart.transition(transition);
        let event = sends_in_cycle(row)?;
        if !row.targets.is_empty() {
            at = landing(chart, row)?;
        }
        if !is_outside_parallel(chart, at) || is_busy(chart, row, at) {
            return None;
        }
        transition = taken(chart, facts, at, event)?;
        // Every transition of the cycle finds the same cycle; the rotation makes the results equal.
        if transition == first {
            let least = (0..transitions.len()).min_by_key(|i| transitions[*i]).unwrap_or(0);
            transitions.rotate_left(least);
            return Some(transitions);
        }
        // The transition leads into a cycle without being a part of it. The search from one of its transitions finds it.
        if transitions.contains(&transition) {
            return None;
        }
        transitions.push(transition);
    }
    None
}

/// The event that a transition certainly sends to its own chart; `None` if it sends several, or if another action may fail or take effect.
fn sends_in_cycle(transition: &Transition) -> Option<EventId> {
    let mut sent = None;
    for action in &transition.actions {
        match action {
            Action::Raise(event, arguments) if arguments.iter().all(is_plain) => {
                sent.is_none().then_some(())?;
                sent = Some(*event);
            }
            Action::Send { event, arguments, after: None, to: Receiver::Own, .. }
                if arguments.iter().all(is_plain) =>
            {
                sent.is_none().then_some(())?;
                sent = Some(*event);
            }
            Action::Assign(_, value) if is_plain(value) => {}
            _ => return None,
        }
    }
    sent
}

/// Whether the evaluation of an expression is assumed not to fail.
fn is_plain(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::None => true,
        ExprKind::Variable(_) => !matches!(value.ty, Type::Json),
        ExprKind::Text(text) => text.literal().is_some(),
        // A number that grows by itself, as in `n + n`, soon overflows; one that grows by a literal does not.
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => {
            let is_literal = |e: &Expr| matches!(e.kind, ExprKind::Int(_));
            value.ty == Type::Int && is_plain(a) && is_plain(b) && (is_literal(a) || is_literal(b))
        }
        _ => false,
    }
}

/// Whether the move to the leaf runs entry, exit or default blocks, or a `when` transition may be enabled in the leaf.
fn is_busy(chart: &Chart, transition: &Transition, leaf: StateId) -> bool {
    let around = || chart.ancestors(leaf).chain(chart.ancestors(transition.source));
    let inside = (transition.source.0..chart.state(transition.source).end.0).map(StateId);
    let blocks = |s: StateId| {
        let row = chart.state(s);
        !row.entry.is_empty() || !row.exit.is_empty() || !row.default_actions.is_empty()
    };
    let moved = !transition.targets.is_empty();
    let waits = |s: StateId| {
        let transitions = chart.state(s).transitions.iter();
        transitions.into_iter().any(|l| chart.transition(*l).trigger == Trigger::When)
    };
    (moved && around().chain(inside).any(blocks)) || around().any(waits)
}

/// The transition that is certainly taken for the event in the leaf.
fn taken(chart: &Chart, facts: &Facts, leaf: StateId, event: EventId) -> Option<TransitionId> {
    let lines = chart.ancestors(leaf).flat_map(|s| &chart.state(s).transitions);
    // A state that defers the event hides the transitions of its ancestors.
    if chart.ancestors(leaf).any(|state| chart.state(state).defers.contains(&event)) {
        return None;
    }
    for id in lines {
        let transition = chart.transition(*id);
        let on = match &transition.trigger {
            Trigger::Event(events) => events.contains(&event),
            Trigger::AnyEvent | Trigger::AnyOccurrence => true,
            _ => false,
        };
        // The first transition for the event decides: if it has a guard, nothing is certain.
        if on {
            let whole =
                *facts.scopes.transition(*id) == ScopeCondition::in_state(transition.source);
            return (transition.guard.is_none() && whole).then_some(*id);
        }
    }
    None
}

// The blocks that send events, and the states that may be active when the events arrive.

/// The block that sends an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sender {
    /// The actions of transitions that are written as one line.
    Lines(Vec<TransitionId>),
    Entry(StateId),
    Exit(StateId),
}

/// The block that sends the event; `None` if it is sent with a delay, or the block is not known.
pub(super) fn sender(context: &Context<'_>, post: &PostSpans) -> Option<Sender> {
    let Context { chart, map, .. } = context;
    let holds = |whole: Span| {
        whole.file == post.span.file && whole.start <= post.span.start && post.span.end <= whole.end
    };
    let sent_in = |actions: &Vec<Action>| sending_blocks(actions, post);
    let lines = map.transitions.iter().enumerate().filter(|(_, line)| holds(line.whole));
    let transitions: Vec<TransitionId> = lines
        .map(|(i, _)| TransitionId::at(i))
        .filter(|id| sent_in(&chart.transition(*id).actions).is_some())
        .collect();
    if !transitions.is_empty() {
        let at_once = |id: &TransitionId| sent_in(&chart.transition(*id).actions) == Some(true);
        return transitions.iter().all(at_once).then_some(Sender::Lines(transitions));
    }
    // The last state in document order that contains the place is the innermost.
    let state = chart.state_ids().filter(|id| holds(map.state(*id).whole)).last()?;
    let row = chart.state(state);
    let at_once = |blocks: &[Vec<Action>]| blocks.iter().filter_map(sent_in).min();
    // If several of these blocks send the event, it is not known which of them contains the place.
    match (at_once(&row.entry), at_once(&row.exit), sent_in(&row.default_actions)) {
        (Some(true), None, None) => Some(Sender::Entry(state)),
        (None, Some(true), None) => Some(Sender::Exit(state)),
        _ => None,
    }
}

/// Whether the actions send the event without a delay each time; `None` if they do not send it to this receiver.
fn sending_blocks(actions: &[Action], post: &PostSpans) -> Option<bool> {
    let mut found: Option<bool> = None;
    Action::walk(actions, &mut |action| {
        if let Action::Send { event, after, to, .. } = action
            && (*event, *to) == (post.event, post.to)
        {
            found = Some(found.unwrap_or(true) && after.is_none());
        }
    });
    found
}

/// The change of a state in a macrostep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The state may be active as before.
    Perhaps,
    /// The state has been entered.
    Entered,
    /// The state has been exited.
    Left,
    /// The state was not active, and has not been entered.
    Inactive,
}

/// Determines the change of the state in the macrostep in which the block is run.
pub(super) fn after(context: &Context<'_>, sender: &Sender, state: StateId) -> After {
    let Context { chart, facts, map, .. } = context;
    let found = match sender {
        Sender::Lines(transitions) => {
            let mut all =
                transitions.iter().map(|transition| after_transition(context, *transition, state));
            let first = all.next().unwrap_or(After::Perhaps);
            if all.all(|one| one == first) { first } else { After::Perhaps }
        }
        Sender::Entry(own) if *own == state => After::Entered,
        Sender::Entry(own) if exclusive(chart, *own, state) => After::Inactive,
        Sender::Exit(own) if chart.contains(*own, state) => After::Left,
        Sender::Entry(_) | Sender::Exit(_) => After::Perhaps,
    };
    // A later transition of the macrostep may enter the state.
    let comes_back = |id: TransitionId| {
        let transition = chart.transition(id);
        let follows = match (sender, &transition.trigger) {
            // The transition may be the one that runs the block.
            (Sender::Exit(own), _) => {
                !meet(chart, &facts.scopes.transition(id).within, &[*own]).is_empty()
            }
            (_, Trigger::Event(events)) => map.posts.iter().any(|p| events.contains(&p.event)),
            (_, trigger) => matches!(
                trigger,
                Trigger::When
                    | Trigger::StateDone(_)
                    | Trigger::AnyOccurrence
                    | Trigger::AnyEvent
                    | Trigger::Error(_)
            ),
        };
        follows && enters(chart, transition, state)
    };
    let gone = matches!(found, After::Left | After::Inactive);
    if gone && (0..chart.transitions.len()).map(TransitionId::at).any(comes_back) {
        return After::Perhaps;
    }
    found
}

fn after_transition(context: &Context<'_>, id: TransitionId, state: StateId) -> After {
    let Context { chart, facts, .. } = context;
    let (transition, place) = (chart.transition(id), facts.scopes.transition(id));
    let before = !meet(chart, &place.within, &[state]).is_empty();
    let Some(domain) = domain(chart, transition) else {
        return if before { After::Perhaps } else { After::Inactive };
    };
    if enters(chart, transition, state) {
        return if transition.targets.iter().any(|t| is_history(chart, t.state)) {
            After::Perhaps
        } else {
            After::Entered
        };
    }
    let is_below = state != domain && chart.contains(domain, state);
    match (is_below, before) {
        (true, true) => After::Left,
        (true, false) => After::Inactive,
        (false, _) if exclusive(chart, domain, state) => After::Inactive,
        (false, _) => After::Perhaps,
    }
}

/// Whether the transition may enter the state, directly, by default or by a history.
fn enters(chart: &Chart, transition: &Transition, state: StateId) -> bool {
    let Some(domain) = domain(chart, transition) else { return false };
    let mut open = entries(chart, transition);
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        // A history may restore any state below its parent.
        let parent = chart.state(next).parent.filter(|_| is_history(chart, next));
        let inside = parent.is_some_and(|parent| chart.contains(parent, state));
        let above = || chart.ancestors(next).take_while(|s| *s != domain).any(|s| s == state);
        if inside || above() {
            return true;
        }
        if seen.insert(next) {
            open.extend(entered_by_default(chart, next));
        }
    }
    false
}

// Names for an event's data that are in another order than its fields.

pub(super) static PERMUTED_NAMES: Lint =
    Lint { rule: &rules::PERMUTED_NAMES, needs_whole: false, run: find_permuted_names };

fn find_permuted_names(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // One line of source may define several transitions.
    let mut told = BTreeSet::new();
    for (transition, spans) in chart.transitions.iter().zip(&map.transitions) {
        let Some((fields, name, place)) = misnamed(chart, transition) else { continue };
        if !told.insert(spans.whole) {
            continue;
        }
        let declared = words::names(fields.iter().map(|f| f.name.as_str()));
        let message = format!(
            "`{name}` names the data called `{}`: names follow the order of the event's data",
            fields[place].name
        );
        diagnostics.push(
            rules::PERMUTED_NAMES
                .at(spans.trigger, message)
                .help(format!("the event declares {declared}")),
        );
    }
}

/// The first bound name that is the name of another field of the event, with its index.
fn misnamed<'c>(
    chart: &'c Chart,
    transition: &'c Transition,
) -> Option<(&'c [Field], &'c str, usize)> {
    let Trigger::Event(events) = &transition.trigger else { return None };
    let fields = &chart.events[events.first()?.index()].fields;
    let misnamed = transition.bound.iter().enumerate().find(|(i, name)| {
        let is_other = |(j, field): (usize, &Field)| j != *i && field.name == **name;
        let own = fields.get(*i).is_some_and(|field| field.name == **name);
        !own && fields.iter().enumerate().any(is_other)
    });
    misnamed
        .and_then(|(i, name)| (i < fields.len()).then_some((fields.as_slice(), name.as_str(), i)))
}
