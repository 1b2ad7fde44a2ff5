//! Deadlines that never fire, because something else always exits their state or ends the run before.
//!
//! **The problem.** An `after` line waits for a time, and looks as if that time would come. But an outer state may have a shorter deadline,
//! or a limit may end the run before.
//!
//! **The idea.** [`dead`] looks for something that is certain and certainly earlier. An outer state is entered no later than an inner one,
//! so its clock starts no later: its deadline is due first if its latest time is not after the earliest time of the inner one. The times
//! are ranges, since params have ranges (`range`). Four causes are tried in turn: a `when` that exits the state at once (`passing`), an
//! unguarded deadline that exits the state or one around it (`firm`), one that moves what is active inside a state around it (`Moving`),
//! and a limit (`limited`). Whatever has a guard does not count.
//!
//! Two smaller analyses of what exits and enters states follow: transitions that restart regions or their own target ([`resets`],
//! [`restarts`]) and states that are never exited ([`left`]); then the events that a chart forwards or ignores ([`passed`], [`unhandled`]).
//!
//! **Example.**
//!
//! ```text
//! state work {
//!   initial draft
//!   after 10s -> late
//!   state draft { after 20s -> given_up }
//! }
//! ```
//!
//! `draft` is entered when `work` is, or later. So 10 seconds of `work` have passed before 20 seconds of `draft`: the inner deadline never
//! fires, and [`Before::Deadline`] names the outer one.

use super::Facts;
use super::reach::{ScopeCondition, domain, entries, is_end, is_history};
use super::values::{self, Range, declared};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{
    Chart, Expr, Forward, StateKind, StepKind, Transition, TransitionKind, Trigger,
};
use chartc_core::tables::CATCH_ALL;
use std::collections::{BTreeMap, BTreeSet};

/// A deadline that never fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dead {
    /// The transition of the deadline.
    pub transition: TransitionId,
    /// The reason: the transition or limit that always precedes the deadline.
    pub before: Before,
}

/// A transition or limit that always precedes a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// A `when` transition whose guard always holds.
    When(TransitionId),
    /// Another deadline.
    Deadline(TransitionId),
    /// The limit on the turns of the run, which no transition handles.
    Turns(i64),
    /// The limit on the time in a state, in milliseconds, which no transition handles.
    Time(StateId, u64),
}

/// The deadlines that can be armed and never fire, ascending, except those that [`super::cover`] finds. Linear in the number of
/// transitions, times the depth of the tree and the deadlines of a state.
pub fn dead(chart: &Chart, facts: &Facts) -> Vec<Dead> {
    let timed = |t: &Trigger| matches!(t, Trigger::After(_) | Trigger::AfterTurns(_));
    if !chart.transitions.iter().any(|transition| timed(&transition.trigger)) {
        return Vec::new();
    }
    let passing = passing(chart, facts);
    let firm = firm(chart, facts);
    let moving = Moving::new(chart, facts);
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !timed(&transition.trigger) || !facts.reach.can_take(id) {
            continue;
        }
        let left = |state: &StateId| chart.ancestors(*state).find_map(|s| passing[s.index()]);
        let places =
            facts.scopes.transition(id).within.iter().filter(|s| facts.reach.can_enter(**s));
        let whens: Option<Vec<TransitionId>> = places.map(left).collect();
        let before = whens
            .and_then(|whens| whens.first().copied().map(Before::When))
            .or_else(|| sooner(chart, id, &firm).map(Before::Deadline))
            .or_else(|| moving.sooner(chart, id).map(Before::Deadline))
            .or_else(|| limited(chart, transition));
        found.extend(before.map(|before| Dead { transition: id, before }));
    }
    found
}

/// Whether a transition can act wherever its source is active, and exits it.
pub(crate) fn leaves(facts: &Facts, transition: &Transition, id: TransitionId) -> bool {
    let whole = ScopeCondition::in_state(transition.source);
    transition.kind == TransitionKind::External && *facts.scopes.transition(id) == whole
}

