//! What a machine did with an input, and where it is now.

use chartc_core::arena::{StateId, TransitionId};
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Fallback, Record, Sink, StepKey};
use chartc_core::tables::StateRowKind;

/// One thing that a machine did.
pub(super) enum Happening {
    Effect(Effect),
    Record(Record),
    /// The next transition that is taken: the alternatives of its guard that hold.
    Held(TransitionId, u64),
}

/// What a machine did with one input, in order.
pub(super) struct Log {
    pub(super) happenings: Vec<Happening>,
    is_traced: bool,
}

impl Log {
    /// Written into an empty list. `is_traced`: somebody reads why transitions are taken, and the machine's notes.
    pub(super) fn new(happenings: Vec<Happening>, is_traced: bool) -> Self {
        Self { happenings, is_traced }
    }

    /// Whether the machine took an answer for one: a machine may judge that it does not fit, and go on as after no answer.
    pub(super) fn accepts(&self, key: StepKey) -> bool {
        self.happenings.iter().any(|happening| match happening {
            Happening::Record(Record::Done(step) | Record::Fallback(step, Fallback::Stale)) => {
                *step == key.step
            }
            Happening::Record(
                Record::Dropped(k)
                | Record::Called(k, ..)
                | Record::Returned(k, _)
                | Record::CallFailed(k, _)
                | Record::Forbidden(k, _)
                | Record::ElementDone(k),
            ) => *k == key,
            Happening::Record(Record::Chosen(_)) => true,
            Happening::Record(_) | Happening::Effect(_) | Happening::Held(..) => false,
        })
    }

    /// The states that were entered or left.
    pub(super) fn touched(&self) -> impl Iterator<Item = StateId> + '_ {
        self.happenings.iter().filter_map(|happening| match happening {
            Happening::Record(Record::Entered(state) | Record::Exited(state)) => Some(*state),
            Happening::Record(_) | Happening::Effect(_) | Happening::Held(..) => None,
        })
    }
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.happenings.push(Happening::Effect(effect));
    }

    fn record(&mut self, record: Record) {
        self.happenings.push(Happening::Record(record));
    }

    fn asks_why(&self) -> bool {
        self.is_traced
    }

    fn takes_notes(&self) -> bool {
        self.is_traced
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.happenings.push(Happening::Held(line, alternatives));
    }
}

/// The active basic states of a machine: dotted path, and own name as written.
pub(crate) fn basic_states(machine: &dyn Machine) -> Vec<(String, String)> {
    let tables = machine.tables();
    let active = |i: usize| machine.is_active(StateId::at(i));
    let rows = tables.states.iter().enumerate();
    rows.filter(|(i, row)| {
        matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_)) && active(*i)
    })
    .map(|(i, row)| {
        let parent = tables.states[row.parent.index()].path;
        let name = match row.path.strip_prefix(parent) {
            _ if i == 0 => tables.name,
            Some(rest) if !parent.is_empty() => rest.strip_prefix('.').unwrap_or(rest),
            Some(_) | None => row.path,
        };
        (row.path.to_owned(), name.to_owned())
    })
    .collect()
}
