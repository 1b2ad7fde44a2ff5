//! Cycles of transitions that send each other's events for ever. For example:
//!
//! ```text
//! state a { on ping -> b { send pong } }
//! state b { on pong -> a { send ping } }
//! ```
//!
//! After one `ping`, `a` sends `pong`, which leads from `b` back to `a` and sends `ping`, and so on.

use crate::facts::Facts;
use crate::facts::livelock::{is_outside_parallel, landing};
use crate::facts::reach::is_leaf;
use crate::facts::scope::ScopeCondition;
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{EventId, StateId, TransitionId};
use chartc_core::model::{
    Action, BinaryOp, Chart, Expr, ExprKind, Receiver, Transition, Trigger, Type,
};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::EVENT_CYCLE;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &EVENT_CYCLE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        let found = EVENT_CYCLE.at(map.transition(*first).trigger, message).help(
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
        if sends(transition).is_some() {
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
        let event = sends(row)?;
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
fn sends(transition: &Transition) -> Option<EventId> {
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
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => {
            value.ty == Type::Int && is_plain(a) && is_plain(b)
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