/// By state: the `when` transition that exits the state at once, so that no stable configuration contains it.
fn passing(chart: &Chart, facts: &Facts) -> Vec<Option<TransitionId>> {
    let mut found = vec![None; chart.states.len()];
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if transition.trigger != Trigger::When || !leaves(facts, transition, id) {
            continue;
        }
        let place = facts.scopes.transition(id);
        if transition.guard.as_ref().is_none_or(|g| place.is_opened_by(chart, g)) {
            found[transition.source.index()].get_or_insert(id);
        }
    }
    found
}

/// The unguarded deadlines of one state that exit it, either all in milliseconds or all in turns. In document order, each with the
/// latest time at which it is due.
#[derive(Debug, Clone, Default)]
struct Firm {
    transitions: Vec<(TransitionId, u64)>,
    /// For each block of [`BLOCK`] deadlines: the earliest time in it.
    soonest: Vec<u64>,
}

/// The number of deadlines that a search skips at once, so that charts with thousands of deadlines in one state are checked fast.
const BLOCK: usize = 128;

impl Firm {
    fn push(&mut self, transition: TransitionId, most: u64) {
        if self.transitions.len().is_multiple_of(BLOCK) {
            self.soonest.push(u64::MAX);
        }
        self.transitions.push((transition, most));
        if let Some(soonest) = self.soonest.last_mut() {
            *soonest = most.min(*soonest);
        }
    }

    /// The first deadline after the transition `behind` (or of all) that is always due before `bound`.
    fn first(&self, behind: Option<TransitionId>, bound: u64) -> Option<TransitionId> {
        let from = behind
            .map_or(0, |transition| self.transitions.partition_point(|(id, _)| *id <= transition));
        let blocks =
            self.transitions.chunks(BLOCK).zip(&self.soonest).enumerate().skip(from / BLOCK);
        for (nth, (block, soonest)) in blocks {
            if *soonest >= bound {
                continue;
            }
            let skipped = from.saturating_sub(nth * BLOCK);
            let found = block.iter().skip(skipped).find(|(_, most)| *most < bound);
            if let Some((transition, _)) = found {
                return Some(*transition);
            }
        }
        None
    }
}

/// The unguarded deadlines of each state: first those in milliseconds, then those in turns.
fn firm(chart: &Chart, facts: &Facts) -> Vec<[Firm; 2]> {
    let mut found = vec![<[Firm; 2]>::default(); chart.states.len()];
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some((_, most)) = bound(transition).and_then(|bound| range(chart, bound)) else {
            continue;
        };
        if transition.guard.is_none() && leaves(facts, transition, id) {
            found[transition.source.index()][kind(transition)].push(id, most);
        }
    }
    found
}

/// The index of the deadline's unit: 0 for milliseconds, 1 for turns.
fn kind(transition: &Transition) -> usize {
    usize::from(!matches!(transition.trigger, Trigger::After(_)))
}

/// A deadline of the same state or an ancestor that is always due first. An ancestor is entered no later than its descendant, so its
/// clock starts no later. Transitions that are due at the same time are tried in document order.
fn sooner(chart: &Chart, id: TransitionId, firm: &[[Firm; 2]]) -> Option<TransitionId> {
    let transition = chart.transition(id);
    let (least, _) = range(chart, bound(transition)?)?;
    chart.ancestors(transition.source).find_map(|state| {
        let deadlines = &firm[state.index()][kind(transition)];
        // `cover` compares with earlier transitions of the same state; later ones must be due strictly before.
        if state == transition.source {
            deadlines.first(Some(id), least)
        } else {
            deadlines.first(None, least.saturating_add(1))
        }
    })
}

/// Unguarded deadlines that do not exit their state but move what is active inside it: `after 3s -> work.late` in `work`.
struct Moving {
    /// By source state: the deadlines in document order, each with the latest time at which it is due.
    transitions: BTreeMap<StateId, Vec<(TransitionId, u64)>>,
    /// By state: the innermost state that stays active while some transition enters this one. `None` if no transition enters it.
    entered_below: Vec<Option<StateId>>,
}

