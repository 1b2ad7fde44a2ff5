//! Writes the rows of types and of earlier names, for runs that another version of the chart has saved.

use super::tables::{span, state_id};
use chartc_core::arena::{EventId, StepId};
use chartc_core::tables::{RenameRow, RenamedRow, TypeRow, TypedRow};

pub(super) fn type_row(row: &TypeRow<'_>) -> String {
    let of = match row.of {
        TypedRow::Param(name) => format!("Param({name:?})"),
        TypedRow::Variable(name) => format!("Variable({name:?})"),
        TypedRow::Answer(StepId(n)) => format!("Answer(StepId({n}))"),
        TypedRow::Event(EventId(n), field) => format!("Event(EventId({n}), {field:?})"),
        TypedRow::Record(name, field) => format!("Record({name:?}, {field:?})"),
    };
    format!("TypeRow {{ of: TypedRow::{of}, ty: {} }}", span(row.ty))
}

pub(super) fn rename(row: &RenameRow<'_>) -> String {
    let what = match row.what {
        RenamedRow::State(id) => format!("State({})", state_id(id)),
        RenamedRow::Step(StepId(n)) => format!("Step(StepId({n}))"),
        RenamedRow::Variable(name) => format!("Variable({name:?})"),
    };
    format!("RenameRow {{ what: RenamedRow::{what}, old: {:?} }}", row.old)
}
