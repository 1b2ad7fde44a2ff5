//! The selection of transitions: the candidates of a state, and those that are taken.
//!
//! **The problem.** An event may enable many transitions: of a leaf, of its ancestors, of several regions. The one to take follows from
//! document order and nesting. Transitions of different regions are taken together unless they exit the same states.
//!
//! **The idea.** [`Stepper::pick`] walks from a leaf to the root and takes the first transition whose trigger matches and whose scope and
//! guard hold. If no `allow` line permits it, none is taken for this leaf. The columns `here` and `on_path` end the walk early, and a state
//! with many transitions has an index by event (`indexed`). [`Stepper::select`] does this for each leaf and removes conflicts with `add`.
//! Two transitions conflict if one domain contains the other. Then the one whose source is a descendant of the other source wins, otherwise
//! the one picked earlier. A transition that was tried and not taken is recorded with the reason ([`Loss`]), except that false guards and
//! scopes of eventless transitions are not.
//!
//! **Example.** `stop` enables a transition in both regions. The first one exits the whole parallel, so the two conflict:
//!
//! ```text
//! parallel p {
//!   state r { initial a  state a { on stop -> out } }
//!   state s { initial b  state b { on stop -> c }  state c {} }
//! }
//! pick a   `-> out`, domain: the parent of `p`
//! pick b   `-> c`, domain: `p.s`, which lies inside; neither source contains the other, so the earlier one stays
//! result   `-> out` is taken; `-> c` is Lost(Preempted)
//! ```

use super::Stepper;
use crate::arena::{EventId, StateId, TransitionId};
use crate::machine::{Loss, Record, Sink};
use crate::program::Program;
use crate::store::{Occurrence, Store};
use crate::tables::{Dispatch, Reacts, Span, StateRow, Tables, TransitionRow, TriggerRow};

/// The result of trying one candidate.
enum Verdict {
    Enabled,
    /// Enabled, but no `allow` line permits its target. No other transition is taken instead.
    Denied,
    Lost(Loss),
}

/// The result of the selection for one leaf.
pub(super) enum Picked {
    /// No transition, or one that was already picked for an earlier leaf.
    Nothing,
    Line(TransitionId),
    Denied,
}

impl<P: Program> Stepper<P> {
    /// Fills `selected` with the optimal enabled set. Returns its size, and whether a transition was enabled but denied.
    pub(super) fn select(
        &mut self,
        cause: impl Cause,
        faults: &mut u32,
        selected: &mut [TransitionId],
        sink: &mut dyn Sink,
    ) -> (usize, bool) {
        let mut count = 0;
        let mut denied = false;
        for nth in 0..self.leaves as usize {
            let leaf = self.store.cells().leaves[nth];
            match self.pick(leaf, cause, &selected[..count], faults, sink) {
                Picked::Nothing => {}
                Picked::Line(id) => count = self.add(id, count, selected, sink),
                Picked::Denied => denied = true,
            }
        }
        (count, denied)
    }

    /// The first enabled transition on the path from a leaf to the root. `picked` are the transitions of earlier leaves.
    pub(super) fn pick(
        &mut self,
        leaf: StateId,
        cause: impl Cause,
        picked: &[TransitionId],
        faults: &mut u32,
        sink: &mut dyn Sink,
    ) -> Picked {
        let mut state = leaf;
        loop {
            let StateRow { on_path, here, parent, .. } = self.tables.states[state.index()];
            // `on_path` covers the ancestors, too, so the search can end early.
            if !on_path.meets(cause.kind()) {
                return Picked::Nothing;
            }
            let mut from = TransitionId(0);
            while here.meets(cause.kind())
                && let Some(id) = cause.next(&self.tables, state, from)
            {
                from = TransitionId(id.0 + 1);
                // It was picked for an earlier leaf, and is taken once for all of them.
                if picked.contains(&id) {
                    return Picked::Nothing;
                }
                let row = self.tables.transitions[id.index()];
                match self.verdict(id, &row, leaf, cause, faults) {
                    Verdict::Enabled => return Picked::Line(id),
                    Verdict::Denied => {
                        sink.record(Record::Denied(id));
                        return Picked::Denied;
                    }
                    // `when` transitions are tried after every microstep; records of false guards would fill the trace.
                    Verdict::Lost(Loss::Guard | Loss::Scope) if cause.is_nothing() => {}
                    Verdict::Lost(loss) => sink.record(Record::Lost(id, loss)),
                }
            }
            if parent == state
                || here.meets(Reacts::DEFER)
                    && cause.event().is_some_and(|event| self.defers(state, event))
            {
                return Picked::Nothing;
            }
            state = parent;
        }
    }

