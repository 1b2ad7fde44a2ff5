//! Splits ECMAScript into tokens.

use super::Fault;
use crate::front::scxml::text::Text;
use crate::span::Span;

/// A token of ECMAScript.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    /// A name or a keyword.
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
    End,
}

/// The marks, longer ones before their beginnings, so that the first match is the longest.
const MARKS: &[&str] = &[
    ">>>=", "===", "!==", "**=", "...", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "**", "<<", ">>",
    "&=", "|=", "^=", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%",
    "&", "|", "^", "!", "~", "?", ":", "=", ".",
];

/// A token, its place, and whether a line break precedes it.
pub(super) type Placed = (Token, Span, bool);

/// Splits a text into tokens, followed by [`Token::End`].
pub(super) fn tokens(text: &Text) -> Result<Vec<Placed>, Fault> {
    let value = &text.value;
    let mut found = Vec::new();
    let mut at = 0;
    let mut broken = false;
    loop {
        let rest = &value[at..];
        let Some(c) = rest.chars().next() else {
            found.push((Token::End, text.place(value.len(), value.len()), true));
            return Ok(found);
        };
        // JavaScript counts a byte order mark as white space.
        if c.is_whitespace() || c == '\u{feff}' {
            broken |= matches!(c, '\n' | '\r');
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                return Err(Fault::Faulty(
                    text.place(at, at + 2),
                    "a comment is not closed".to_owned(),
                ));
            };
            // A line break in a comment may end a statement, as one outside does.
            broken |= rest[..end].contains('\n');
            at += end + 2;
            continue;
        }
        let (token, length) = match c {
            '"' | '\'' => quoted(text, at, c)?,
            '`' => {
                let place = text.place(at, at + 1);
                return Err(Fault::Refused(
                    place,
                    "a template is not translated; join texts with `+`".to_owned(),
                ));
            }
            '0'..='9' => number(text, at)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(text, at)?,
            c if c.is_alphabetic() || matches!(c, '_' | '$') => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
                let end = end.unwrap_or(rest.len());
                (Token::Name(rest[..end].to_owned()), end)
            }
            c => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                Some(mark) => (Token::Mark(mark), mark.len()),
                None => {
                    let place = text.place(at, at + c.len_utf8());
                    return Err(Fault::Faulty(place, format!("unexpected `{c}`")));
                }
            },
        };
        found.push((token, text.place(at, at + length), broken));
        broken = false;
        at += length;
    }
}

fn number(text: &Text, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &text.value[at..];
    let refuse =
        |length: usize, why: &str| Err(Fault::Refused(text.place(at, at + length), why.to_owned()));
    if let Some(radix) = rest.get(..2).and_then(|two| match two {
        "0x" | "0X" => Some(16),
        "0o" | "0O" => Some(8),
        "0b" | "0B" => Some(2),
        _ => None,
    }) {
        let end =
            rest[2..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |e| e + 2);
        return match i64::from_str_radix(&rest[2..end], radix) {
            Ok(value) => Ok((Token::Int(value), end)),
            Err(_) => refuse(end, "this number is not read"),
        };
    }
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(0);
    let mut whole = true;
    if rest[end..].starts_with('.') {
        whole = false;
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        // An `e` without digits is no exponent.
        if exponent > end + 1 + sign {
            whole = false;
            end = exponent;
        }
    }
    // A name may not follow a number directly, as in `3px`; `10n` is a number of another type.
    if rest[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
        return refuse(end + 1, "this number is not read");
    }
    let written = &rest[..end];
    if whole && let Ok(value) = written.parse::<i64>() {
        return Ok((Token::Int(value), end));
    }
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Float(value), end)),
        _ => refuse(end, "this number is too large"),
    }
}

fn quoted(text: &Text, at: usize, mark: char) -> Result<(Token, usize), Fault> {
    let rest = &text.value[at..];
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        match c {
            c if c == mark => return Ok((Token::Text(value), i + 1)),
            '\n' => break,
            '\\' => {
                let Some((_, escaped)) = chars.next() else { break };
                match escaped {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'r' => value.push('\r'),
                    'b' => value.push('\u{8}'),
                    'f' => value.push('\u{c}'),
                    'v' => value.push('\u{b}'),
                    '0' => value.push('\0'),
                    '\n' => {}
                    'x' | 'u' => {
                        let from = i + 2;
                        let (digits, length) = if rest[from..].starts_with('{') {
                            let end = rest[from..].find('}').unwrap_or(1);
                            (rest.get(from + 1..from + end), end + 1)
                        } else {
                            let length = if escaped == 'x' { 2 } else { 4 };
                            (rest.get(from..from + length), length)
                        };
                        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                        let Some(c) = code.and_then(char::from_u32) else {
                            let place = text.place(at + i, at + i + 2);
                            return Err(Fault::Faulty(
                                place,
                                "an escape that means no character".to_owned(),
                            ));
                        };
                        value.push(c);
                        while chars.peek().is_some_and(|(at, _)| *at < from + length) {
                            chars.next();
                        }
                    }
                    other => value.push(other),
                }
            }
            c => value.push(c),
        }
    }
    Err(Fault::Faulty(text.place(at, at + 1), "a text is not closed".to_owned()))
}
