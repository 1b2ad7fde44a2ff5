//! Whole lines.

use crate::edit::Edit;
use crate::text::{Notation, Text};

/// The words that a line which does something begins with.
const BEHAVIOUR: &[&str] =
    &["on ", "when ", "after ", "each after ", "may ", "done ", "error ", "timeout "];
const DECLARATIONS: &[&str] = &[
    "var ", "param ", "input ", "event ", "fn ", "do ", "tool ", "tools ", "pred ", "type ",
    "enum ", "client ",
];

fn begins(line: &str, with: &[&str]) -> bool {
    with.iter().any(|w| line.starts_with(w))
}

/// Whether a line moves the agent, as a whole: a line of a state, a row of the table, a key of a step.
fn moves(text: &Text<'_>, i: usize) -> bool {
    let line = text.line(i);
    match text.notation {
        Notation::Chart => text.is_whole(i) && begins(line, BEHAVIOUR),
        Notation::Yaml => {
            text.is_whole(i)
                && (line.starts_with("- {from")
                    || begins(line, &["transition_to:", "in_state:", "run_if:"]))
        }
    }
}

pub(super) fn deleted(text: &Text<'_>) -> Vec<Edit> {
    (0..text.lines.len())
        .filter(|i| moves(text, *i))
        .map(|i| Edit::remove(text.lines[i].clone()))
        .collect()
}

pub(super) fn duplicated(text: &Text<'_>) -> Vec<Edit> {
    let twice = |i: usize| {
        let line = text.lines[i].clone();
        Edit::replace(line.end..line.end, &text.all[line])
    };
    (0..text.lines.len()).filter(|i| moves(text, *i)).map(twice).collect()
}

/// Two lines of one block.
pub(super) fn swapped(text: &Text<'_>) -> Vec<Edit> {
    let kind = |i: usize| match text.notation {
        Notation::Chart => moves(text, i) || is_assignment(text, i),
        Notation::Yaml => is_assignment(text, i) || text.line(i).starts_with("- {from"),
    };
    (1..text.lines.len())
        .filter(|i| kind(*i - 1) && kind(*i) && text.indent(*i - 1) == text.indent(*i))
        .map(|i| {
            let (first, second) = (text.lines[i - 1].clone(), text.lines[i].clone());
            let turned = format!("{}{}", &text.all[second.clone()], &text.all[first.clone()]);
            Edit::replace(first.start..second.end, turned)
        })
        .collect()
}

pub(super) fn undeclared(text: &Text<'_>) -> Vec<Edit> {
    match text.notation {
        Notation::Chart => (0..text.lines.len())
            .filter(|i| text.is_whole(*i) && begins(text.line(*i), DECLARATIONS))
            .map(|i| Edit::remove(text.lines[i].clone()))
            .collect(),
        // What an agent declares are its states.
        Notation::Yaml => (0..text.lines.len()).flat_map(|i| states(text, i)).collect(),
    }
}

/// Takes one state out of the list.
fn states(text: &Text<'_>, i: usize) -> Vec<Edit> {
    let line = text.lines[i].clone();
    let code = &text.code[line.clone()];
    if let Some(open) = code.find("states: [") {
        let from = line.start + open + "states: [".len();
        let Some(end) = text.code[from..line.end].find(']').map(|e| from + e) else {
            return Vec::new();
        };
        let names: Vec<&str> = text.code[from..end].split(", ").collect();
        return (0..names.len())
            .map(|n| {
                let mut left = names.clone();
                left.remove(n);
                Edit::replace(from..end, left.join(", "))
            })
            .collect();
    }
    let in_list =
        (0..i).rev().take_while(|j| text.line(*j).starts_with("- ") || text.line(*j) == "states:");
    if text.line(i).starts_with("- ") && in_list.last().is_some_and(|j| text.line(j) == "states:") {
        return vec![Edit::remove(line)];
    }
    Vec::new()
}

/// A row of the transition table.
pub(super) fn unpermitted(text: &Text<'_>) -> Vec<Edit> {
    let is_row = |i: &usize| match text.notation {
        Notation::Chart => text.line(*i).starts_with("allow ") && text.is_whole(*i),
        Notation::Yaml => text.line(*i).starts_with("- {from") && text.is_whole(*i),
    };
    (0..text.lines.len()).filter(is_row).map(|i| Edit::remove(text.lines[i].clone())).collect()
}

/// Whether a line is one assignment.
fn is_assignment(text: &Text<'_>, i: usize) -> bool {
    let line = text.line(i);
    let Some((name, value)) = line.split_once(" = ") else { return false };
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    plain && !value.is_empty() && !value.contains(" = ") && text.is_whole(i)
}

/// An assignment: a line of code, or one of a block that stands on one line.
pub(super) fn unassigned(text: &Text<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for i in 0..text.lines.len() {
        let line = text.lines[i].clone();
        if is_assignment(text, i) {
            found.push(Edit::remove(line.clone()));
        } else if text.notation == Notation::Chart && text.is_whole(i) {
            let code = &text.code[line.clone()];
            let (Some(open), Some(close)) = (code.rfind("{ "), code.rfind('}')) else { continue };
            let inside = line.start + open + 1..line.start + close;
            if open < close
                && text.code[inside.clone()].contains(" = ")
                && !begins(text.line(i), DECLARATIONS)
            {
                found.push(Edit::replace(inside, " "));
            }
        }
    }
    found
}