impl Moving {
    fn new(chart: &Chart, facts: &Facts) -> Self {
        let mut all =
            Self { transitions: BTreeMap::new(), entered_below: vec![None; chart.states.len()] };
        let mut subtrees = vec![None; chart.states.len()];
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let Some(domain) = domain(chart, transition).filter(|_| facts.reach.can_take(id))
            else {
                continue;
            };
            for entry in entries(chart, transition) {
                // A history may enter any state beside it.
                let top = match chart.state(entry).kind {
                    StateKind::History { .. } => chart.state(entry).parent.unwrap_or(entry),
                    StateKind::Atomic | StateKind::Final { .. } => entry,
                    StateKind::Compound { .. } | StateKind::Parallel => entry,
                };
                subtrees[top.index()] = subtrees[top.index()].max(Some(domain));
                for state in chart.ancestors(top).take_while(|s| *s != domain) {
                    let below = &mut all.entered_below[state.index()];
                    *below = (*below).max(Some(domain));
                }
            }
            let (true, None, Some((_, most))) = (
                transition.kind == TransitionKind::Internal
                    && *facts.scopes.transition(id) == ScopeCondition::in_state(transition.source),
                &transition.guard,
                bound(transition).and_then(|bound| range(chart, bound)),
            ) else {
                continue;
            };
            all.transitions.entry(transition.source).or_default().push((id, most));
        }
        // Parents come before their children, and of two domains on one path the inner one has the greater id.
        for state in chart.state_ids() {
            let above = chart.state(state).parent.and_then(|parent| subtrees[parent.index()]);
            subtrees[state.index()] = subtrees[state.index()].max(above);
            let below = &mut all.entered_below[state.index()];
            *below = (*below).max(subtrees[state.index()]);
        }
        all
    }

    /// A deadline of an ancestor that is always due first. It fires once after its state was entered, so it precedes only the deadlines
    /// of states that are not entered again while that ancestor stays active.
    fn sooner(&self, chart: &Chart, id: TransitionId) -> Option<TransitionId> {
        let transition = chart.transition(id);
        let (least, _) = range(chart, bound(transition)?)?;
        chart.ancestors(transition.source).skip(1).find_map(|state| {
            let transitions = self.transitions.get(&state)?;
            let below = self.entered_below[transition.source.index()];
            if below.is_some_and(|domain| chart.contains(state, domain)) {
                return None;
            }
            let exits = |by: TransitionId| {
                let other = chart.transition(by);
                kind(other) == kind(transition) && domain(chart, other) == Some(state)
            };
            transitions.iter().find(|(by, most)| *most <= least && exits(*by)).map(|(by, _)| *by)
        })
    }
}

/// The time of a deadline, in milliseconds or turns; `None` for other transitions.
fn bound(transition: &Transition) -> Option<&Expr> {
    match &transition.trigger {
        Trigger::After(bound) | Trigger::AfterTurns(bound) => Some(bound),
        _ => None,
    }
}

/// The least and the greatest value of the time of a deadline, in milliseconds or turns. `None` unless both are known.
pub(crate) fn range(chart: &Chart, bound: &Expr) -> Option<(u64, u64)> {
    let Range { low, high } = values::range(bound, &|id| declared(chart, id));
    Some((u64::try_from(low?).ok()?, u64::try_from(high?).ok()?))
}

/// The limit that ends the run before the deadline of the transition is due.
fn limited(chart: &Chart, transition: &Transition) -> Option<Before> {
    let (least, _) = range(chart, bound(transition)?)?;
    if matches!(transition.trigger, Trigger::AfterTurns(_)) {
        let turns = chart.states[0].limits.turns.filter(|t| *t > 0)?;
        let ends = turns.unsigned_abs() <= least && !is_handled(chart, "turns");
        return ends.then_some(Before::Turns(turns));
    }
    let mut around = chart.ancestors(transition.source);
    around.find_map(|state| {
        let time = chart.state(state).limits.time.filter(|t| *t > 0 && *t < least)?;
        (!is_handled(chart, "time")).then_some(Before::Time(state, time))
    })
}

