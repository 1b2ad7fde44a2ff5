//! The data of a run besides the registers of the step algorithm.

use super::room::Room;
use crate::arena::{EventId, StateId, StepId};
use crate::calls::{Calls, LastResult};
use crate::expr::{EvalError, Value};
use crate::host::{self, Note, Post};
use crate::machine::Sink;
use crate::model::Chart;
use crate::program::Bound;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::{Deref, DerefMut};

/// The list of a step with an `each`, and the answers of its elements so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Gathering {
    pub(super) elements: Vec<Value>,
    pub(super) answers: Vec<Option<Value>>,
}

/// The data of one run.
pub(super) struct Data {
    /// Whether `Start` was handled.
    pub(super) begun: bool,
    /// The params, inputs and vars; `None` for one without a value yet.
    pub(super) variables: Box<[Option<Value>]>,
    /// The current event, choice or answer. Its values are in `fields`.
    pub(super) bound: Bound<()>,
    fields: Vec<Value>,
    /// The payloads of raised events that are still in the internal queue, oldest first.
    pub(super) raised: VecDeque<(EventId, Vec<Value>)>,
    /// Answers, sent events, calls and other data that most runs do not have.
    pub(super) more: Lazily<More>,
    #[allow(
        clippy::box_collection,
        reason = "it is absent most of the time, and then takes one word"
    )]
    notes: Cell<Option<Box<Vec<Note>>>>,
    is_deaf: bool,
    /// The bytes of the notes.
    noted: Cell<usize>,
    pub(super) room: Room,
}

/// The bytes of the notes of one input, above which further ones are cut.
const NOTED_BYTES: usize = 4 << 20;

/// Data that many runs never have, or not for some time.
#[derive(Default)]
pub(super) struct More {
    /// The answers of this turn, by step; empty while there are none.
    pub(super) answers: Vec<Option<Value>>,
    /// The payloads of sent events, by slot.
    pub(super) sent: Vec<Vec<Value>>,
    /// The events that were sent to other charts and not yet taken.
    pub(super) posted: Vec<Post>,
    /// The arguments with which final states were entered.
    pub(super) finals: BTreeMap<StateId, Vec<Value>>,
    /// The last result of a step or tool.
    pub(super) last_result: LastResult,
    /// The tool calls of the model.
    pub(super) calls: Calls,
    /// The lists of steps with an `each` that are under way.
    pub(super) fans: BTreeMap<StepId, Gathering>,
    /// The values of the limits that are computed from params.
    pub(super) limits: Vec<u64>,
}

impl More {
    const NOTHING: Self = Self {
        answers: Vec::new(),
        sent: Vec::new(),
        posted: Vec::new(),
        finals: BTreeMap::new(),
        last_result: LastResult::NONE,
        calls: Calls::new(),
        fans: BTreeMap::new(),
        limits: Vec::new(),
    };
}

impl More {
    /// Stores the answer of a step. The chart has `steps` steps.
    pub(super) fn keep_answer(&mut self, step: StepId, steps: usize, answer: Value) {
        self.answers.resize(steps, None);
        if let Some(place) = self.answers.get_mut(step.index()) {
            *place = Some(answer);
        }
    }
}

impl Nothing for More {
    fn nothing() -> &'static Self {
        static NOTHING: More = More::NOTHING;
        &NOTHING
    }

    fn is_nothing(&self) -> bool {
        let Self { answers, sent, posted, finals, last_result, calls, fans, limits } = self;
        answers.is_empty()
            && sent.is_empty()
            && posted.is_empty()
            && finals.is_empty()
            && *last_result == LastResult::NONE
            && *calls == Calls::new()
            && fans.is_empty()
            && limits.is_empty()
    }
}

impl Clone for More {
    /// A copy without the events for other charts.
    fn clone(&self) -> Self {
        Self {
            answers: self.answers.clone(),
            sent: self.sent.clone(),
            posted: Vec::new(),
            finals: self.finals.clone(),
            last_result: self.last_result.clone(),
            calls: self.calls.clone(),
            fans: self.fans.clone(),
            limits: self.limits.clone(),
        }
    }

