//! Functions for charts whose data needs an allocator.

pub use crate::host::listed;
pub use alloc::boxed::Box;
pub use alloc::collections::VecDeque;
pub use alloc::string::{String, ToString};
pub use alloc::vec;
pub use alloc::vec::Vec;

use super::Notes;
use crate::arena::{ChoiceId, ToolId};
use crate::expr::{EvalError, FromValue, IntoValue, Value, field, fit_depth, format};
use crate::host::{About, Mismatch, Note, Offer, ToolCall};
use crate::machine::Fault;
use crate::tables::Tables;
use alloc::borrow::Cow;
use core::fmt;

/// The reason why a guard, an action or a prompt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(pub String);

impl From<Fault> for Failure {
    fn from(_: Fault) -> Self {
        error("a number too big for its type")
    }
}

impl From<EvalError> for Failure {
    fn from(why: EvalError) -> Self {
        Self(why.message)
    }
}

fn error(message: impl Into<String>) -> Failure {
    Failure(message.into())
}

/// Fails with this reason.
///
/// # Errors
/// Always.
pub fn fails<T>(why: &str) -> Result<T, Failure> {
    Err(error(why))
}

/// Checks that a value is not nested too deeply to be stored under a name of the chart.
///
/// # Errors
/// The value nests too deeply.
pub fn kept<T: IntoValue + Clone>(name: &str, value: T) -> Result<T, Failure> {
    // Only a value has a depth, so a typed one has to be converted.
    match fit_depth(&value.clone().into_value()) {
        Ok(()) => Ok(value),
        Err(why) => Err(error(alloc::format!("`{name}`: {why}"))),
    }
}

/// Like [`kept`] for Json, which is checked without a copy.
///
/// # Errors
/// The value nests too deeply.
pub fn kept_json(name: &str, value: Value) -> Result<Value, Failure> {
    match fit_depth(&value) {
        Ok(()) => Ok(value),
        Err(why) => Err(error(alloc::format!("`{name}`: {why}"))),
    }
}

/// The result of a host function, or its fallback. The call with its arguments is noted for the trace. `arguments` is called only if the
/// notes are kept.
///
/// # Errors
/// The function failed and has no fallback.
#[inline]
pub fn called<T: IntoValue + Clone, const N: usize>(
    notes: &mut Notes,
    name: &str,
    arguments: impl FnOnce() -> [Value; N],
    result: Result<T, String>,
    fallback: Option<T>,
) -> Result<T, Failure> {
    notes.add(|| {
        let value = result.as_ref().ok().or(fallback.as_ref());
        let value = value.map(|value| value.clone().into_value());
        call_note(name, &arguments(), value.as_ref(), result.as_ref().err())
    });
    match (result, fallback) {
        (Ok(value), _) | (Err(_), Some(value)) => Ok(value),
        (Err(why), None) => Err(error(alloc::format!("`{name}` failed: {why}"))),
    }
}

/// The note about a call. `value` is its result, or the fallback after a failure.
fn call_note(name: &str, arguments: &[Value], value: Option<&Value>, why: Option<&String>) -> Note {
    let arguments: Vec<String> = arguments.iter().map(shown_short).collect();
    let end = match (value.map(shown_short), why) {
        (Some(value), None) => alloc::format!(" = {value}"),
        (Some(value), Some(why)) => alloc::format!(" failed, {value} instead: {why}"),
        (None, why) => alloc::format!(" failed: {}", why.map_or("", |why| why)),
    };
    let text = alloc::format!("{name}({}){end}", arguments.join(", "));
    Note { about: About::Call(name.to_string()), text }
}

/// The fallback of a host function that is not called because its arguments failed. The reason is noted for the trace.
pub fn uncalled<T: IntoValue + Clone>(
    notes: &mut Notes,
    name: &str,
    why: &Failure,
    fallback: T,
) -> T {
    notes.add(|| {
        let instead = shown_short(&fallback.clone().into_value());
        alloc::format!("{name} is not called, {instead} instead: {}", why.0).into()
    });
    fallback
}

