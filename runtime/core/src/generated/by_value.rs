//! Converts the events, options, tools and data of a chart from and to values, for hosts that know the chart by names.

use super::chart::{Chart, Field, FieldVisitor, Named, Steps};
use super::{Given, Item, String, Values, Vec, no_input, no_row};
use crate::arena::{ChoiceId, EventId, ToolId};
use crate::expr::{Map, Value};
use crate::host::Mismatch;
use crate::saved::{ProgramData, Saved, Unfit};
use crate::tables::{Span, Text};
use alloc::borrow::Cow;

/// The names of the fields in this part of the pool.
fn names<C: Chart>(fields: Span) -> &'static [Text] {
    let pool: &'static [Text] = &C::TABLES.name_pool;
    fields.of(pool)
}

/// The event of a row, with its data.
///
/// # Errors
/// The values do not fit, or there is no such event.
pub fn event<C: Chart>(id: EventId, values: Vec<Value>) -> Result<C::Event, Mismatch> {
    let Some(row) = C::TABLES.events.get(id.index()) else {
        return Err(no_row("event", id.0));
    };
    C::Event::read(id.0, &mut Values::new(Some(&row.name), names::<C>(row.fields), values)?)
}

/// The option of a row, with its arguments.
///
/// # Errors
/// The values do not fit, there is no such option, or it is a tool, which is called and not chosen.
pub(super) fn choice<C: Chart>(id: ChoiceId, values: Vec<Value>) -> Result<C::Choice, Mismatch> {
    let Some(row) = C::TABLES.choices.get(id.index()) else {
        return Err(no_row("option", id.0));
    };
    if row.tools.is_some() {
        return Err(Mismatch("a tool is called, not chosen".into()));
    }
    C::Choice::read(id.0, &mut Values::new(None, names::<C>(row.fields), values)?)
}

/// The arguments of a tool, each as its declared type.
///
/// # Errors
/// The values do not fit, or there is no such tool.
pub(super) fn tool<C: Steps>(id: ToolId, values: Vec<Value>) -> Result<Vec<Value>, Mismatch> {
    let Some(row) = C::TABLES.tools.get(id.index()) else { return Err(no_row("tool", id.0)) };
    C::tool(id, &mut Values::new(None, names::<C>(row.fields), values)?)
}

/// The arguments of a tool, with their types.
pub(super) fn arguments<C: Steps>(tool: ToolId) -> Vec<(Cow<'static, str>, Cow<'static, str>)> {
    let names = names::<C>(C::TABLES.tools[tool.index()].fields).iter();
    let types = C::WORDS.tool_types.get(tool.index()).copied().unwrap_or_default();
    names.zip(types).map(|(name, ty)| (name.into(), (*ty).into())).collect()
}

/// The name of an event, and its data by name.
pub(super) fn data_of<C: Chart>(event: C::Event) -> (&'static str, Map) {
    let row: &'static crate::tables::EventRow =
        &C::TABLES.events[super::Name::row(event.named()) as usize];
    let names = names::<C>(row.fields).iter().map(String::from);
    (&row.name, names.zip(event.into_values()).collect())
}

/// Sets one input.
struct Input<'n> {
    name: &'n str,
    value: Option<Value>,
    found: Result<(), Mismatch>,
}

impl FieldVisitor for Input<'_> {
    fn param(&mut self, _: &'static str, _: &mut dyn Field) {}

    fn input(&mut self, name: &'static str, field: &mut dyn Field) {
        if name == self.name
            && let Some(value) = self.value.take()
        {
            self.found = field.set(value);
        }
    }

    fn variable(&mut self, _: &'static str, _: &mut dyn Field) {}
}

pub(super) fn set_input<C: Named>(
    data: &mut C::Data,
    name: &str,
    value: Value,
) -> Result<(), Mismatch> {
    let mut input = Input { name, value: Some(value), found: Ok(()) };
    C::fields(data, &mut input);
    if input.value.is_some() { Err(no_input(name)) } else { input.found }
}

/// Collects all values that are known.
struct Known(Vec<(String, Option<Value>)>);

impl FieldVisitor for Known {
    fn param(&mut self, name: &'static str, field: &mut dyn Field) {
        self.0.push((name.into(), field.get()));
    }

    fn input(&mut self, name: &'static str, field: &mut dyn Field) {
        self.param(name, field);
    }

    fn variable(&mut self, name: &'static str, field: &mut dyn Field) {
        self.param(name, field);
    }
}

fn known<C: Named>(data: &C::Data) -> Vec<(String, Option<Value>)> {
    let mut known = Known(Vec::new());
    // FieldVisitor are shown to be changed, too, so they are those of a copy here.
    C::fields(&mut data.clone(), &mut known);
    known.0
}

pub(super) fn variables<C: Named>(data: &C::Data) -> Vec<(String, Value)> {
    known::<C>(data).into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
}

pub(super) fn saved<C: Named>(data: &C::Data, begun: bool) -> ProgramData {
    let known = known::<C>(data).into_iter();
    let variables = known.filter_map(|(name, value)| Some((name, value?))).collect();
    ProgramData { begun, variables, ..ProgramData::default() }
}

/// Puts back the inputs and variables of a saved machine.
struct Loaded(Vec<(String, Value)>, Result<(), Unfit>);

impl FieldVisitor for Loaded {
    // The data is made of the params.
    fn param(&mut self, _: &'static str, _: &mut dyn Field) {}

    fn input(&mut self, name: &'static str, field: &mut dyn Field) {
        let given = self.0.iter_mut().find(|(given, _)| *given == name);
        if let Some((_, value)) = given
            && let Err(Mismatch(why)) = field.set(core::mem::take(value))
            && self.1.is_ok()
        {
            self.1 = Err(Unfit::Data(alloc::format!("`{name}`: {why}")));
        }
    }

    fn variable(&mut self, name: &'static str, field: &mut dyn Field) {
        self.input(name, field);
    }
}

pub(super) fn loaded<C: Named>(saved: &Saved, given: &mut ProgramData) -> Result<C::Data, Unfit> {
    let mut params = Given::saved(saved);
    params.begin(C::TABLES)?;
    let params = C::params(&mut params).map_err(|Mismatch(why)| Unfit::Data(why))?;
    let mut data = C::first(params)?;
    let mut loaded = Loaded(core::mem::take(&mut given.variables), Ok(()));
    C::fields(&mut data, &mut loaded);
    loaded.1.map(|()| data)
}