/// Whether some transition may handle the limit of this kind (`turns` or `time`), so that the run goes on.
fn is_handled(chart: &Chart, kind: &str) -> bool {
    chart.transitions.iter().any(|transition| match &transition.trigger {
        Trigger::AnyOccurrence => true,
        Trigger::Error(pattern) => {
            pattern.starts_with('*')
                || pattern == "limit"
                || pattern == "limit.*"
                || pattern.strip_prefix("limit.").is_some_and(|rest| rest.starts_with(kind))
        }
        _ => false,
    })
}

// Transitions that exit and re-enter states, perhaps unintentionally, and states that are never exited.

/// A transition that exits a parallel and enters it again, and so restarts regions that it does not target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The transition, which is taken only while the parallel is active.
    pub transition: TransitionId,
    /// The parallel that is exited and entered again.
    pub parallel: StateId,
    /// The first few regions that are not targeted and whose restart is observable; at least one.
    pub regions: Vec<StateId>,
    /// The number of all such regions, including those that `regions` omits.
    pub count: usize,
}

/// The maximum number of regions that are listed for one transition.
const TOLD: usize = 4;

/// The resets that can happen, ascending by transition. Linear in transitions, targets and regions, times depth.
pub fn resets(chart: &Chart, facts: &Facts) -> Vec<Reset> {
    let taken = |id: &TransitionId| facts.reach.can_take(*id);
    let transitions = (0..chart.transitions.len()).map(TransitionId::at).filter(taken);
    let mut busy = BTreeMap::new();
    transitions.filter_map(|id| reset(chart, facts, id, &mut busy)).collect()
}

/// Checks one transition. `busy` caches the regions of each parallel whose restart is observable.
fn reset(
    chart: &Chart,
    facts: &Facts,
    id: TransitionId,
    busy: &mut BTreeMap<StateId, Vec<StateId>>,
) -> Option<Reset> {
    let transition = chart.transition(id);
    let domain = domain(chart, transition)?;
    let place = facts.scopes.transition(id);
    let target = transition.targets.first()?.state;
    let between = chart.ancestors(target).skip(1).take_while(|s| *s != domain);
    let left = |s: &StateId| {
        matches!(chart.state(*s).kind, StateKind::Parallel)
            && !place.within.is_empty()
            && place.within.iter().all(|w| chart.contains(*s, *w))
    };
    let parallel = between.filter(left).last()?;
    let region_of =
        |state: StateId| chart.ancestors(state).find(|s| chart.state(*s).parent == Some(parallel));
    let named: BTreeSet<StateId> =
        transition.targets.iter().filter_map(|t| region_of(t.state)).collect();
    let all = busy.entry(parallel).or_insert_with(|| {
        let regions = chart.children(parallel);
        regions.filter(|r| !is_history(chart, *r) && is_busy(chart, *r)).collect()
    });
    let count = all.len() - named.iter().filter(|r| all.binary_search(r).is_ok()).count();
    let regions: Vec<StateId> =
        all.iter().filter(|r| !named.contains(r)).take(TOLD).copied().collect();
    (count > 0).then_some(Reset { transition: id, parallel, regions, count })
}

/// Whether re-entering the state is observable: it has actions, transitions, steps or children.
fn is_busy(chart: &Chart, state: StateId) -> bool {
    let row = chart.state(state);
    let silent = row.entry.is_empty() && row.exit.is_empty() && row.default_actions.is_empty();
    !silent
        || !row.transitions.is_empty()
        || !row.steps.is_empty()
        || !matches!(row.kind, StateKind::Atomic)
}

/// A `from` transition that can be taken in its own target, which is then exited and entered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// The transition.
    pub transition: TransitionId,
    /// The state that is restarted: the target, or the parent of a history.
    pub state: StateId,
}

/// The restarts that can happen, ascending by transition. Linear in transitions, targets and listed states, times depth.
pub fn restarts(chart: &Chart, facts: &Facts) -> Vec<Restart> {
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(scope) = &transition.scope else { continue };
        if !facts.reach.can_take(id) {
            continue;
        }
        let place = facts.scopes.transition(id);
        let again = transition.targets.iter().map(|t| t.state).find_map(|target| {
            let state = if is_history(chart, target) {
                chart.state(target).parent.unwrap_or(target)
            } else if scope.wildcard {
                // The scope of `from *` excludes the target already.
                return None;
            } else {
                target
            };
            let listed = scope.wildcard || scope.any_of.binary_search(&state).is_ok();
            let holds = listed && facts.reach.can_enter(state) && place.may_hold_in(chart, state);
            (holds && state != transition.source).then_some(state)
        });
        found.extend(again.map(|state| Restart { transition: id, state }));
    }
    found
}

