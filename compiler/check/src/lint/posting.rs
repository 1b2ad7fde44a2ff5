//! The blocks that send events, and the states that may be active when the events arrive.

use super::Context;
use crate::facts::reach::{domain, entered_by_default, entries, is_history};
use crate::facts::scope::{exclusive, meet};
use crate::lower::PostSpans;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Action, Chart, Transition, Trigger};
use chartc_text::span::Span;
use std::collections::BTreeSet;

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
    let sent_in = |actions: &Vec<Action>| sends(actions, post);
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
fn sends(actions: &[Action], post: &PostSpans) -> Option<bool> {
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
