//! Conditions and values.

use crate::edit::Edit;
use crate::text::{Notation, Text};
use std::ops::Range;

/// The byte ranges of conditions.
fn conditions(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for line in &text.lines {
        let code = &text.code[line.clone()];
        let trimmed = code.trim_start();
        let at = |word: &str| code.find(word).map(|i| i + word.len());
        let start = match text.notation {
            Notation::Chart if trimmed.starts_with("when ") => at("when "),
            Notation::Chart if trimmed.starts_with("pred ") => at(" = "),
            Notation::Chart if trimmed.starts_with("param ") => None,
            Notation::Chart => at(" if "),
            Notation::Yaml => at("condition: ").or_else(|| at("run_if: ")),
        };
        let Some(start) = start else { continue };
        let rest = &code[start..];
        let ends: &[&str] = match text.notation {
            Notation::Chart => &[" -> ", " {", "\n"],
            Notation::Yaml => &["}", "\n"],
        };
        let end = ends.iter().filter_map(|e| rest.find(e)).min().unwrap_or(rest.len());
        if !rest[..end].trim().is_empty() && !rest[..end].contains(" then ") {
            found.push(line.start + start..line.start + start + rest[..end].trim_end().len());
        }
    }
    found
}

/// Conditions, and in an agent the code that computes what they read.
fn decisions(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut all = conditions(text);
    for (i, line) in text.lines.iter().enumerate() {
        let code = text.line(i);
        let compares = [" >= ", " <= ", " < ", " > ", " == ", " != ", " and ", " or "];
        if code.contains(" = ") && compares.iter().any(|c| code.contains(c)) {
            let start = line.start + text.code[line.clone()].find(" = ").unwrap_or(0) + 3;
            let end = line.start + text.code[line.clone()].trim_end().len();
            if start < end && !all.iter().any(|r| r.start < end && start < r.end) {
                all.push(start..end);
            }
        }
    }
    all.sort_by_key(|r| r.start);
    all
}

/// Numbers in a range, with their places.
fn numbers(code: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let bytes = code.as_bytes();
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let start = at;
        while at < range.end && part(bytes[at]) {
            at += 1;
        }
        if code[start..at].parse::<f64>().is_ok() {
            found.push(start..at);
        }
        at = at.max(start + 1);
    }
    found
}

pub(super) fn constant(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for range in decisions(text) {
        for number in numbers(&text.code, range) {
            let old = &text.code[number.clone()];
            let new: Vec<String> = if let Ok(n) = old.parse::<i64>() {
                vec![(n + 1).to_string(), (n * 10 + 1).to_string(), "0".into()]
            } else {
                let n: f64 = old.parse().unwrap_or(0.0);
                vec![format!("{:?}", n * 10.0), format!("{:?}", n / 2.0)]
            };
            found.extend(
                new.into_iter().filter(|n| n != old).map(|n| Edit::replace(number.clone(), n)),
            );
        }
    }
    found
}

const SWAPS: &[(&str, &[&str])] = &[
    (" >= ", &[" < ", " > "]),
    (" <= ", &[" > ", " < "]),
    (" < ", &[" >= ", " <= "]),
    (" > ", &[" <= ", " >= "]),
    (" == ", &[" != "]),
    (" != ", &[" == "]),
    (" and ", &[" or "]),
    (" or ", &[" and "]),
];

pub(super) fn operator(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for range in decisions(text) {
        for (old, all) in SWAPS {
            for (at, _) in text.code[range.clone()].match_indices(old) {
                let place = range.start + at..range.start + at + old.len();
                found.extend(all.iter().map(|new| Edit::replace(place.clone(), *new)));
            }
        }
    }
    found
}

pub(super) fn negated(text: &Text<'_>) -> Vec<Edit> {
    let turned = |r: Range<usize>| Edit::replace(r.clone(), format!("not ({})", &text.all[r]));
    conditions(text).into_iter().map(turned).collect()
}

pub(super) fn dropped(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for range in conditions(text) {
        let before = &text.code[..range.start];
        let word = [" if ", ", condition: "].into_iter().find(|w| before.ends_with(w));
        if let Some(word) = word {
            found.push(Edit::remove(range.start - word.len()..range.end));
        } else if before.ends_with("run_if: ") {
            let line = text.lines.iter().find(|l| l.contains(&range.start));
            found.extend(line.map(|l| Edit::remove(l.clone())));
        }
    }
    found
}

/// A number where a text is wanted, or a text where a number is.
pub(super) fn mistyped(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for (i, line) in text.lines.iter().enumerate() {
        let code = text.line(i);
        if !code.contains(" = ") && !code.contains(" if ") && !code.starts_with("when ") {
            continue;
        }
        if code.starts_with("type ") || code.starts_with("tool ") {
            continue;
        }
        for number in numbers(&text.code, line.clone()) {
            let unit = text.code.as_bytes().get(number.end).is_some_and(u8::is_ascii_alphabetic);
            if !unit {
                found.push(Edit::replace(number.clone(), format!("\"{}\"", &text.all[number])));
            }
        }
    }
    found
}