    fn clone_from(&mut self, kept: &Self) {
        self.answers.resize(kept.answers.len(), None);
        put_values(&mut self.answers, &kept.answers);
        self.sent.clone_from(&kept.sent);
        self.posted.clear();
        // Cloning an empty map is not free, and these are empty most of the time.
        if !self.finals.is_empty() || !kept.finals.is_empty() {
            self.finals.clone_from(&kept.finals);
        }
        self.last_result.clone_from(&kept.last_result);
        if self.calls != kept.calls {
            self.calls.clone_from(&kept.calls);
        }
        if !self.fans.is_empty() || !kept.fans.is_empty() {
            self.fans.clone_from(&kept.fans);
        }
        self.limits.clone_from(&kept.limits);
    }
}

impl Data {
    pub(super) fn new(chart: &Chart) -> Self {
        Self {
            begun: false,
            variables: alloc::vec![None; chart.variables.len()].into(),
            bound: Bound::Nothing,
            fields: Vec::new(),
            raised: VecDeque::new(),
            more: Lazily::new(),
            notes: Cell::new(None),
            is_deaf: false,
            noted: Cell::new(0),
            room: Room::default(),
        }
    }

    /// The same data, counted in another room.
    pub(super) fn with_room(self, room: Room) -> Self {
        Self { room, ..self }
    }

    /// Makes room for values that are about to be stored.
    ///
    /// # Errors
    /// The data of the run would exceed its bound.
    #[inline]
    pub(super) fn make_room(&mut self, values: &[Value]) -> Result<(), EvalError> {
        let bytes = values.iter().map(Value::bytes).sum();
        if bytes == 0 || self.room.add(bytes) {
            return Ok(());
        }
        // Taken out, because the rest of the data is measured meanwhile.
        let mut room = core::mem::take(&mut self.room);
        let made = room.make(bytes, || self.bytes());
        self.room = room;
        made
    }

    /// The bytes of all values.
    fn bytes(&self) -> usize {
        let all = |values: &[Value]| values.iter().map(Value::bytes).sum::<usize>();
        let some =
            |values: &[Option<Value>]| values.iter().flatten().map(Value::bytes).sum::<usize>();
        let Self { variables, raised, more, .. } = self;
        let More { answers, sent, posted, finals, last_result, fans, .. } = &**more;
        let lists = raised.iter().map(|(_, values)| values);
        let lists = lists.chain(sent).chain(finals.values());
        let lists = lists.chain(posted.iter().map(|post| &post.payload));
        let fans = fans.values().map(|fan| all(&fan.elements) + some(&fan.answers));
        some(variables)
            + all(self.payloads())
            + lists.map(|values| all(values)).sum::<usize>()
            + some(answers)
            + last_result.text.len()
            + fans.sum::<usize>()
    }

    /// A copy without notes.
    pub(super) fn kept(&self) -> Self {
        Self {
            begun: self.begun,
            variables: self.variables.clone(),
            bound: self.bound.clone(),
            fields: self.fields.clone(),
            raised: self.raised.clone(),
            more: self.more.clone(),
            notes: Cell::new(None),
            is_deaf: false,
            noted: Cell::new(0),
            room: Room::default(),
        }
    }

    /// Replaces this data by a stored copy, and reuses its memory.
    pub(super) fn go_to(&mut self, kept: &Self) {
        self.begun = kept.begun;
        put_values(&mut self.variables, &kept.variables);
        self.bound.clone_from(&kept.bound);
        self.fields.clone_from(&kept.fields);
        self.raised.clone_from(&kept.raised);
        self.more.clone_from(&kept.more);
        self.notes.set(None);
    }

    /// Sets the current event, choice or answer. The arguments and results of tools are not stored, because expressions do not read them.
    #[inline(always)]
    pub(super) fn bind(&mut self, bound: Bound<Vec<Value>>) {
        let (bound, fields) = match bound {
            Bound::Nothing => (Bound::Nothing, Vec::new()),
            Bound::Event(event, fields) => (Bound::Event(event, ()), fields),
            Bound::Answer(step, fields) => (Bound::Answer(step, ()), fields),
            Bound::Reason(step, fields) => (Bound::Reason(step, ()), fields),
            Bound::Choice(choice, fields) => (Bound::Choice(choice, ()), fields),
            Bound::Call(caller, tool, fields) => (Bound::Call(caller, tool, ()), fields),
            Bound::Returned(caller, choice, _) => (Bound::Returned(caller, choice, ()), Vec::new()),
            Bound::CallFailed(caller, _) => (Bound::CallFailed(caller, ()), Vec::new()),
            Bound::Refused(caller) => (Bound::Refused(caller), Vec::new()),
        };
        self.bound = bound;
        if self.fields.capacity() > 0 || fields.capacity() > 0 {
            self.fields = fields;
        } else {
            // Neither vector has memory, so there is nothing to drop. This is the usual case, because most events have no data.
            core::mem::forget(fields);
        }
    }

