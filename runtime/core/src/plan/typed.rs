//! Builds the rows of types and of earlier names.

use super::{Pools, span};
use crate::arena::{EventId, StepId};
use crate::model::{Chart, Renamed, StepKind, Type, TypeKind, VariableKind};
use crate::tables::{RenameRow, RenamedRow, TypeRow, TypedRow};
use alloc::vec::Vec;

/// A row for each part of the chart that holds values between two inputs.
pub(super) fn types<'c>(chart: &'c Chart, pools: &mut Pools<'c>) -> Vec<TypeRow<'c>> {
    let variables = chart.variables.iter().map(|row| {
        let is_needed = matches!(row.kind, VariableKind::Param { .. }) && row.default.is_none();
        let of = if is_needed { TypedRow::Param } else { TypedRow::Variable };
        (of(&row.name), &row.ty)
    });
    let answers = chart.steps.iter().enumerate().filter_map(|(i, row)| {
        let answers = match row.kind {
            StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(_) => true,
            StepKind::Code(_) | StepKind::Ask { .. } => false,
        };
        answers.then(|| (TypedRow::Answer(StepId::at(i)), &row.returns))
    });
    let sends = chart.send_places() > 0;
    // Only events that were sent can wait between two inputs.
    let events = chart.events.iter().enumerate().filter(|_| sends);
    let events = events.flat_map(|(i, row)| {
        row.fields
            .iter()
            .map(move |field| (TypedRow::Event(EventId::at(i), field.name.as_str()), &field.ty))
    });
    let records = chart.types.iter().flat_map(|def| {
        let fields = match &def.kind {
            TypeKind::Record(fields) => fields.as_slice(),
            TypeKind::Enum(_) => &[],
        };
        fields.iter().map(|field| (TypedRow::Record(&def.name, field.name.as_str()), &field.ty))
    });
    let all = variables.chain(answers).chain(events).chain(records);
    let rows = all.map(|(of, ty)| {
        let mut parts = Vec::new();
        put(chart, ty, &mut parts);
        TypeRow { of, ty: span(&mut pools.names, parts) }
    });
    rows.collect()
}

fn put<'c>(chart: &'c Chart, ty: &'c Type, parts: &mut Vec<&'c str>) {
    match ty {
        Type::Bool => parts.push("Bool"),
        Type::Int => parts.push("Int"),
        Type::Float => parts.push("Float"),
        Type::Text => parts.push("Text"),
        Type::Duration => parts.push("Duration"),
        Type::Json => parts.push("Json"),
        Type::List(inner) => {
            parts.push("List(");
            put(chart, inner, parts);
            parts.push(")");
        }
        Type::Map(inner) => {
            parts.push("Map(Text, ");
            put(chart, inner, parts);
            parts.push(")");
        }
        Type::Optional(inner) => {
            put(chart, inner, parts);
            parts.push("?");
        }
        Type::Named(id) => {
            parts.push(chart.types.get(id.index()).map_or("?", |def| def.name.as_str()));
        }
    }
}

/// A row for each earlier name.
pub(super) fn renames(chart: &Chart) -> Vec<RenameRow<'_>> {
    let rows = chart.renames.iter().map(|row| RenameRow {
        what: match row.what {
            Renamed::State(id) => RenamedRow::State(id),
            Renamed::Step(id) => RenamedRow::Step(id),
            Renamed::Variable(id) => RenamedRow::Variable(&chart.variables[id.index()].name),
        },
        old: &row.old,
    });
    rows.collect()
}
