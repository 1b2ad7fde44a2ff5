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

use super::fuel::{Fuel, fail};
use super::{EvalError, Value};
use crate::duration::Duration;
use alloc::format;
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
        return write_str(value, to, fuel);
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
        Value::Bool(b) => write_int(i64::from(*b), "Bool", &spec, to),
        Value::Int(i) => write_int(*i, "Int", &spec, to),
        Value::Float(x) => write_float(*x, &spec, to),
        Value::Duration(millis) if spec.kind.is_some_and(|kind| "eEfFgG".contains(kind)) => {
            write_float(*millis as f64 / 1000.0, &spec, to)
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

// Formats numbers by a format spec.

fn write_int(i: i64, of: &str, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
    let kind = spec.kind.unwrap_or('d');
    if "eEfFgG%".contains(kind) {
        return write_float(i as f64, spec, to);
    }
    if spec.precision.is_some() {
        return fail!("{of} takes no precision");
    }
    if spec.no_negative_zero {
        return fail!("{of} takes no `z`");
    }
    let size = i.unsigned_abs();
    let (prefix, digits) = match kind {
        'd' | 'n' => ("", size.to_string()),
        'b' => ("0b", format!("{size:b}")),
        'o' => ("0o", format!("{size:o}")),
        'x' => ("0x", format!("{size:x}")),
        'X' => ("0X", format!("{size:X}")),
        'c' => return write_char(i, spec, to),
        _ => return unknown_kind(kind, of),
    };
    let prefix = if spec.alternate { prefix } else { "" };
    let prefix = format!("{}{prefix}", sign(i < 0, spec));
    let group = if "boxX".contains(kind) { 4 } else { 3 };
    write_number(&prefix, &digits, "", group, spec, to);
    Ok(())
}

fn write_char(i: i64, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
    if spec.sign.is_some() || spec.alternate {
        return fail!("the format `c` takes no sign and no `#`");
    }
    let Some(c) = u32::try_from(i).ok().and_then(char::from_u32) else {
        return fail!("{i} is no character");
    };
    pad(to, spec, number_align(spec), "", c.encode_utf8(&mut [0; 4]), 1);
    Ok(())
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.sign) {
        (true, _) => "-",
        (false, Some(Sign::Plus)) => "+",
        (false, Some(Sign::Space)) => " ",
        (false, Some(Sign::Minus) | None) => "",
    }
}

