//! What a machine did with an input, and where it is now.

use chartc_core::arena::StateId;
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Fallback, Record, Sink, StepKey};
use chartc_core::tables::StateRowKind;

/// One thing that a machine did.
pub(super) enum Happening {
    Effect(Effect),
    Record(Record),
}

/// What a machine did with one input, in order.
#[derive(Default)]
pub(super) struct Log(pub(super) Vec<Happening>);

impl Log {
    /// Whether the machine took an answer for one: a machine may judge that it does not fit, and go on as after no answer.
    pub(super) fn accepts(&self, key: StepKey) -> bool {
        self.0.iter().any(|happening| match happening {
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
            Happening::Record(_) | Happening::Effect(_) => false,
        })
    }

    /// The states that were entered or left.
    pub(super) fn touched(&self) -> impl Iterator<Item = StateId> + '_ {
        self.0.iter().filter_map(|happening| match happening {
            Happening::Record(Record::Entered(state) | Record::Exited(state)) => Some(*state),
            Happening::Record(_) | Happening::Effect(_) => None,
        })
    }
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.0.push(Happening::Effect(effect));
    }

    fn record(&mut self, record: Record) {
        self.0.push(Happening::Record(record));
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
