//! The types of a saved machine's values, for a comparison with another version of its chart.

use super::ProgramData;
use crate::arena::{EventId, StepId};
use crate::semantics::{Difference, Numbers, Place};
use crate::tables::{Tables, TypeRow, TypedRow};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

type Named = BTreeMap<String, String>;

/// The types of values, as written in the chart.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Types {
    variables: Named,
    /// The types of the answers of steps that are under way, or were answered in this turn.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    answers: Named,
    /// The types of the fields of events that are sent and not delivered yet.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    events: BTreeMap<String, Named>,
    /// The types of the fields of the records that the other types contain.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    records: BTreeMap<String, Named>,
}

fn text(tables: &Tables<'_>, row: &TypeRow<'_>) -> String {
    row.ty.of(tables.name_pool).concat()
}

/// The fields of each record.
fn records<'t>(tables: &'t Tables<'t>) -> BTreeMap<&'t str, Vec<(&'t str, &'t TypeRow<'t>)>> {
    let mut records: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in tables.types {
        if let TypedRow::Record(name, field) = row.of {
            records.entry(name).or_default().push((field, row));
        }
    }
    records
}

/// The records that the types of `rows` contain, directly or within other records.
fn held<'t>(
    tables: &'t Tables<'t>,
    rows: &[&'t TypeRow<'t>],
) -> BTreeMap<&'t str, Vec<(&'t str, &'t TypeRow<'t>)>> {
    let mut records = records(tables);
    let mut held = BTreeMap::new();
    let mut next: Vec<&TypeRow<'_>> = rows.to_vec();
    while let Some(row) = next.pop() {
        for part in row.ty.of(tables.name_pool) {
            if let Some(fields) = records.remove(part) {
                next.extend(fields.iter().map(|(_, row)| *row));
                held.insert(*part, fields);
            }
        }
    }
    held
}

impl Types {
    /// The types of a machine's values. `open` are the steps under way, and `sent` the events not delivered yet.
    pub(super) fn of(
        tables: &Tables<'_>,
        data: &ProgramData,
        open: &BTreeSet<StepId>,
        sent: &BTreeSet<EventId>,
    ) -> Self {
        let mut types = Self::default();
        let mut rows = Vec::new();
        let valued: BTreeSet<&str> = data.variables.iter().map(|(name, _)| name.as_str()).collect();
        let answered = data.answers.iter().map(|(id, _)| *id);
        let answered: BTreeSet<StepId> = answered.chain(open.iter().copied()).collect();
        for row in tables.types {
            match row.of {
                TypedRow::Param(name) | TypedRow::Variable(name) if valued.contains(name) => {
                    types.variables.insert(name.to_string(), text(tables, row));
                }
                TypedRow::Answer(step) if answered.contains(&step) => {
                    let name = tables.steps[step.index()].name.to_string();
                    types.answers.insert(name, text(tables, row));
                }
                TypedRow::Event(event, field) if sent.contains(&event) => {
                    let fields = types.events.entry(tables.events[event.index()].name.to_string());
                    fields.or_default().insert(field.to_string(), text(tables, row));
                }
                TypedRow::Param(_)
                | TypedRow::Variable(_)
                | TypedRow::Answer(_)
                | TypedRow::Event(..)
                | TypedRow::Record(..) => continue,
            }
            rows.push(row);
        }
        for (name, fields) in held(tables, &rows) {
            let fields = fields.iter().map(|(field, row)| (field.to_string(), text(tables, row)));
            types.records.insert(name.to_string(), fields.collect());
        }
        types
    }

    /// Adds the differences between these types and those of another version of the chart.
    pub(super) fn compare(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) {
        let tables = numbers.tables();
        // By the names that the variables have in this version.
        let variables = self.variables.iter();
        let variables: BTreeMap<&str, (&String, &String)> =
            variables.map(|(name, ty)| (numbers.variable(name), (name, ty))).collect();
        let answers = self.answers.iter();
        let answers: BTreeMap<StepId, (&String, &String)> =
            answers.filter_map(|(name, ty)| Some((numbers.step(name).ok()?, (name, ty)))).collect();
        let mut rows = Vec::new();
        for row in tables.types {
            let (place, was) = match row.of {
                TypedRow::Param(name) | TypedRow::Variable(name) => match variables.get(name) {
                    Some((_, was)) => (Place::Variable(name.to_string()), *was),
                    None => {
                        if matches!(row.of, TypedRow::Param(_)) {
                            found.push(Difference::NoDefault(name.to_string()));
                        }
                        continue;
                    }
                },
                TypedRow::Answer(step) => match answers.get(&step) {
                    Some((name, was)) => (Place::Answer((*name).clone()), *was),
                    None => continue,
                },
                TypedRow::Event(event, field) => {
                    let event = tables.events[event.index()].name;
                    let Some(fields) = self.events.get(event) else { continue };
                    let place = Place::Event(event.to_string(), field.to_string());
                    let Some(was) = fields.get(field) else {
                        found.push(Difference::NewField(place));
                        continue;
                    };
                    (place, was)
                }
                TypedRow::Record(..) => continue,
            };
            compare(place, was, &text(tables, row), found);
            rows.push(row);
        }
        for (name, fields) in held(tables, &rows) {
            let Some(before) = self.records.get(name) else { continue };
            let place = |field: &str| Place::Record(name.to_string(), field.to_string());
            for (field, row) in &fields {
                let is = text(tables, row);
                match before.get(*field) {
                    Some(was) => compare(place(field), was, &is, found),
                    // A value without the field reads as `none`, which an optional type allows.
                    None if is.ends_with('?') => {}
                    None => found.push(Difference::NewField(place(field))),
                }
            }
            let gone = before.keys().filter(|old| fields.iter().all(|(field, _)| field != old));
            found.extend(gone.map(|field| Difference::NoField(place(field))));
        }
    }
}

/// Adds a difference unless the types are equal, or the new one is the old one made optional.
fn compare(place: Place, was: &str, is: &str, found: &mut Vec<Difference>) {
    if is.strip_suffix('?').unwrap_or(is) != was && is != was {
        found.push(Difference::Type(place, was.to_string(), is.to_string()));
    }
}
