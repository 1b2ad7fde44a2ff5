//! Parses format specs.

use alloc::format;
use alloc::string::{String, ToString};

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
