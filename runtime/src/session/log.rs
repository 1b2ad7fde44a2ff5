//! What a machine did with an input, and where it is now.

use chartc_core::arena::{StateId, TransitionId};
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Fallback, Record, Sink, StepKey};
use chartc_core::tables::StateRowKind;
use std::cell::RefCell;
use std::mem::take;

/// One thing that a machine did.
pub(super) enum Happening {
    Effect(Effect),
    Record(Record),
    /// The next transition that is taken: the alternatives of its guard that hold.
    Held(TransitionId, u64),
}

/// What a machine did with one input, in order.
pub(super) struct Log {
    /// What came first, as long as it fits.
    first: First,
    /// What came after it.
    happenings: Vec<Happening>,
    /// Whether the next record may still belong to `first`.
    is_brief: bool,
    is_traced: bool,
}

/// Records of which the session keeps no more than their number, the transitions taken and the states touched: nobody hears of their lines.
pub(super) struct First {
    lines: u32,
    taken: [(u32, TransitionId); TAKEN],
    touched: [StateId; TOUCHED],
    /// How many there are of both.
    count: (u8, u8),
}

/// The numbers of transitions and of states for which there is room.
const TAKEN: usize = 4;
const TOUCHED: usize = 12;

thread_local! {
    /// An empty buffer for happenings.
    static BUFFER: RefCell<Vec<Happening>> = const { RefCell::new(Vec::new()) };
}

impl First {
    const NONE: Self = Self {
        lines: 0,
        taken: [(0, TransitionId(0)); TAKEN],
        touched: [StateId(0); TOUCHED],
        count: (0, 0),
    };

    /// The number of lines in a trace.
    pub(super) fn lines(&self) -> u64 {
        self.lines.into()
    }

    /// The transitions, each with the number of lines before its own.
    pub(super) fn taken(&self) -> &[(u32, TransitionId)] {
        &self.taken[..usize::from(self.count.0)]
    }

    fn touched(&self) -> &[StateId] {
        &self.touched[..usize::from(self.count.1)]
    }

    /// Adds a record, unless the session needs it in full or there is no room.
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
            Record::Turn(_)
            | Record::Started(_)
            | Record::Skipped(_)
            | Record::Done(_)
            | Record::Chosen(_)
            | Record::Unasked(_)
            | Record::Called(..)
            | Record::Returned(..)
            | Record::CallFailed(..)
            | Record::Forbidden(..)
            | Record::Retried(_)
            | Record::Failed(_)
            | Record::ElementDone(_)
            | Record::ElementLost(_)
            | Record::Fallback(..)
            | Record::Dropped(_)
            | Record::WalkEnded(_)
            | Record::Error(_)
            | Record::Warned(_)
            | Record::TurnEnded(_)
            | Record::Ended(_) => return false,
        }
        self.lines += 1;
        true
    }
}

impl Log {
    /// An empty one. `is_deaf`: nobody hears of the lines that the records become, reads the machine's notes, or wants to know why transitions are taken.
    #[inline]
    pub(super) fn new(is_deaf: bool) -> Self {
        Self { first: First::NONE, happenings: Vec::new(), is_brief: is_deaf, is_traced: !is_deaf }
    }

    /// Whether nothing came after what it has of the first records, and it was not asked for all of them.
    pub(super) fn is_brief(&self) -> bool {
        self.is_brief
    }

    /// What came first.
    pub(super) fn first(&self) -> &First {
        &self.first
    }

    /// What came after it, for [`Log::give_back`].
    pub(super) fn rest(&mut self) -> Vec<Happening> {
        take(&mut self.happenings)
    }

    /// Keeps the buffer for the next one.
    pub(super) fn give_back(mut happenings: Vec<Happening>) {
        if happenings.capacity() > 0 {
            happenings.clear();
            let _ = BUFFER.try_with(|buffer| *buffer.borrow_mut() = happenings);
        }
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
        let rest = self.happenings.iter().filter_map(|happening| match happening {
            Happening::Record(Record::Entered(state) | Record::Exited(state)) => Some(*state),
            Happening::Record(_) | Happening::Effect(_) | Happening::Held(..) => None,
        });
        self.first.touched().iter().copied().chain(rest)
    }

    fn push(&mut self, happening: Happening) {
        self.is_brief = false;
        if self.happenings.capacity() == 0 {
            let buffer = BUFFER.try_with(|buffer| take(&mut *buffer.borrow_mut()));
            self.happenings = buffer.unwrap_or_default();
        }
        self.happenings.push(happening);
    }
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.push(Happening::Effect(effect));
    }

    #[inline]
    fn record(&mut self, record: Record) {
        if !self.is_brief || !self.first.takes(record) {
            self.push(Happening::Record(record));
        }
    }

    fn asks_why(&self) -> bool {
        self.is_traced
    }

    fn takes_notes(&self) -> bool {
        self.is_traced
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.push(Happening::Held(line, alternatives));
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
