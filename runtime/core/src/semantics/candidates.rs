//! The candidates of a state: the transitions that an occurrence can trigger.

use crate::arena::{EventId, TransitionId};
use crate::machine::{ErrorKind, LimitKind};
use crate::store::Occurrence;
use crate::tables::{Dispatch, Reacts, Span, StateRow, Tables, TransitionRow, TriggerRow};

/// The cause of a microstep: an occurrence, or nothing for eventless transitions. Host events have a type of their own, so that the code
/// for most inputs is specialized for them.
pub(super) trait Cause: Copy {
    /// The kind of occurrence that a state must react to.
    fn kind(self) -> Reacts;
    /// The first candidate at or after `from` in a state that reacts to [`Cause::kind`].
    fn next(
        self,
        tables: &Tables<'_>,
        row: &StateRow<'_>,
        from: TransitionId,
    ) -> Option<TransitionId>;
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
    fn next(
        self,
        tables: &Tables<'_>,
        row: &StateRow<'_>,
        from: TransitionId,
    ) -> Option<TransitionId> {
        if row.index.len > 0 {
            indexed(row.index.of(tables.dispatch_pool), self, from)
        } else {
            scanned_for_event(tables, row.transitions, self, from)
        }
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

    fn next(
        self,
        tables: &Tables<'_>,
        row: &StateRow<'_>,
        from: TransitionId,
    ) -> Option<TransitionId> {
        if let Some(Occurrence::Event(event)) = self {
            event.next(tables, row, from)
        } else {
            scanned(tables, row.transitions, self, from)
        }
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
    tables: &Tables<'_>,
    lines: Span,
    event: EventId,
    from: TransitionId,
) -> Option<TransitionId> {
    // The search goes on behind the last candidate, instead of from the first transition of the state.
    let first = lines.start.max(from.0);
    let rows = tables.transitions.get(first as usize..(lines.start + lines.len) as usize)?;
    for (line, row) in (first..).zip(rows) {
        let matches = if let TriggerRow::Event(span) = row.trigger {
            let events = span.of(tables.event_pool);
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

fn scanned(
    tables: &Tables<'_>,
    lines: Span,
    occurrence: Option<Occurrence>,
    from: TransitionId,
) -> Option<TransitionId> {
    (lines.start.max(from.0)..lines.start + lines.len)
        .map(TransitionId)
        .find(|id| triggers(&tables.transitions[id.index()], *id, occurrence, tables.event_pool))
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
    row: &TransitionRow<'_>,
    id: TransitionId,
    occurrence: Option<Occurrence>,
    events: &[EventId],
) -> bool {
    let Some(occurrence) = occurrence else { return matches!(row.trigger, TriggerRow::When) };
    match row.trigger {
        TriggerRow::When => false,
        TriggerRow::Event(span) => {
            matches!(occurrence, Occurrence::Event(e) if span.of(events).contains(&e))
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
            matches!(occurrence, Occurrence::Error(kind) if matches_pattern(pattern, error_name(kind)))
        }
        TriggerRow::LimitWarn(pattern) => {
            matches!(occurrence, Occurrence::Warn(kind) if matches_pattern(pattern, limit_name(kind)))
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

const fn error_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Execution => "execution",
        ErrorKind::Livelock => "livelock",
        ErrorKind::Limit(LimitKind::Calls) => "limit.calls",
        ErrorKind::Limit(LimitKind::Turns) => "limit.turns",
        ErrorKind::Limit(LimitKind::Time) => "limit.time",
        ErrorKind::Limit(LimitKind::Tokens) => "limit.tokens",
        ErrorKind::Limit(LimitKind::Cost) => "limit.cost",
        ErrorKind::StuckDead => "stuck.dead",
        ErrorKind::StuckLoop => "stuck.loop",
    }
}

const fn limit_name(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Calls => "calls",
        LimitKind::Turns => "turns",
        LimitKind::Time => "time",
        LimitKind::Tokens => "tokens",
        LimitKind::Cost => "cost",
    }
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
