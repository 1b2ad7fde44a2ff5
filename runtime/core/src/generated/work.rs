//! What a generated machine keeps beside the data of its chart: the work that loops may still do, notes for the trace of its host, and the
//! lists of steps with an `each`.

use super::{Box, Failure, Vec, fails};
use crate::arena::StepId;
use crate::expr::{FromValue, Fuel, IntoValue, Value};
use crate::host::{self, Mismatch, Note};
use crate::machine::{Element, Sink, StepKey};
use crate::saved::Gathered;
use core::cell::Cell;

/// The work that loops may still do, in nodes of expressions: within this input, and within the current block or condition. The bounds are
/// those of [`Fuel`]. A loop pays for all its iterations when it begins.
#[derive(Debug, Clone)]
pub struct Work {
    input: Cell<u64>,
    evaluation: Cell<u64>,
}

impl Work {
    /// The full budget.
    pub const fn new() -> Self {
        Self { input: Cell::new(Fuel::INPUT), evaluation: Cell::new(Fuel::USUAL) }
    }

    /// Refills both budgets. Called when an input begins.
    pub fn refuel(&self) {
        self.input.set(Fuel::INPUT);
        self.begin();
    }

    /// Refills the budget of a block or condition, from that of the input. Called when a block or condition begins.
    pub fn begin(&self) {
        self.evaluation.set(self.input.get().clamp(Fuel::LEAST, Fuel::USUAL));
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

/// Pays for a loop over these elements, each of which costs `nodes` nodes, and returns them.
///
/// # Errors
/// The budget does not suffice.
pub fn over<T>(elements: Vec<T>, nodes: u64, work: &Work) -> Result<Vec<T>, Failure> {
    let units = (elements.len() as u64).saturating_mul(nodes);
    // Charged even if the evaluation fails below, so that a loop which is too long cannot be tried again and again.
    work.input.set(work.input.get().saturating_sub(units));
    match work.evaluation.get().checked_sub(units) {
        Some(left) => {
            work.evaluation.set(left);
            Ok(elements)
        }
        None => {
            work.evaluation.set(0);
            fails("too much work or data in one evaluation")
        }
    }
}

// Notes.

/// The notes that the host has not taken yet.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    #[allow(
        clippy::box_collection,
        reason = "it is absent most of the time, and then takes one word"
    )]
    kept: Option<Box<Vec<Note>>>,
    is_deaf: bool,
}

impl Notes {
    /// No notes.
    pub const fn new() -> Self {
        Self { kept: None, is_deaf: false }
    }

    /// Called when an input begins. Until the next input, notes are kept only if the sink takes them.
    #[inline]
    pub fn heed<S: Sink + ?Sized>(&mut self, sink: &S) {
        self.is_deaf = !sink.takes_notes();
    }

    /// Adds a note. If nobody takes notes, it is not built.
    #[inline]
    pub(crate) fn add(&mut self, note: impl FnOnce() -> Note) {
        if !self.is_deaf {
            self.keep(note());
        }
    }

    /// Adds a note, even if nobody takes notes.
    pub(crate) fn keep(&mut self, note: Note) {
        host::note(self.kept.get_or_insert_default(), note);
    }

    /// Takes all notes.
    pub fn take(&mut self) -> Vec<Note> {
        self.kept.take().map_or_else(Vec::new, |notes| *notes)
    }
}

// Lists of steps with an `each`.

/// The elements of a step with an `each` and their answers. Empty while the step is not under way.
#[derive(Debug, Clone)]
pub struct Gathering<E, A> {
    elements: Vec<E>,
    answers: Vec<Option<A>>,
}

impl<E, A> Gathering<E, A> {
    /// No elements.
    pub const fn new() -> Self {
        Self { elements: Vec::new(), answers: Vec::new() }
    }

    /// Stores the list, and returns the number of elements.
    pub fn begin(&mut self, elements: Vec<E>) -> u32 {
        self.answers.clear();
        self.answers.resize_with(elements.len(), || None);
        self.elements = elements;
        u32::try_from(self.elements.len()).unwrap_or(u32::MAX)
    }

    /// The element that an attempt is for.
    ///
    /// # Errors
    /// The step is not under way, or has no such element.
    pub fn element(&self, key: StepKey) -> Result<E, Failure>
    where
        E: Clone,
    {
        let element = key.element.and_then(|element| self.elements.get(element.index() as usize));
        element.cloned().ok_or_else(|| Failure("a local that has no value here".into()))
    }

    /// Stores the answer of an element.
    pub fn done(&mut self, element: Element, answer: A) {
        if let Some(place) = self.answers.get_mut(element.index() as usize) {
            *place = Some(answer);
        }
    }

    /// Takes the answers, in the order of the elements.
    pub fn take(&mut self) -> impl Iterator<Item = Option<A>> + use<E, A> {
        self.elements.clear();
        core::mem::take(&mut self.answers).into_iter()
    }

    /// The elements and answers as values; `None` if the step is not under way.
    pub fn saved(&self, step: StepId) -> Option<Gathered>
    where
        E: IntoValue + Clone,
        A: IntoValue + Clone,
    {
        // A step with an empty list ends at once, so an empty store means that the step is not under way.
        if self.elements.is_empty() {
            return None;
        }
        let elements = self.elements.iter().cloned().map(IntoValue::into_value).collect();
        let answers = self.answers.iter().cloned();
        Some((step, elements, answers.map(|one| one.map(IntoValue::into_value)).collect()))
    }

    /// Restores a step that is under way, from values.
    ///
    /// # Errors
    /// A value does not fit its type.
    pub fn of(elements: Vec<Value>, answers: Vec<Option<Value>>) -> Result<Self, Mismatch>
    where
        E: FromValue,
        A: FromValue,
    {
        let elements = elements.into_iter().map(E::from_value).collect::<Result<Vec<_>, _>>()?;
        let answers = answers.into_iter().map(|one| one.map(A::from_value).transpose());
        Ok(Self { elements, answers: answers.collect::<Result<Vec<_>, _>>()? })
    }

    /// Drops the list and the answers.
    pub fn forget(&mut self) {
        *self = Self::new();
    }
}

impl<E, A> Default for Gathering<E, A> {
    fn default() -> Self {
        Self::new()
    }
}
