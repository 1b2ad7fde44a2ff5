//! Which lines of a state an occurrence makes candidates.

use crate::arena::{EventId, StateId, TransitionId};
use crate::machine::{ErrorKind, LimitKind};
use crate::store::Occurrence;
use crate::tables::{Dispatch, Reacts, Span, Tables, TransitionRow, TriggerRow};

/// What states must react to for an occurrence (`None`: none) to trigger anything.
#[inline]
pub(super) const fn kind(occurrence: Option<Occurrence>) -> Reacts {
    match occurrence {
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

/// The first line of `state` from `from` on that the occurrence makes a candidate.
#[inline]
pub(super) fn next(
    tables: &Tables<'_>,
    state: StateId,
    occurrence: Option<Occurrence>,
    from: TransitionId,
) -> Option<TransitionId> {
    let row = &tables.states[state.index()];
    if !row.here.meets(kind(occurrence)) {
        return None;
    }
    let Some(Occurrence::Event(event)) = occurrence else {
        return scanned(tables, row.transitions, occurrence, from);
    };
    if row.index.len > 0 {
        indexed(row.index.of(tables.dispatch_pool), event, from)
    } else {
        scanned_for_event(tables, row.transitions, event, from)
    }
}

/// As [`scanned`] for an event.
#[inline]
fn scanned_for_event(
    tables: &Tables<'_>,
    lines: Span,
    event: EventId,
    from: TransitionId,
) -> Option<TransitionId> {
    let first = lines.start.max(from.0);
    let rows = tables.transitions.get(first as usize..(lines.start + lines.len) as usize)?;
    for (line, row) in (first..).zip(rows) {
        let matches = if let TriggerRow::Event(span) = row.trigger {
            span.of(tables.event_pool).contains(&event)
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

/// The same from an index.
#[inline]
fn indexed(index: &[Dispatch], event: EventId, from: TransitionId) -> Option<TransitionId> {
    let first = |event: EventId| {
        let place = index.partition_point(|row| *row < Dispatch { event, line: from });
        index.get(place).filter(|row| row.event == event).map(|row| row.line)
    };
    let own = first(event);
    // Lines for any event are sorted last.
    if index.last().is_none_or(|row| row.event != Dispatch::ANY) {
        return own;
    }
    let any = first(Dispatch::ANY);
    match (own, any) {
        (Some(own), Some(any)) => Some(own.min(any)),
        (own, any) => own.or(any),
    }
}

/// Whether an occurrence (`None`: none) makes the line a candidate.
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

/// Whether a line of any state can be `on` it: not what belongs to one line alone.
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

/// Dotted-prefix match: `limit` and `limit.*` match `limit.calls`; `*` matches all.
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
        ErrorKind::StuckDead => "stuck.dead",
        ErrorKind::StuckLoop => "stuck.loop",
    }
}

const fn limit_name(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Calls => "calls",
        LimitKind::Turns => "turns",
        LimitKind::Time => "time",
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