/// The outcome of a `do` function of the host. The call is noted as by [`called`].
///
/// # Errors
/// The function failed.
#[inline]
pub fn did<const N: usize>(
    notes: &mut Notes,
    name: &str,
    arguments: impl FnOnce() -> [Value; N],
    result: Result<(), String>,
) -> Result<(), Failure> {
    called(notes, name, arguments, result.map(|()| Value::None), None).map(drop)
}

/// The maximum number of characters of a value in a note.
const SHOWN: usize = 400;

fn shown_short(value: &Value) -> String {
    let text = format::python_repr(value).unwrap_or_else(|_| "…".to_string());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => alloc::format!("{}…", &text[..end]),
        None => text,
    }
}

/// The text of a value in `{last_result}`.
pub fn shown(value: &Value) -> String {
    format::str(value).unwrap_or_default()
}

/// Notes the reason why something failed, named by `what`, and returns the fault for the step algorithm.
pub fn note<W: fmt::Display>(notes: &mut Notes, what: impl FnOnce() -> W, why: Failure) -> Fault {
    notes.add(|| alloc::format!("{}: {}", what(), why.0).into());
    Fault
}

/// Notes the text of a `log` action.
pub fn log(notes: &mut Notes, text: &str) {
    notes.add(|| alloc::format!("log: {text}").into());
}

/// Whether a condition holds. A condition that fails is false, and the reason is noted.
pub fn holds(notes: &mut Notes, what: &str, result: Result<bool, Failure>) -> bool {
    result.unwrap_or_else(|why| {
        note(notes, || what, why);
        false
    })
}

/// Adds an option without name and text, unless it is a tool that an earlier transition already permits.
pub fn add_offer(offers: &mut Vec<Offer>, choice: ChoiceId, tool: Option<ToolId>) {
    if tool.is_none() || !offers.iter().any(|other| other.tool == tool) {
        let (name, text, arguments) = (Cow::Borrowed(""), Cow::Borrowed(""), Vec::new());
        offers.push(Offer { choice, tool, name, text, arguments });
    }
}

/// Notes that an option is offered without its text.
pub(super) fn offered(notes: &mut Notes, tables: &Tables, choice: ChoiceId) {
    notes.add(|| {
        let line = super::line(tables, tables.choices[choice.index()].transition);
        alloc::format!("{line} is offered without its text").into()
    });
}

/// Notes why the answer to `step` does not fit.
pub(super) fn unusable(notes: &mut Notes, step: &str, Mismatch(why): Mismatch) {
    let text = alloc::format!("answer to `{step}`: {why}");
    // Kept even if nobody takes notes, because the question is repeated with this reason.
    notes.keep(Note { about: About::Answer, text });
}

/// The value of an input, which the host must have set.
///
/// # Errors
/// The host has not set it.
pub fn given<'v, T>(value: &'v Option<T>, name: &str) -> Result<&'v T, Failure> {
    value.as_ref().ok_or_else(|| error(alloc::format!("`{name}` has no value yet")))
}

/// A field of the current event, choice or answer.
///
/// # Errors
/// The current event, choice or answer has no such field.
pub fn handled<T>(field: Option<&T>) -> Result<&T, Failure> {
    field.ok_or_else(|| error("what is handled has no such field"))
}

/// An argument of the tool call that a model wants to make.
///
/// # Errors
/// No call is handled, or the argument does not have this type.
pub fn argument<T: FromValue, E, C, A, G>(
    bound: &super::Held<super::Payload<E, C, A, G>>,
    nth: usize,
) -> Result<T, Failure> {
    let found = match bound.get() {
        Some(super::Payload::Tool(values)) => values.get(nth),
        _ => None,
    };
    let value = handled(found)?.clone();
    T::from_value(value).map_err(|Mismatch(why)| Failure(why))
}