fn write_float(x: f64, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
    let size = x.abs();
    // Python's default.
    let precision = spec.precision.unwrap_or(6);
    let mut text = match spec.kind {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') | None if !x.is_finite() => float(size),
        Some('e' | 'E') => exponential(size, precision, spec),
        Some('f' | 'F') => fixed(size, precision, spec),
        Some('%') => fixed(size * 100.0, precision, spec),
        Some('g' | 'G' | 'n') => general(size, precision.max(1), spec, false),
        None => match spec.precision {
            Some(digits) => general(size, digits.max(1), spec, true),
            None => shortest(size, spec),
        },
        Some(other) => return unknown_kind(other, "Float"),
    };
    let digits = text.split('e').next().unwrap_or_default();
    let is_zero = x.is_finite() && !digits.contains(|c: char| ('1'..='9').contains(&c));
    let negative = x.is_sign_negative() && !x.is_nan() && !(spec.no_negative_zero && is_zero);
    if spec.kind == Some('%') {
        text.push('%');
    }
    if spec.kind.is_some_and(|kind| kind.is_ascii_uppercase()) {
        text.make_ascii_uppercase();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    write_number(sign(negative, spec), digits, rest, 3, spec, to);
    Ok(())
}

fn fixed(size: f64, precision: usize, spec: &Spec) -> String {
    if size.is_infinite() {
        // A percentage may overflow.
        return float(size);
    }
    let mut text = format!("{size:.precision$}");
    if spec.alternate && precision == 0 {
        text.push('.');
    }
    text
}

/// The type `e`: `d.ddde±xx`.
fn exponential(size: f64, precision: usize, spec: &Spec) -> String {
    let text = format!("{size:.precision$e}");
    let (digits, exponent) = split(&text);
    let point = if spec.alternate && precision == 0 { "." } else { "" };
    let mut text = String::from(digits) + point;
    append_exponent(&mut text, exponent);
    text
}

fn split(scientific: &str) -> (&str, i32) {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (digits, exponent.parse().unwrap_or(0))
}

fn append_exponent(to: &mut String, exponent: i32) {
    let sign = if exponent < 0 { '-' } else { '+' };
    append(to, format_args!("e{sign}{:02}", exponent.unsigned_abs()));
}

/// The type `g`: `precision` significant digits. There is an exponent if it would be below -4, or if it reaches the precision. `point`
/// requires a digit after the point where there is no exponent.
fn general(size: f64, precision: usize, spec: &Spec, point: bool) -> String {
    let text = format!("{size:.*e}", precision - 1);
    let (digits, exponent) = split(&text);
    // The digit that `point` requires counts, so the exponent appears one digit earlier.
    let limit = precision as i32 - i32::from(point);
    lay_out(digits, exponent, exponent < -4 || exponent >= limit, spec, precision, point)
}

/// Formats like `repr`, with as few digits as read back as the same number.
fn shortest(size: f64, spec: &Spec) -> String {
    let mut text = format!("{size:e}");
    // Two decimals may be equally short and equally near. Rust chooses the greater one, Python the even one.
    let places = text.bytes().take_while(|c| *c != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{size:.*e}", places.saturating_sub(1));
    if even.parse() == Ok(size) {
        text = even;
    }
    let (digits, exponent) = split(&text);
    lay_out(digits, exponent, !(-4..16).contains(&exponent), spec, 0, true)
}

/// `repr` of a finite double.
pub(super) fn repr_float(x: f64) -> String {
    let digits = shortest(x.abs(), &Spec::PLAIN);
    if x.is_sign_negative() { format!("-{digits}") } else { digits }
}

/// Lays out significant digits `d.ddd`, with or without an exponent. With `#` there are `precision` digits, and always a point.
fn lay_out(
    digits: &str,
    exponent: i32,
    has_exponent: bool,
    spec: &Spec,
    precision: usize,
    point: bool,
) -> String {
    let mut digits: String = digits.chars().filter(|c| *c != '.').collect();
    digits.truncate(digits.trim_end_matches('0').len().max(1));
    // The number of digits before the point.
    let whole = if has_exponent { 1 } else { exponent + 1 };
    let mut text = if whole <= 0 {
        let zeros = whole.unsigned_abs() as usize;
        digits.insert_str(0, &"0".repeat(zeros + 1));
        digits
    } else {
        digits
    };
    let whole = whole.max(1) as usize;
    let leading = text.len() - text.trim_start_matches('0').len();
    let significant = if spec.alternate { precision + leading.min(text.len() - 1) } else { 0 };
    let wanted = significant.max(whole + usize::from(point && !has_exponent)).max(text.len());
    text.extend(core::iter::repeat_n('0', wanted - text.len()));
    if text.len() > whole || spec.alternate {
        text.insert(whole, '.');
    }
    if has_exponent {
        append_exponent(&mut text, exponent);
    }
    text
}

/// Appends the sign or prefix, the digits in groups, and the rest.
fn write_number(
    prefix: &str,
    digits: &str,
    rest: &str,
    group: usize,
    spec: &Spec,
    to: &mut String,
) {
    let others = prefix.len() + rest.chars().count();
    let align = spec.align.unwrap_or(number_align(spec));
    let zeros = spec.fill == '0' && align == Align::AfterSign;
    let mut body = match spec.grouping {
        Some(grouping) if !digits.is_empty() => {
            let least = if zeros { spec.width.saturating_sub(others) } else { 0 };
            in_groups(digits, grouping, group, least)
        }
        _ => String::from(digits),
    };
    body.push_str(rest);
    let len = prefix.len() + body.chars().count();
    pad(to, spec, align, prefix, &body, len);
}

const fn number_align(spec: &Spec) -> Align {
    if spec.zero { Align::AfterSign } else { Align::Right }
}

/// The digits in groups, with leading zeros up to `least` characters, separators included. A separator never comes first.
fn in_groups(digits: &str, grouping: Grouping, group: usize, least: usize) -> String {
    let separator = match grouping {
        Grouping::Comma => ',',
        Grouping::Underscore => '_',
    };
    let mut reversed = String::new();
    let mut left = digits.bytes().rev();
    let mut count = 0;
    while left.len() > 0 || reversed.len() < least {
        if count > 0 && count % group == 0 {
            reversed.push(separator);
        }
        reversed.push(left.next().map_or('0', char::from));
        count += 1;
    }
    reversed.chars().rev().collect()
}

// Parses format specs.

/// The maximum width and precision. A greater one would fill a prompt with padding.
pub const MAX_WIDTH: usize = 10_000;

/// A parsed format spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The fill character; a space by default.
    pub fill: char,
    /// The alignment `<`, `>`, `^` or `=`; `None` for the default of the kind of value.
    pub align: Option<Align>,
    /// The sign `+`, `-` or space.
    pub sign: Option<Sign>,
    /// `z`: a number that rounds to zero has no minus sign.
    pub no_negative_zero: bool,
    /// `#`: the alternate form, with prefixes of Ints and a point in Floats.
    pub alternate: bool,
    /// `0` before the width, without a fill character: numbers are filled with zeros after their sign.
    pub zero: bool,
    /// The minimum number of characters.
    pub width: usize,
    /// The separator `,` or `_`.
    pub grouping: Option<Grouping>,
    /// The number of digits after the point; for a text the maximum number of characters.
    pub precision: Option<usize>,
    /// The type: `d`, `f`, `%`, …. The parser does not check it against a kind of value.
    pub kind: Option<char>,
}

impl Spec {
    /// The empty spec.
    pub const PLAIN: Self = Self {
        fill: ' ',
        align: None,
        sign: None,
        no_negative_zero: false,
        alternate: false,
        zero: false,
        width: 0,
        grouping: None,
        precision: None,
        kind: None,
    };
}

/// The alignment of the value in its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// `<`: at the left.
    Left,
    /// `>`: at the right.
    Right,
    /// `^`: in the middle.
    Center,
    /// `=`: at the right, with the fill between the sign and the digits.
    AfterSign,
}

