//! Rows of types and of earlier names, for runs that another version of the chart has saved.

use super::Span;
use crate::arena::{EventId, StateId, StepId};

/// The declared type of a part of the chart that holds values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRow<'t> {
    /// The part that has the type.
    pub of: TypedRow<'t>,
    /// The type as written, in parts, in `name_pool`. The name of a record is one part.
    pub ty: Span,
}

/// A part of a chart that has a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedRow<'t> {
    /// A param without a default, whose value a run must have.
    Param(&'t str),
    /// Any other variable, by name.
    Variable(&'t str),
    /// The answer of a step.
    Answer(StepId),
    /// A field of an event: the event, the field.
    Event(EventId, &'t str),
    /// A field of a record: the record, the field.
    Record(&'t str, &'t str),
}

/// The earlier name of a part of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenameRow<'t> {
    /// The part that was renamed.
    pub what: RenamedRow<'t>,
    /// The earlier name. For a state, without the names of its ancestors.
    pub old: &'t str,
}

/// A part of a chart that was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenamedRow<'t> {
    /// A state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A variable, by its new name.
    Variable(&'t str),
}