    /// Adds an enabled transition unless it is preempted, and removes the transitions that it preempts. A transition that was preempted by
    /// one that is removed later is not reconsidered.
    fn add(
        &mut self,
        id: TransitionId,
        count: usize,
        selected: &mut [TransitionId],
        sink: &mut dyn Sink,
    ) -> usize {
        if count == 0 {
            selected[0] = id;
            return 1;
        }
        // Only transitions with a target have an exit set, so others preempt nothing and are not preempted.
        let domain = self.domain(id);
        let source = self.tables.transitions[id.index()].source;
        if let Some(domain) = domain {
            for other in selected[..count].iter().copied() {
                let other_source = self.tables.transitions[other.index()].source;
                // Of two transitions that conflict, the one of the descendant wins, otherwise the earlier one.
                if self.meets(domain, other)
                    && !(source != other_source && self.contains(other_source, source))
                {
                    sink.record(Record::Lost(id, Loss::Preempted));
                    return count;
                }
            }
            let mut kept = 0;
            for i in 0..count {
                let other = selected[i];
                if self.meets(domain, other) {
                    sink.record(Record::Lost(other, Loss::Preempted));
                } else {
                    selected[kept] = other;
                    kept += 1;
                }
            }
            selected[kept] = id;
            return kept + 1;
        }
        selected[count] = id;
        count + 1
    }

    /// Whether the exit set of a transition with this `domain` intersects that of `other`. Every domain is active and has active
    /// descendants, so two exit sets intersect exactly if one domain contains the other.
    fn meets(&mut self, domain: StateId, other: TransitionId) -> bool {
        self.domain(other).is_some_and(|d| self.contains(d, domain) || self.contains(domain, d))
    }

    /// Tries one candidate for a leaf: its scope, its guard, and then the permissions.
    #[inline]
    fn verdict(
        &mut self,
        id: TransitionId,
        row: &TransitionRow,
        leaf: StateId,
        cause: impl Cause,
        faults: &mut u32,
    ) -> Verdict {
        if !self.in_scope(row) {
            return Verdict::Lost(Loss::Scope);
        }
        // The guard of a `may call` transition held when the call began, and is not evaluated again.
        if row.guard && !cause.has_returned() {
            let held = match self.program.guard_alone(id, self.store.cells().configuration) {
                Some(held) => Ok(held),
                None => self.in_view(leaf, |program, view| program.guard(id, view)),
            };
            match held {
                Ok(true) => {}
                Ok(false) => return Verdict::Lost(Loss::Guard),
                Err(_) => {
                    *faults += 1;
                    return Verdict::Lost(Loss::Fault);
                }
            }
        }
        if self.check_permitted(row, leaf) { Verdict::Enabled } else { Verdict::Denied }
    }

    #[inline]
    pub(super) fn in_scope(&self, row: &TransitionRow) -> bool {
        let pool = &self.tables.state_pool;
        (row.any_of.len == 0 || row.any_of.of(pool).iter().any(|s| self.is_active(*s)))
            && (row.none_of.len == 0 || !row.none_of.of(pool).iter().any(|s| self.is_active(*s)))
    }

    /// Whether `allow` lines permit the target of a transition. Only transitions of steps and choices need a permission.
    #[inline]
    fn check_permitted(&mut self, row: &TransitionRow, leaf: StateId) -> bool {
        self.tables.permissions.is_empty()
            || !needs_permission(&row.trigger)
            || self.check_permission(row, leaf)
    }

