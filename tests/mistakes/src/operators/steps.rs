//! Steps and what comes of them.

use super::texts::options;
use crate::edit::Edit;
use crate::text::{Notation, Text};
use std::ops::Range;

pub(super) fn without_else(text: &Text<'_>) -> Vec<Edit> {
    match text.notation {
        Notation::Chart => text
            .lines
            .iter()
            .filter_map(|line| {
                let code = &text.code[line.clone()];
                if !code.trim_start().starts_with("ask ") {
                    return None;
                }
                let start = code.find(" else ")?;
                let end = start
                    + code[start..].find([' ', '\n']).map(|_| {
                        code[start..].find(" {").unwrap_or(code[start..].trim_end().len())
                    })?;
                Some(Edit::remove(line.start + start..line.start + end))
            })
            .collect(),
        Notation::Yaml => Vec::new(),
    }
}

/// A `done` line, or the arrow behind a step; the move of an agent's step.
pub(super) fn without_outcome(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for (i, line) in text.lines.iter().enumerate() {
        let code = text.line(i);
        match text.notation {
            Notation::Chart if code.starts_with("done ") && text.is_whole(i) => {
                found.push(Edit::remove(line.clone()));
            }
            Notation::Chart if code.starts_with("} -> ") => {
                let start = line.start + text.indent(i) + 1;
                found.push(Edit::remove(
                    start..line.start + text.code[line.clone()].trim_end().len(),
                ));
            }
            Notation::Yaml if code.starts_with("transition_to:") => {
                found.push(Edit::remove(line.clone()));
            }
            Notation::Chart | Notation::Yaml => {}
        }
    }
    found
}

/// A `may` line, or an answer of `transition_map`.
pub(super) fn without_option(text: &Text<'_>) -> Vec<Edit> {
    match text.notation {
        Notation::Chart => (0..text.lines.len())
            .filter(|i| text.line(*i).starts_with("may ") && text.is_whole(*i))
            .map(|i| Edit::remove(text.lines[i].clone()))
            .collect(),
        Notation::Yaml => {
            options(text).into_iter().map(|(i, _)| Edit::remove(text.lines[i].clone())).collect()
        }
    }
}

/// A step behind the next one; in a chart also in another state.
pub(super) fn moved(text: &Text<'_>) -> Vec<Edit> {
    let steps = blocks(text);
    let mut found = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        for (j, other) in steps.iter().enumerate() {
            if i != j {
                let to = if i < j { other.end } else { other.start };
                if to != step.start && to != step.end {
                    found.push(Edit::shift(text.all, step.clone(), to));
                }
            }
        }
    }
    found
}

/// The byte ranges of steps: whole lines.
fn blocks(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < text.lines.len() {
        let line = text.line(i);
        let indent = text.indent(i);
        let starts = match text.notation {
            Notation::Chart => {
                let words = ["llm ", "ask ", "code ", "call ", "human "];
                words.iter().any(|w| line.starts_with(w))
            }
            Notation::Yaml => line.starts_with("- name: "),
        };
        if !starts {
            i += 1;
            continue;
        }
        let mut end = i + 1;
        if text.notation == Notation::Yaml {
            let inside = |j: usize| {
                text.all[text.lines[j].clone()].trim().is_empty()
                    || text.indent(j) > indent
                    || text.line(j).is_empty()
            };
            while end < text.lines.len() && inside(end) {
                end += 1;
            }
        } else if !text.is_whole(i) {
            let closes = |j: usize| text.indent(j) == indent && text.line(j).starts_with('}');
            while end < text.lines.len() && !closes(end) {
                end += 1;
            }
            end = (end + 1).min(text.lines.len());
        }
        found.push(text.lines[i].start..text.lines[end - 1].end);
        i = end;
    }
    found
}
