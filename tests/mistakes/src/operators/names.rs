//! Names in the wrong place, and names with slips of the fingers.

use crate::edit::Edit;
use crate::text::{Notation, Text, words_in};
use std::collections::BTreeSet;
use std::ops::Range;

/// Places where a target is named, with the name.
fn targets(text: &Text<'_>) -> Vec<Range<usize>> {
    let after: &[&str] = match text.notation {
        Notation::Chart => &["-> "],
        Notation::Yaml => &["transition_to: ", "to: ", "in_state: ", "from: "],
    };
    let mut found: BTreeSet<(usize, usize)> = BTreeSet::new();
    for mark in after {
        for (at, _) in text.code.match_indices(mark) {
            if text.code[..at].ends_with("initial_") || text.code[..at].ends_with(") ") {
                continue;
            }
            let start = at + mark.len();
            let name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let end = text.code[start..].find(|c| !name(c)).map_or(text.code.len(), |e| start + e);
            if end > start && text.code.as_bytes()[start].is_ascii_lowercase() {
                found.insert((start, end));
            }
        }
    }
    found.into_iter().map(|(start, end)| start..end).collect()
}

/// The same line with the target of another one.
pub(super) fn retargeted(text: &Text<'_>) -> Vec<Edit> {
    let places = targets(text);
    let names: BTreeSet<&str> = places.iter().map(|p| &text.all[p.clone()]).collect();
    let mut found = Vec::new();
    for place in &places {
        let own = &text.all[place.clone()];
        let next = text.code.as_bytes().get(place.end);
        for name in names.iter().filter(|n| **n != own && next != Some(&b'(')) {
            found.push(Edit::replace(place.clone(), *name));
        }
    }
    found
}

pub(super) fn started(text: &Text<'_>) -> Vec<Edit> {
    let mark = match text.notation {
        Notation::Chart => "initial ",
        Notation::Yaml => "initial_state: ",
    };
    let names: BTreeSet<&str> = targets(text).into_iter().map(|p| &text.all[p]).collect();
    let mut found = Vec::new();
    for (at, _) in text.code.match_indices(mark) {
        let start = at + mark.len();
        let Some(word) = words_in(&text.code, start..text.code.len()).into_iter().next() else {
            continue;
        };
        let own = &text.all[word.clone()];
        found.extend(names.iter().filter(|n| **n != own).map(|n| Edit::replace(word.clone(), *n)));
    }
    found
}

/// Words of the notation itself.
const OWN: &[&str] = &[
    "allow",
    "after",
    "always",
    "and",
    "any",
    "ask",
    "at",
    "before",
    "call",
    "calls",
    "cancel",
    "chart",
    "check",
    "client",
    "code",
    "component",
    "default",
    "deep",
    "defaults",
    "description",
    "do",
    "done",
    "each",
    "else",
    "enabled",
    "end",
    "ends",
    "enter",
    "enum",
    "error",
    "event",
    "except",
    "exit",
    "fail",
    "fallback",
    "false",
    "final",
    "fn",
    "for",
    "from",
    "history",
    "human",
    "if",
    "import",
    "in",
    "initial",
    "input",
    "into",
    "limits",
    "llm",
    "log",
    "may",
    "model",
    "none",
    "None",
    "not",
    "on",
    "or",
    "parallel",
    "param",
    "per",
    "pred",
    "prompt",
    "raise",
    "reenter",
    "retry",
    "returns",
    "run",
    "send",
    "skip",
    "start",
    "state",
    "stay",
    "test",
    "then",
    "timeout",
    "to",
    "tool",
    "tools",
    "trace",
    "true",
    "True",
    "False",
    "turn",
    "turns",
    "type",
    "var",
    "warn",
    "when",
    "with",
    "as",
    "doubt",
    "advice",
    "workflow",
    "steps",
    "name",
    "states",
    "transitions",
    "id",
    "ok",
    "llm_model",
];

/// A name that occurs more than once, at one of its later places, without one of its letters.
pub(super) fn misspelt(text: &Text<'_>) -> Vec<Edit> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for word in text.words() {
        let name = &text.code[word.clone()];
        let is_key = text.notation == Notation::Yaml && text.code[word.end..].starts_with(':');
        if name.len() < 4 || OWN.contains(&name) || is_key || seen.insert(name) {
            continue;
        }
        let declares = text.code[..word.start].ends_with("- name: ");
        if !declares {
            let slip = format!("{}{}", &name[..name.len() - 2], &name[name.len() - 1..]);
            found.push(Edit::replace(word, slip));
        }
    }
    found
}