    fn check_permission(&mut self, row: &TransitionRow, leaf: StateId) -> bool {
        row.targets.range().all(|at| {
            let target = self.tables.state_pool[at];
            (0..self.tables.permissions.len()).any(|nth| {
                // A condition that cannot be evaluated permits nothing.
                let permission = self.tables.permissions[nth];
                permission.to == target
                    && permission.from.is_none_or(|from| self.is_active(from))
                    && (!permission.guard
                        || self
                            .in_view(leaf, |program, view| program.permission_guard(nth, view))
                            .unwrap_or(false))
            })
        })
    }

    /// Calls `each` with every host event that an active state would handle or defer now, in ascending order. A guard that reads the event's payload
    /// counts as true. If it passes the payload to a host function with a fallback, the fallback decides.
    pub fn enabled_events(&mut self, each: &mut dyn FnMut(EventId)) {
        self.program.refuel();
        self.program.bind(crate::program::Bound::Nothing);
        for index in 0..self.tables.events.len() {
            let event = EventId::at(index);
            if !self.is_over() && self.would_handle(event) {
                each(event);
            }
        }
    }

    /// Whether a transition on the path of an active leaf, or an `ask` that waits for the event, would handle it, or a state would defer it.
    fn would_handle(&mut self, event: EventId) -> bool {
        let end = self.tables.states.len();
        let mut from = 0;
        while let Some(leaf) = self.next_leaf(from, end) {
            from = leaf.index() + 1;
            let mut path = Some(leaf);
            while let Some(state) = path {
                let lines = self.tables.states[state.index()].transitions;
                for index in lines.start..lines.start + lines.len {
                    let id = TransitionId(index);
                    let row = self.tables.transitions[id.index()];
                    // A guard that cannot be evaluated may need the payload, so it counts as true.
                    let occurrence = Some(Occurrence::Event(event));
                    if triggers(&self.tables, &row, id, occurrence)
                        && self.in_scope(&row)
                        && (!row.guard
                            || self
                                .in_view(leaf, |program, view| program.guard(id, view))
                                .unwrap_or(true))
                    {
                        return true;
                    }
                }
                if self.defers(state, event) {
                    return true;
                }
                path = self.parent(state);
            }
            if self.would_start(leaf, event) {
                return true;
            }
        }
        false
    }
}

/// Whether transitions with this trigger need an `allow` line: only those of steps and choices do.
fn needs_permission(trigger: &TriggerRow) -> bool {
    match trigger {
        TriggerRow::Choice(_)
        | TriggerRow::StepDone(_)
        | TriggerRow::StepError(_)
        | TriggerRow::StepTimeout(..)
        | TriggerRow::StepDoubt(_)
        | TriggerRow::StepElse(_) => true,
        TriggerRow::Event(_)
        | TriggerRow::AnyEvent
        | TriggerRow::AnyOccurrence
        | TriggerRow::Turn
        | TriggerRow::When
        | TriggerRow::StateDone(_)
        | TriggerRow::After(_)
        | TriggerRow::AfterTurns(_)
        | TriggerRow::Error(_)
        | TriggerRow::LimitWarn(_) => false,
    }
}

// The candidates of a state: the transitions that an occurrence can trigger.

/// The cause of a microstep: an occurrence, or nothing for eventless transitions. Host events have a type of their own, so that the code
/// for most inputs is specialized for them.
pub(super) trait Cause: Copy {
    /// The kind of occurrence that a state must react to.
    fn kind(self) -> Reacts;
    /// The first candidate at or after `from` in a state that reacts to [`Cause::kind`].
    fn next(self, tables: &Tables, state: StateId, from: TransitionId) -> Option<TransitionId>;
    /// The host event, raised or from outside.
    fn event(self) -> Option<EventId>;
    /// Whether the microstep is eventless.
    fn is_nothing(self) -> bool;
    /// Whether the occurrence is an `error.*`.
    fn is_error(self) -> bool;
    /// Whether the occurrence is the result of a tool that the model called.
    fn has_returned(self) -> bool;
}

impl Cause for EventId {
    #[inline]
    fn kind(self) -> Reacts {
        Reacts::EVENT
    }

    #[inline]
    fn next(self, tables: &Tables, state: StateId, from: TransitionId) -> Option<TransitionId> {
        let row = &tables.states[state.index()];
        if row.index.len > 0 {
            indexed(row.index.of(&tables.dispatch_pool), self, from)
        } else {
            scanned_for_event(tables, row.transitions, self, from)
        }
    }

