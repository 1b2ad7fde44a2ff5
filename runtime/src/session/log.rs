//! The log of what a machine did with an input, and the active leaves of a machine.

use chartc_core::arena::{StateId, TransitionId};
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Fallback, Record, Sink, StepKey};
use chartc_core::tables::StateRowKind;
use std::cell::RefCell;
use std::mem::take;

/// An effect or a record of a machine.
pub(super) enum Output {
    Effect(Effect),
    Record(Record),
    /// The alternatives of a transition's guard that hold, as a bit mask. The record of the transition follows.
    Held(TransitionId, u64),
}

/// Everything that a machine did with one input, in order.
pub(super) struct Log {
    /// The first records, in a compact form.
    first: First,
    /// Everything after these records.
    outputs: Vec<Output>,
    /// Whether the next record may still be added to `first`.
    is_brief: bool,
    is_traced: bool,
}

/// The compact form of the first records, used if nobody reads the trace: the number of lines, the transitions that were taken, and the
/// states that were entered or exited. Most inputs fit into it, and then nothing is allocated.
pub(super) struct First {
    lines: u32,
    taken: [(u32, TransitionId); TAKEN],
    touched: [StateId; TOUCHED],
    /// The lengths of `taken` and `touched`.
    count: (u8, u8),
}

/// The maximum number of transitions and of states in a [`First`].
const TAKEN: usize = 4;
const TOUCHED: usize = 12;

thread_local! {
    /// An empty buffer that the logs of this thread reuse.
    static BUFFER: RefCell<Vec<Output>> = const { RefCell::new(Vec::new()) };
}

impl First {
    const NONE: Self = Self {
        lines: 0,
        taken: [(0, TransitionId(0)); TAKEN],
        touched: [StateId(0); TOUCHED],
        count: (0, 0),
    };

    /// The number of lines that these records have in a trace.
    pub(super) fn lines(&self) -> u64 {
        self.lines.into()
    }

    /// The transitions that were taken, each with the number of lines that precede its own.
    pub(super) fn taken(&self) -> &[(u32, TransitionId)] {
        &self.taken[..usize::from(self.count.0)]
    }

    fn touched(&self) -> &[StateId] {
        &self.touched[..usize::from(self.count.1)]
    }

    /// Adds a record. Returns false if the session needs the record in full, or if there is no room.
    #[inline]
    fn takes(&mut self, record: Record) -> bool {
        match record {
            Record::Taken(line) => {
                let Some(place) = self.taken.get_mut(usize::from(self.count.0)) else {
                    return false;
                };
                *place = (self.lines, line);
                self.count.0 += 1;
            }
            Record::Exited(state) | Record::Entered(state) => {
                let Some(place) = self.touched.get_mut(usize::from(self.count.1)) else {
                    return false;
                };
                *place = state;
                self.count.1 += 1;
            }
            Record::Event(_)
            | Record::Sent(..)
            | Record::Delivered(_)
            | Record::Posted(..)
            | Record::Undelivered(..)
            | Record::SendCanceled(_)
            | Record::Refused(_)
            | Record::Lost(..)
            | Record::Denied(_) => {}
            _ => return false,
        }
        self.lines += 1;
        true
    }
}

impl Log {
    /// Creates an empty log. With `is_deaf`, nobody reads the trace, the machine's notes, or the reasons of transitions.
    #[inline]
    pub(super) fn new(is_deaf: bool) -> Self {
        Self { first: First::NONE, outputs: Vec::new(), is_brief: is_deaf, is_traced: !is_deaf }
    }

    /// Whether everything that happened is in [`Log::first`].
    pub(super) fn is_brief(&self) -> bool {
        self.is_brief
    }

    /// The first records, in a compact form.
    pub(super) fn first(&self) -> &First {
        &self.first
    }

    /// Takes everything after [`Log::first`]. [`Log::give_back`] returns the buffer.
    pub(super) fn rest(&mut self) -> Vec<Output> {
        take(&mut self.outputs)
    }

    /// Keeps the buffer for the next log.
    pub(super) fn give_back(mut outputs: Vec<Output>) {
        if outputs.capacity() > 0 {
            outputs.clear();
            let _ = BUFFER.try_with(|buffer| *buffer.borrow_mut() = outputs);
        }
    }

    /// Whether the machine has accepted the answer to a step. A machine that finds an answer unfit continues as if there were none.
    pub(super) fn accepts(&self, key: StepKey) -> bool {
        self.outputs.iter().any(|happening| match happening {
            Output::Record(Record::Done(step) | Record::Fallback(step, Fallback::Stale)) => {
                *step == key.step
            }
            Output::Record(
                Record::Dropped(k)
                | Record::Called(k, ..)
                | Record::Returned(k, _)
                | Record::CallFailed(k, _)
                | Record::Forbidden(k, _)
                | Record::ElementDone(k),
            ) => *k == key,
            Output::Record(Record::Chosen(_)) => true,
            Output::Record(_) | Output::Effect(_) | Output::Held(..) => false,
        })
    }

    /// The states that were entered or exited, in order.
    pub(super) fn touched(&self) -> impl Iterator<Item = StateId> + '_ {
        let rest = self.outputs.iter().filter_map(|happening| match happening {
            Output::Record(Record::Entered(state) | Record::Exited(state)) => Some(*state),
            Output::Record(_) | Output::Effect(_) | Output::Held(..) => None,
        });
        self.first.touched().iter().copied().chain(rest)
    }

    fn push(&mut self, happening: Output) {
        self.is_brief = false;
        if self.outputs.capacity() == 0 {
            let buffer = BUFFER.try_with(|buffer| take(&mut *buffer.borrow_mut()));
            self.outputs = buffer.unwrap_or_default();
        }
        self.outputs.push(happening);
    }
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.push(Output::Effect(effect));
    }

    #[inline]
    fn record(&mut self, record: Record) {
        if !self.is_brief || !self.first.takes(record) {
            self.push(Output::Record(record));
        }
    }

    fn asks_why(&self) -> bool {
        self.is_traced
    }

    fn takes_notes(&self) -> bool {
        self.is_traced
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.push(Output::Held(line, alternatives));
    }
}

/// The active leaves of a machine: the dotted path and the declared name of each.
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