    /// The values of the current event, choice or answer.
    #[inline]
    pub(super) fn payloads(&self) -> &[Value] {
        &self.fields
    }

    /// The value with this index of the current event, choice or answer.
    pub(super) fn payload(&self, nth: u32) -> Option<&Value> {
        self.fields.get(nth as usize)
    }

    /// Takes the payload of a sent event out of its slot.
    pub(super) fn take_sent(&mut self, slot: usize) -> Vec<Value> {
        let more = self.more.written();
        let place = more.and_then(|more| more.sent.get_mut(slot));
        place.map(core::mem::take).unwrap_or_default()
    }

    /// Moves the payload of the current event into a slot.
    pub(super) fn keep_sent(&mut self, slot: usize) {
        let payload = core::mem::take(&mut self.fields);
        self.bound = Bound::Nothing;
        self.put_sent(slot, payload);
    }

    /// Stores the payload of a sent event in a slot.
    pub(super) fn put_sent(&mut self, slot: usize, payload: Vec<Value>) {
        let sent = &mut self.more.sent;
        sent.resize_with(sent.len().max(slot + 1), Vec::new);
        sent[slot] = payload;
    }

    /// Called when an input begins. Until the next input, notes are kept only if `sink` takes them.
    pub(super) fn heed(&mut self, sink: &dyn Sink) {
        self.is_deaf = !sink.takes_notes();
    }

    /// Adds a note. If nobody takes notes, it is not built.
    pub(super) fn note<N: Into<Note>>(&self, note: impl FnOnce() -> N) {
        if !self.is_deaf {
            self.keep_note(note().into());
        }
    }

    /// Adds a note, even if nobody takes notes.
    pub(super) fn keep_note(&self, mut note: Note) {
        let noted = self.noted.get().saturating_add(note.text.len());
        if noted > NOTED_BYTES {
            let end = (0..=200).rev().find(|end| note.text.is_char_boundary(*end)).unwrap_or(0);
            note.text.truncate(end);
            note.text.push_str("… (cut: there are too many long notes)");
        } else {
            self.noted.set(noted);
        }
        let mut notes = self.notes.take().unwrap_or_default();
        host::note(&mut notes, note);
        self.notes.set(Some(notes));
    }

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        self.noted.set(0);
        self.notes.take().map_or_else(Vec::new, |notes| *notes)
    }
}

/// Replaces the values in `to`, and reuses the memory of texts.
fn put_values(to: &mut [Option<Value>], from: &[Option<Value>]) {
    for (to, from) in to.iter_mut().zip(from) {
        // The derived `Clone` of `Value` does not reuse memory, but that of a text does.
        if let (Some(Value::Text(to)), Some(Value::Text(from))) = (&mut *to, from) {
            to.clone_from(from);
        } else {
            to.clone_from(from);
        }
    }
}

// Data that takes no memory until it is first written.

/// A type with an empty value that can be shared.
pub(super) trait Nothing: Default + 'static {
    /// The empty value.
    fn nothing() -> &'static Self;
    /// Whether this is the empty value.
    fn is_nothing(&self) -> bool;
}

/// A value that reads as the empty one until it is first written.
pub(super) struct Lazily<T>(Option<Box<T>>);

impl<T> Lazily<T> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Changes the value if it was written before; an empty value stays empty.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut T)) {
        if let Some(written) = self.written() {
            change(written);
        }
    }

    /// The value, mutable; `None` if it was never written.
    pub(super) fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Nothing> Lazily<T> {
    /// Stores a value, without memory if it is empty.
    pub(super) fn of(written: T) -> Self {
        Self((!written.is_nothing()).then(|| Box::new(written)))
    }
}

impl<T: Nothing> Deref for Lazily<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(written) => written,
            None => T::nothing(),
        }
    }
}

impl<T: Nothing> DerefMut for Lazily<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Clone> Clone for Lazily<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

// The lists of steps with an `each`, and the answers for their elements.
