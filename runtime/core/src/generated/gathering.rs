//! Storage for the list of a step with an `each`, and for the answers of its elements.

use super::data::Failure;
use crate::arena::StepId;
use crate::expr::{FromValue, IntoValue, Value};
use crate::host::Mismatch;
use crate::machine::{Element, StepKey};
use crate::saved::Gathered;
use alloc::vec::Vec;

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