/// The sign of a number that is not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `+`: a plus sign.
    Plus,
    /// `-`: no sign.
    Minus,
    /// A space.
    Space,
}

/// The separator between groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// `,`.
    Comma,
    /// `_`.
    Underscore,
}

const fn align(c: char) -> Option<Align> {
    match c {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Center),
        '=' => Some(Align::AfterSign),
        _ => None,
    }
}

/// Parses a format spec, for any kind of value.
///
/// # Errors
/// The reason why the text is not a format spec.
pub fn parse(text: &str) -> Result<Spec, String> {
    let mut spec = Spec::PLAIN;
    let mut rest = text;
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    // Any character is a fill, but only before an alignment.
    let has_fill = second.and_then(align).is_some();
    if has_fill {
        spec.fill = first.unwrap_or(' ');
        spec.align = second.and_then(align);
        rest = chars.as_str();
    } else if let Some(found) = first.and_then(align) {
        spec.align = Some(found);
        rest = &text[1..];
    }
    for (c, sign) in [('+', Sign::Plus), ('-', Sign::Minus), (' ', Sign::Space)] {
        if spec.sign.is_none() && eat(&mut rest, c) {
            spec.sign = Some(sign);
        }
    }
    spec.no_negative_zero = eat(&mut rest, 'z');
    spec.alternate = eat(&mut rest, '#');
    if !has_fill && eat(&mut rest, '0') {
        spec.fill = '0';
        spec.zero = true;
    }
    spec.width = number(&mut rest)?.unwrap_or(0);
    if eat(&mut rest, ',') {
        spec.grouping = Some(Grouping::Comma);
    }
    if eat(&mut rest, '_') {
        if spec.grouping.is_some() {
            return Err("both `,` and `_`".to_string());
        }
        spec.grouping = Some(Grouping::Underscore);
    }
    if eat(&mut rest, '.') {
        match number(&mut rest)? {
            Some(digits) => spec.precision = Some(digits),
            None => return Err("no digits after the point".to_string()),
        }
    }
    let mut chars = rest.chars();
    spec.kind = chars.next();
    if let Some(c) = chars.next() {
        return Err(format!("unexpected `{c}`"));
    }
    grouped_kind(&spec)?;
    Ok(spec)
}