    #[inline]
    fn event(self) -> Option<EventId> {
        Some(self)
    }

    #[inline]
    fn is_nothing(self) -> bool {
        false
    }

    #[inline]
    fn is_error(self) -> bool {
        false
    }

    #[inline]
    fn has_returned(self) -> bool {
        false
    }
}

impl Cause for Option<Occurrence> {
    fn kind(self) -> Reacts {
        match self {
            None => Reacts::WHEN,
            Some(Occurrence::Event(_)) => Reacts::EVENT,
            Some(Occurrence::Turn) => Reacts::TURN,
            Some(Occurrence::StateDone(_)) => Reacts::DONE,
            Some(Occurrence::Deadline(_)) => Reacts::DEADLINE,
            Some(Occurrence::Choice(_) | Occurrence::Returned(_)) => Reacts::CHOICE,
            Some(
                Occurrence::StepDone(_)
                | Occurrence::StepError(_)
                | Occurrence::StepDoubt(_)
                | Occurrence::StepElse(_),
            ) => Reacts::STEP,
            Some(Occurrence::Error(_)) => Reacts::ERROR,
            Some(Occurrence::Warn(_)) => Reacts::WARN,
        }
    }

    fn next(self, tables: &Tables, state: StateId, from: TransitionId) -> Option<TransitionId> {
        if let Some(Occurrence::Event(event)) = self {
            event.next(tables, state, from)
        } else {
            scanned(tables, tables.states[state.index()].transitions, self, from)
        }
    }

    fn event(self) -> Option<EventId> {
        if let Some(Occurrence::Event(event)) = self { Some(event) } else { None }
    }

    fn is_nothing(self) -> bool {
        self.is_none()
    }

    fn is_error(self) -> bool {
        matches!(self, Some(Occurrence::Error(_)))
    }

    fn has_returned(self) -> bool {
        matches!(self, Some(Occurrence::Returned(_)))
    }
}

/// Like [`scanned`], specialized for host events.
#[inline]
fn scanned_for_event(
    tables: &Tables,
    lines: Span,
    event: EventId,
    from: TransitionId,
) -> Option<TransitionId> {
    // The search goes on behind the last candidate, instead of from the first transition of the state.
    let first = lines.start.max(from.0);
    let rows = tables.transitions.get(first as usize..(lines.start + lines.len) as usize)?;
    for (line, row) in (first..).zip(rows) {
        let matches = if let TriggerRow::Event(span) = row.trigger {
            let events = span.of(&tables.event_pool);
            if let [only] = events { *only == event } else { events.contains(&event) }
        } else {
            matches!(row.trigger, TriggerRow::AnyEvent | TriggerRow::AnyOccurrence)
        };
        if matches {
            return Some(TransitionId(line));
        }
    }
    None
}

/// The first transition of a state that the occurrence can trigger, at or after `from`.
fn scanned(
    tables: &Tables,
    lines: Span,
    occurrence: Option<Occurrence>,
    from: TransitionId,
) -> Option<TransitionId> {
    (lines.start.max(from.0)..lines.start + lines.len)
        .map(TransitionId)
        .find(|id| triggers(tables, &tables.transitions[id.index()], *id, occurrence))
}

/// Like [`scanned_for_event`], for a state whose transitions are indexed by event.
#[inline(always)]
fn indexed(index: &[Dispatch], event: EventId, from: TransitionId) -> Option<TransitionId> {
    guessed(index, event, from).or_else(|| searched(index, event, from))
}

/// The transition at the most likely index: the one it has if each event before had one transition, and none is for any event. `None` if
/// the guess is wrong.
#[inline(always)]
fn guessed(index: &[Dispatch], event: EventId, from: TransitionId) -> Option<TransitionId> {
    let (first, last) = (index.first()?, index.last()?);
    let place = event.0.checked_sub(first.event.0)? as usize;
    let row = index.get(place)?;
    let is_first = place == 0 || index[place - 1].event != event;
    // With transitions for any event, the first candidate may be one of those, so the guess is not safe.
    let is_known = row.event == event && row.line >= from && last.event != Dispatch::ANY;
    (is_known && is_first).then_some(row.line)
}

