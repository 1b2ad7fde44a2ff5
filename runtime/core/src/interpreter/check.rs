//! Checks that external data fits its declared types, and converts it.

use super::begin::input_named;
use super::program::Runner;
use crate::arena::{EventId, ToolId, VarId};
use crate::expr::{Value, fit, within};
use crate::host::{About, Host, Mismatch, Note};
use crate::machine::{Outcome, StepKey};
use crate::model::{Chart, ChoiceKind, Event, Field, StepKind, VariableKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The given params by id, converted to their types.
pub(super) fn params(
    chart: &Chart,
    given: impl IntoIterator<Item = (String, Value)>,
) -> Result<Vec<(VarId, Value)>, Mismatch> {
    let fitted = given.into_iter().map(|(name, value)| {
        let declared = chart.variables.iter().enumerate().find(|(_, variable)| {
            variable.name == name && matches!(variable.kind, VariableKind::Param { .. })
        });
        let Some((i, variable)) = declared else {
            return Err(Mismatch(format!("no param is named `{name}`")));
        };
        match fit(value, &variable.ty, &chart.types) {
            Ok(value) => Ok((VarId::at(i), value)),
            Err(why) => Err(Mismatch(format!("param `{name}`: {why}"))),
        }
    });
    fitted.collect()
}

/// Checks that every param is within its range.
pub(super) fn ranges(chart: &Chart, values: &[Option<Value>]) -> Result<(), Mismatch> {
    for (variable, value) in chart.variables.iter().zip(values) {
        let VariableKind::Param { range: Some((low, high)) } = &variable.kind else { continue };
        let Some(value) = value else { continue };
        if *value == Value::None {
            continue;
        }
        within(&variable.name, value, low, high).map_err(Mismatch)?;
    }
    Ok(())
}

/// An input by id, with its value converted to its type.
pub(super) fn input(chart: &Chart, name: &str, value: Value) -> Result<(VarId, Value), Mismatch> {
    let Some(id) = input_named(chart, name) else {
        return Err(Mismatch(format!("no input is named `{name}`")));
    };
    match fit(value, &chart.variables[id.index()].ty, &chart.types) {
        Ok(value) => Ok((id, value)),
        Err(why) => Err(Mismatch(format!("input `{name}`: {why}"))),
    }
}

/// The payload of a host event, converted to the types of its fields.
#[inline]
pub(super) fn event(
    chart: &Chart,
    event: EventId,
    payload: Vec<Value>,
) -> Result<Vec<Value>, Mismatch> {
    let Some(declared) = chart.events.get(event.index()) else {
        return Err(Mismatch(format!("no event has the number {}", event.0)));
    };
    // Most events have no data.
    if declared.fields.is_empty() && payload.is_empty() {
        return Ok(payload);
    }
    event_fields(chart, declared, payload)
}

fn event_fields(
    chart: &Chart,
    declared: &Event,
    payload: Vec<Value>,
) -> Result<Vec<Value>, Mismatch> {
    fields(chart, &declared.fields, payload)
        .map_err(|why| Mismatch(format!("event `{}`: {why}", declared.name)))
}

/// The values of the declared fields, converted to their types.
fn fields(chart: &Chart, declared: &[Field], given: Vec<Value>) -> Result<Vec<Value>, String> {
    if given.len() != declared.len() {
        return Err(format!("{} fields are declared, not {}", declared.len(), given.len()));
    }
    let fitted = given.into_iter().zip(declared).map(|(value, field)| {
        fit(value, &field.ty, &chart.types).map_err(|why| format!("`{}`: {why}", field.name))
    });
    fitted.collect()
}

/// The outcome of a tool's result, converted to its type. A result that does not fit is a failure of the tool.
fn returned<H: Host>(
    chart: &Chart,
    tool: ToolId,
    value: Value,
    program: &Runner<'_, H>,
) -> Outcome<Vec<Value>> {
    let tool = &chart.tools[tool.index()];
    match fit(value, &tool.result, &chart.types) {
        Ok(value) => Outcome::Done(alloc::vec![value]),
        Err(why) => {
            let why = format!("what `{}` returned does not fit: {why}", tool.name);
            program.data.note(|| why.clone());
            Outcome::Failed(alloc::vec![Value::Text(why)])
        }
    }
}

/// Converts the outcome of a step to its type. `calling` is the tool whose call is under way for this key. An answer that does not fit is
/// unusable, and a note gives the reason.
pub(super) fn outcome<H: Host>(
    chart: &Chart,
    key: StepKey,
    outcome: Outcome<Vec<Value>>,
    calling: Option<ToolId>,
    program: &mut Runner<'_, H>,
) -> Result<Outcome<Vec<Value>>, Mismatch> {
    let Some(step) = chart.steps.get(key.step.index()) else {
        return Err(Mismatch(format!("no step has the number {}", key.step.0)));
    };
    let fitted = match outcome {
        Outcome::Done(mut values) => {
            if values.len() > 1 {
                return Err(Mismatch(format!("an answer is one value, not {}", values.len())));
            }
            let answer = values.pop().unwrap_or_default();
            if let Some(tool) = calling {
                return Ok(returned(chart, tool, answer, program));
            }
            let kind = &step.kind;
            if let StepKind::Call(tool, _) = kind
                && let failed @ Outcome::Failed(_) = returned(chart, *tool, answer.clone(), program)
            {
                return Ok(failed);
            }
            fit(answer, step.one_returns(), &chart.types)
                .map(|answer| Outcome::Done(alloc::vec![answer]))
        }
        Outcome::Choice(id, values) => match chart.choices.get(id.index()).map(|c| &c.kind) {
            Some(ChoiceKind::Option(declared)) => {
                fields(chart, declared, values).map(|values| Outcome::Choice(id, values))
            }
            Some(ChoiceKind::Call(..)) => Err(String::from("a tool is called, not chosen")),
            None => Err(format!("no option has the number {}", id.0)),
        },
        Outcome::Call(id, values) => match chart.tools.get(id.index()) {
            Some(tool) => {
                fields(chart, &tool.params, values).map(|values| Outcome::Call(id, values))
            }
            None => Err(format!("no tool has the number {}", id.0)),
        },
        Outcome::Forbidden(id) => Ok(Outcome::Forbidden(id)),
        Outcome::Failed(reason) => Ok(Outcome::Failed(reason)),
        Outcome::Unusable => Ok(Outcome::Unusable),
        Outcome::Doubt => Ok(Outcome::Doubt),
    };
    Ok(fitted.unwrap_or_else(|why| {
        let text = format!("answer to `{}`: {why}", step.name);
        // Kept even if nobody takes notes, because the question is repeated with this reason.
        program.data.keep_note(Note { about: About::Answer, text });
        Outcome::Unusable
    }))
}
