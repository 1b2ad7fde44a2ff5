//! Types and earlier names, for runs that were saved by another version of the chart.

use super::Span;
use crate::arena::{EventId, StateId, StepId};

/// A place for values, and its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRow<'t> {
    /// What has the type.
    pub of: TypedRow<'t>,
    /// The type as written, in parts, in `name_pool`. The name of a record is a part of its own.
    pub ty: Span,
}

/// What has a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedRow<'t> {
    /// A param without a default: a run must have its value.
    Param(&'t str),
    /// Any other variable.
    Variable(&'t str),
    /// The answer of a step.
    Answer(StepId),
    /// A field of an event.
    Event(EventId, &'t str),
    /// A field of a record.
    Record(&'t str, &'t str),
}

/// An earlier name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenameRow<'t> {
    /// What has a new name.
    pub what: RenamedRow<'t>,
    /// The old one; of a state without those of its ancestors.
    pub old: &'t str,
}

/// What has a new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenamedRow<'t> {
    /// A state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A variable, by its new name.
    Variable(&'t str),
}