/// By state: whether some transition may exit it while the run goes on. Over-approximates. Linear in transitions, times depth.
pub fn left(chart: &Chart, facts: &Facts) -> Vec<bool> {
    let mut own = vec![false; chart.states.len()];
    let mut below = vec![false; chart.states.len()];
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(domain) = domain(chart, transition) else { continue };
        if !facts.reach.can_take(id) || transition.targets.iter().any(|t| is_end(chart, t.state)) {
            continue;
        }
        let place = facts.scopes.transition(id);
        for within in &place.within {
            if place.is_approximate || !chart.contains(domain, *within) || *within == domain {
                below[domain.index()] = true;
            } else {
                let path = chart.ancestors(*within).take_while(|s| *s != domain);
                path.for_each(|s| own[s.index()] = true);
            }
        }
    }
    // Parents come first, so `above` is complete.
    for state in chart.state_ids().skip(1) {
        let above = chart.state(state).parent.map_or(0, StateId::index);
        own[state.index()] |= below[above] || own[above];
    }
    own
}

// The events that a chart handles, ignores, or forwards to child charts.

/// The events that may be forwarded to child charts. `child` returns the chart of a `run` step, or `None` if it is unknown; an
/// unknown chart may take every event.
pub fn passed<'c>(chart: &Chart, child: &dyn Fn(StepId) -> Option<&'c Chart>) -> BTreeSet<EventId> {
    let mut events = BTreeSet::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        if run.forward == Forward::Nothing {
            continue;
        }
        let known: Option<BTreeSet<&str>> = child(StepId::at(i))
            .map(|child| child.events.iter().map(|e| e.name.as_str()).collect())
            // A child chart with an event of this name takes all events, whatever their names.
            .filter(|names: &BTreeSet<&str>| !names.contains(CATCH_ALL));
        let own = chart.events.iter().enumerate();
        let taken = own.filter(|(_, e)| known.as_ref().is_none_or(|k| k.contains(e.name.as_str())));
        events.extend(taken.map(|(nth, _)| EventId::at(nth)));
    }
    events
}

/// A transition or a step that takes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// A transition for the event.
    Transition(TransitionId),
    /// A step that waits for the event.
    Step(StepId),
}

/// An event that nothing takes in any run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unhandled {
    /// The event that is ignored.
    pub event: EventId,
    /// The transitions and steps for the event, all in unreachable states.
    pub dead: Vec<Handler>,
}

/// The events that this chart itself does not handle, ascending. Empty if a transition takes any event.
pub fn unhandled(chart: &Chart, facts: &Facts) -> Vec<Unhandled> {
    let all = |t: &Trigger| matches!(t, Trigger::AnyEvent | Trigger::AnyOccurrence);
    if chart.transitions.iter().any(|transition| all(&transition.trigger)) {
        return Vec::new();
    }
    let mut handlers: BTreeMap<EventId, Vec<(Handler, StateId)>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        if let Trigger::Event(events) = &transition.trigger {
            for event in events {
                let handler = (Handler::Transition(TransitionId::at(i)), transition.source);
                handlers.entry(*event).or_default().push(handler);
            }
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        for event in step.events() {
            let handler = (Handler::Step(StepId::at(i)), step.state);
            handlers.entry(*event).or_default().push(handler);
        }
    }
    let mut found = Vec::new();
    for event in (0..chart.events.len()).map(EventId::at) {
        let of = handlers.remove(&event).unwrap_or_default();
        if !of.iter().any(|(_, state)| facts.reach.can_enter(*state)) {
            let dead = of.into_iter().map(|(handler, _)| handler).collect();
            found.push(Unhandled { event, dead });
        }
    }
    found
}