/// The transition by binary search: that of the event, or one for any event if it comes first in the document.
fn searched(index: &[Dispatch], event: EventId, from: TransitionId) -> Option<TransitionId> {
    let first = |event: EventId| {
        let place = index.partition_point(|row| *row < Dispatch { event, line: from });
        index.get(place).filter(|row| row.event == event).map(|row| row.line)
    };
    let own = first(event);
    // Transitions for any event are sorted behind all others.
    if index.last().is_none_or(|row| row.event != Dispatch::ANY) {
        return own;
    }
    let any = first(Dispatch::ANY);
    match (own, any) {
        // Document order decides between the two.
        (Some(own), Some(any)) => Some(own.min(any)),
        (own, any) => own.or(any),
    }
}

/// Whether an occurrence makes a transition a candidate; `None` stands for eventless transitions.
pub(super) fn triggers(
    tables: &Tables,
    row: &TransitionRow,
    id: TransitionId,
    occurrence: Option<Occurrence>,
) -> bool {
    let Some(occurrence) = occurrence else { return matches!(row.trigger, TriggerRow::When) };
    match row.trigger {
        TriggerRow::When => false,
        TriggerRow::Event(span) => {
            matches!(occurrence, Occurrence::Event(e) if span.of(&tables.event_pool).contains(&e))
        }
        TriggerRow::AnyEvent => matches!(occurrence, Occurrence::Event(_)),
        TriggerRow::AnyOccurrence => is_visible(occurrence),
        TriggerRow::Turn => occurrence == Occurrence::Turn,
        TriggerRow::StateDone(state) => occurrence == Occurrence::StateDone(state),
        TriggerRow::After(_) | TriggerRow::AfterTurns(_) | TriggerRow::StepTimeout(..) => {
            occurrence == Occurrence::Deadline(id)
        }
        TriggerRow::Choice(choice) => {
            occurrence == Occurrence::Choice(choice) || occurrence == Occurrence::Returned(choice)
        }
        TriggerRow::StepDone(step) => occurrence == Occurrence::StepDone(step),
        TriggerRow::StepError(step) => occurrence == Occurrence::StepError(step),
        TriggerRow::StepDoubt(step) => occurrence == Occurrence::StepDoubt(step),
        TriggerRow::StepElse(step) => occurrence == Occurrence::StepElse(step),
        TriggerRow::Error(pattern) => {
            let pattern = &tables.name_pool[pattern as usize];
            matches!(occurrence, Occurrence::Error(kind) if matches_pattern(pattern, kind.name()))
        }
        TriggerRow::LimitWarn(pattern) => {
            let pattern = &tables.name_pool[pattern as usize];
            matches!(occurrence, Occurrence::Warn(kind) if matches_pattern(pattern, kind.name()))
        }
    }
}

/// Whether the occurrence can trigger `on **` transitions. Occurrences that belong to a single transition cannot.
const fn is_visible(occurrence: Occurrence) -> bool {
    match occurrence {
        Occurrence::Event(_)
        | Occurrence::Turn
        | Occurrence::StateDone(_)
        | Occurrence::StepDone(_)
        | Occurrence::StepError(_)
        | Occurrence::StepDoubt(_)
        | Occurrence::Error(_)
        | Occurrence::Warn(_) => true,
        Occurrence::Deadline(_)
        | Occurrence::Choice(_)
        | Occurrence::Returned(_)
        | Occurrence::StepElse(_) => false,
    }
}

/// Whether a dotted pattern matches a name: `limit` and `limit.*` match `limit.calls`; `*` matches everything.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let prefix = pattern.strip_suffix(".*").unwrap_or(pattern);
    prefix == "*"
        || name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns_match_whole_tokens() {
        assert!(matches_pattern("limit.*", "limit.calls"));
        assert!(matches_pattern("limit", "limit.calls"));
        assert!(matches_pattern("*", "execution"));
        assert!(!matches_pattern("lim", "limit.calls"));
        assert!(!matches_pattern("stuck.loop", "stuck.dead"));
    }
}