fn grouped_kind(spec: &Spec) -> Result<(), String> {
    let allowed = match spec.grouping {
        None => return Ok(()),
        Some(Grouping::Comma) => "deEfFgG%",
        Some(Grouping::Underscore) => "deEfFgG%boxX",
    };
    match spec.kind {
        Some(kind) if !allowed.contains(kind) => Err(format!("`{kind}` takes no such grouping")),
        _ => Ok(()),
    }
}

fn eat(rest: &mut &str, c: char) -> bool {
    match rest.strip_prefix(c) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn number(rest: &mut &str) -> Result<Option<usize>, String> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(n) if n <= MAX_WIDTH => Ok(Some(n)),
        _ => Err(format!("a width or precision above {MAX_WIDTH}")),
    }
}

// Python's `str()` and `repr()`.

/// `str(x)`: a text as it is, other values as by `repr`.
///
/// # Errors
/// The text is longer than one evaluation may build.
pub fn str(value: &Value) -> Result<String, EvalError> {
    let mut text = String::new();
    write_str(value, &mut text, &Fuel::default())?;
    Ok(text)
}

/// `repr(x)`: quoted texts, `None`, `True`, `1e+16`. Durations are written as in a chart.
///
/// # Errors
/// The text is longer than one evaluation may build.
pub fn python_repr(value: &Value) -> Result<String, EvalError> {
    let mut text = String::new();
    write_repr(value, &mut text, &Fuel::default())?;
    Ok(text)
}

pub(super) fn write_str(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    if let Value::Text(text) = value {
        fuel.charge_text(text.len())?;
        to.push_str(text);
        return Ok(());
    }
    write_repr(value, to, fuel)
}

pub(super) fn write_repr(value: &Value, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge(2)?;
    match value {
        Value::None => to.push_str("None"),
        Value::Bool(true) => to.push_str("True"),
        Value::Bool(false) => to.push_str("False"),
        Value::Int(i) => to.push_str(&i.to_string()),
        Value::Float(x) => to.push_str(&float(*x)),
        Value::Duration(millis) => to.push_str(&Duration(*millis).to_string()),
        Value::Text(text) => quote(text, to, fuel)?,
        Value::List(items) => {
            to.push('[');
            for (i, item) in items.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { ", " });
                write_repr(item, to, fuel)?;
            }
            to.push(']');
        }
        Value::Map(map) => {
            to.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                to.push_str(if i == 0 { "" } else { ", " });
                quote(key, to, fuel)?;
                to.push_str(": ");
                write_repr(value, to, fuel)?;
            }
            to.push('}');
        }
    }
    Ok(())
}

/// `repr` of a double: the shortest decimal that reads back as the same double.
pub fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_string();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    repr_float(x)
}

/// Appends a text in Python's quotes. An escape takes at most ten bytes.
fn quote(text: &str, to: &mut String, fuel: &Fuel) -> Result<(), EvalError> {
    fuel.charge_text(text.len())?;
    // Python uses single quotes, unless only they would need an escape.
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    to.push(mark);
    for c in text.chars() {
        match c {
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\\' => to.push_str("\\\\"),
            c if c == mark => {
                to.push('\\');
                to.push(c);
            }
            ' '..='~' => to.push(c),
            c if is_printable(c) => to.push(c),
            c => {
                let code = u32::from(c);
                to.push_str(&match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    to.push(mark);
    Ok(())
}

/// Whether Python leaves a character as it is. Rust also escapes combining marks at the start of a text, so the test puts a letter before
/// it.
fn is_printable(c: char) -> bool {
    let mut bytes = [b'x'; 5];
    let len = 1 + c.encode_utf8(&mut bytes[1..]).len();
    core::str::from_utf8(&bytes[..len]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}