/// The value of an optional.
///
/// # Errors
/// The optional is `none`.
pub fn some<T>(value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| error("`none` where a value is needed"))
}

/// The value of an optional Json; `none` if there is none.
pub fn json(value: &Option<Value>) -> &Value {
    value.as_ref().unwrap_or(&Value::None)
}

/// Converts a value to its declared type.
///
/// # Errors
/// The value does not fit the type.
pub fn typed<T: FromValue>(value: Value) -> Result<T, Failure> {
    T::from_value(value).map_err(|Mismatch(why)| error(why))
}

/// Converts a value from the host.
///
/// # Errors
/// The value does not fit the type.
pub fn read<T: FromValue>(value: Value) -> Result<T, Mismatch> {
    T::from_value(value)
}

/// Converts a value from the host to its declared type and back, so that it has this type.
///
/// # Errors
/// The value does not fit the type.
pub fn as_declared<T: FromValue + IntoValue>(value: Value) -> Result<Value, Mismatch> {
    T::from_value(value).map(IntoValue::into_value)
}

/// `list[at]`; a negative `at` counts from the end.
///
/// # Errors
/// There is no such element.
pub fn element<T>(list: &[T], at: i64) -> Result<&T, Failure> {
    let place = if at < 0 { at.checked_add(list.len() as i64) } else { Some(at) };
    place
        .and_then(|i| usize::try_from(i).ok())
        .and_then(|i| list.get(i))
        .ok_or_else(|| error(alloc::format!("no element {at}, the list has {}", list.len())))
}

/// Whether a list of texts contains `text`.
pub fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == text)
}

/// `of.name` of an optional record: the field, or `none` if the record is `none`.
///
/// # Errors
/// The record has no such field.
pub fn optional_field(of: &Value, name: &str) -> Result<Value, Failure> {
    if *of == Value::None { Ok(Value::None) } else { Ok(field(of, name)?.clone()) }
}

/// Appends the value of a placeholder, formatted by `spec`.
///
/// # Errors
/// The spec does not accept this kind of value.
pub fn show(text: &mut String, value: &Value, spec: &str) -> Result<(), Failure> {
    text.push_str(&format::format(value, spec)?);
    Ok(())
}

/// Appends the options of a question, for `{options}`.
///
/// # Errors
/// The prompt is not that of a question.
pub fn push_options(text: &mut String, options: Option<&str>) -> Result<(), Failure> {
    match options {
        Some(options) => {
            text.push_str(options);
            Ok(())
        }
        None => fails("there are no options outside a question's prompt"),
    }
}

/// The text of a failed step's reason.
pub fn reason(values: Vec<Value>) -> String {
    match values.into_iter().next() {
        Some(Value::Text(why)) => why,
        Some(other) => shown(&other),
        None => String::new(),
    }
}

/// The answer of a step, which is at most one value; `none` without one.
///
/// # Errors
/// There are several values.
pub fn answer(mut values: Vec<Value>) -> Result<Value, Mismatch> {
    if values.len() > 1 {
        return Err(Mismatch(alloc::format!("an answer is one value, not {}", values.len())));
    }
    Ok(values.pop().unwrap_or_default())
}

/// A call of a tool, with its arguments in declared order. `result` is the JSON Schema of its result.
pub fn tool_call(tables: &Tables, tool: ToolId, arguments: Vec<Value>, result: &str) -> ToolCall {
    let row = &tables.tools[tool.index()];
    let names = row.fields.of(&tables.name_pool).iter().map(String::from);
    let arguments = names.zip(arguments).collect();
    ToolCall { tool: String::from(&row.name), arguments, result: result.into() }
}

/// The error for a number that is not an id of the given kind.
pub fn no_row(what: &str, number: u32) -> Mismatch {
    Mismatch(alloc::format!("no {what} has the number {number}"))
}

/// The error for a name that is not an input.
pub fn no_input(name: &str) -> Mismatch {
    Mismatch(alloc::format!("no input is named `{name}`"))
}
