//! Prompts and other texts.

use crate::edit::Edit;
use crate::text::{Notation, Text};
use std::ops::Range;

/// Placeholders: the range inside of the braces.
fn placeholders(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for range in &text.texts {
        let bytes = text.all.as_bytes();
        let mut at = range.start;
        while at < range.end {
            let doubled = |b: u8| bytes[at] == b && bytes.get(at + 1) == Some(&b);
            if doubled(b'{') || doubled(b'}') {
                at += 2;
            } else if bytes[at] == b'{' {
                let Some(end) = text.all[at..range.end].find('}') else { break };
                found.push(at + 1..at + end);
                at += end + 1;
            } else {
                at += 1;
            }
        }
    }
    found
}

pub(super) fn placeholder(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for hole in placeholders(text) {
        let inside = &text.all[hole.clone()];
        let letters = |c: char| c.is_alphanumeric() || c == '_';
        let len = inside.find(|c| !letters(c)).unwrap_or(inside.len());
        if len >= 3 && !matches!(&inside[..len], "str" | "len" | "round") {
            let name = &inside[..len];
            let slip = format!("{}{}", &name[..len - 2], &name[len - 1..]);
            found.push(Edit::replace(hole.start..hole.start + len, slip));
        }
    }
    found
}

pub(super) fn format(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for hole in placeholders(text) {
        let inside = &text.all[hole.clone()];
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        match inside.split_once(':') {
            Some((name, _)) if name.chars().all(plain) => {
                let spec = hole.start + name.len() + 1..hole.end;
                for wrong in [".q", ".0", "%.2f", "dd"] {
                    found.push(Edit::replace(spec.clone(), wrong));
                }
            }
            None if inside.chars().all(plain) => {
                found.push(Edit::replace(hole.end..hole.end, ":%d"));
            }
            _ => {}
        }
    }
    found
}

/// One brace of a pair is gone.
pub(super) fn brace(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for hole in placeholders(text) {
        found.push(Edit::remove(hole.start - 1..hole.start));
        found.push(Edit::remove(hole.end..hole.end + 1));
    }
    for range in &text.texts {
        for pair in ["{{", "}}"] {
            let places = text.all[range.clone()].match_indices(pair);
            found.extend(places.map(|(i, _)| Edit::remove(range.start + i..range.start + i + 1)));
        }
    }
    found
}

/// The list of options of a prompt, or the line of it that names one.
pub(super) fn unoffered(text: &Text<'_>) -> Vec<Edit> {
    if text.notation == Notation::Chart {
        return placeholders(text)
            .into_iter()
            .filter(|hole| &text.all[hole.clone()] == "options")
            .map(|hole| {
                let line = text.lines.iter().find(|l| l.contains(&hole.start)).cloned();
                let alone = line.filter(|l| text.all[l.clone()].trim() == "{options}");
                Edit::remove(alone.unwrap_or(hole.start - 1..hole.end + 1))
            })
            .collect();
    }
    let keys: Vec<&str> = options(text).into_iter().map(|(_, key)| key).collect();
    let mut found = Vec::new();
    for range in &text.texts {
        let mut at = range.start;
        for line in text.all[range.clone()].split_inclusive('\n') {
            let word = line.trim_start().trim_start_matches("- ");
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
            if keys.contains(&&word[..end]) {
                found.push(Edit::remove(at..at + line.len()));
            }
            at += line.len();
        }
    }
    found
}

/// The lines of `transition_map` with their keys.
pub(super) fn options<'t>(text: &'t Text<'_>) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut map: Option<usize> = None;
    for i in 0..text.lines.len() {
        let line = text.line(i);
        if line == "transition_map:" {
            map = Some(text.indent(i));
        } else if let Some(indent) = map {
            match line.split_once(':') {
                Some((key, _)) if text.indent(i) > indent => found.push((i, key.trim_matches('"'))),
                _ => map = None,
            }
        }
    }
    found
}
