//! Python's format specs, as in `str.format` and f-strings:
//! `[[fill]align][sign][z][#][0][width][, or _][.precision][type]`.
//!
//! Ints accept `b c d n o x X` and every type of a Float, Floats `e E f F g G n %`, texts `s`. A Bool with a spec counts as the Int 0 or 1.
//! A Duration is formatted as a text, in the notation of charts, or with a type of Floats as its seconds. Lists, maps and `none` accept no
//! spec. For example, 1234.5 with `+12,.2f`:
//!
//! ```text
//! parse    sign `+`, width 12, grouping `,`, precision 2, type `f`
//! digits   "1234.50", in groups "1,234.50", with the sign "+1,234.50"
//! pad      "   +1,234.50": numbers are aligned to the right by default
//! ```

mod number;
mod spec;

pub(super) use number::repr;
pub use spec::{Align, Grouping, MAX_WIDTH, Sign, Spec, parse};

use super::fuel::{Fuel, fail};
use super::{EvalError, Value, python};
use crate::duration::Duration;
use alloc::string::{String, ToString};
use core::fmt::Write;

/// `format(value, spec)`.
///
/// # Errors
/// The kind of value does not accept the spec.
pub fn format(value: &Value, spec: &str) -> Result<String, EvalError> {
    let mut text = String::new();
    write(value, spec, &mut text, &Fuel::default())?;
    Ok(text)
}

pub(super) fn write(
    value: &Value,
    spec: &str,
    to: &mut String,
    fuel: &Fuel,
) -> Result<(), EvalError> {
    if spec.is_empty() {
        return python::write_str(value, to, fuel);
    }
    let spec = match parse(spec) {
        Ok(spec) => spec,
        Err(why) => return fail!("format spec `{spec}`: {why}"),
    };
    // A fill character takes up to four bytes.
    fuel.charge_text(4 * (spec.width + spec.precision.unwrap_or(0)))?;
    match value {
        Value::Text(text) => {
            fuel.charge_text(text.len())?;
            write_text(text, &spec, to)
        }
        Value::Bool(b) => number::write_int(i64::from(*b), "Bool", &spec, to),
        Value::Int(i) => number::write_int(*i, "Int", &spec, to),
        Value::Float(x) => number::write_float(*x, &spec, to),
        Value::Duration(millis) if spec.kind.is_some_and(|kind| "eEfFgG".contains(kind)) => {
            number::write_float(*millis as f64 / 1000.0, &spec, to)
        }
        Value::Duration(millis) => write_text(&Duration(*millis).to_string(), &spec, to),
        Value::None | Value::List(_) | Value::Map(_) => {
            fail!("{} takes no format spec", value.kind())
        }
    }
}

fn write_text(text: &str, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
    if let Some(kind) = spec.kind.filter(|kind| *kind != 's') {
        return unknown_kind(kind, "Text");
    }
    if spec.sign.is_some() || spec.no_negative_zero || spec.alternate || spec.grouping.is_some() {
        return fail!("a text takes no sign, `z`, `#` or grouping");
    }
    if spec.align == Some(Align::AfterSign) {
        return fail!("a text takes no `=` alignment");
    }
    let len = text.chars().count();
    let kept = spec.precision.map_or(len, |precision| precision.min(len));
    let end = text.char_indices().nth(kept).map_or(text.len(), |(i, _)| i);
    pad(to, spec, Align::Left, "", &text[..end], kept);
    Ok(())
}

fn unknown_kind(kind: char, of: &str) -> Result<(), EvalError> {
    fail!("{of} takes no format `{kind}`")
}

/// Appends `prefix` and `body`, padded to the width of the spec. `len` is the number of characters of both.
fn pad(to: &mut String, spec: &Spec, default: Align, prefix: &str, body: &str, len: usize) {
    let missing = spec.width.saturating_sub(len);
    let (left, inner, right) = match spec.align.unwrap_or(default) {
        Align::Left => (0, 0, missing),
        Align::Right => (missing, 0, 0),
        Align::Center => (missing / 2, 0, missing - missing / 2),
        Align::AfterSign => (0, missing, 0),
    };
    to.extend(core::iter::repeat_n(spec.fill, left));
    to.push_str(prefix);
    to.extend(core::iter::repeat_n(spec.fill, inner));
    to.push_str(body);
    to.extend(core::iter::repeat_n(spec.fill, right));
}

/// Appends formatted text. Writing to a String cannot fail.
fn append(to: &mut String, text: core::fmt::Arguments<'_>) {
    let _ = to.write_fmt(text);
}
