//! Formats numbers by a format spec.

use super::super::fuel::fail;
use super::super::{EvalError, python};
use super::spec::{Align, Grouping, Sign, Spec};
use super::{append, pad, unknown_kind};
use alloc::format;
use alloc::string::{String, ToString};

pub(super) fn write_int(i: i64, of: &str, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
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

pub(super) fn write_float(x: f64, spec: &Spec, to: &mut String) -> Result<(), EvalError> {
    let size = x.abs();
    // Python's default.
    let precision = spec.precision.unwrap_or(6);
    let mut text = match spec.kind {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') | None if !x.is_finite() => {
            python::float(size)
        }
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
        return python::float(size);
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
pub(in crate::expr) fn repr(x: f64) -> String {
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
