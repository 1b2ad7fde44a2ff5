//! Computes what can be written at an offset: keys, words, names of states.

use super::Format;
use super::hover::of_key;
use super::place::{YamlPosition, spot};
use super::tree::{Entry, YamlNode, read};
use crate::keys::{Case, Key, Mapping, Names, Shape};
use std::ops::Range;

/// The completions at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The range of the word at the cursor, which an item replaces.
    pub replace: Range<usize>,
    /// The items, the best first.
    pub items: Vec<CompletionItem>,
}

/// An item that can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    /// The label that is shown.
    pub label: String,
    /// The kind of the item.
    pub kind: ItemKind,
    /// Documentation as Markdown; may be empty.
    pub doc: String,
    /// The snippet to insert: `$1` and `${1:name}` are placeholders. Lines after the first are indented relative to it.
    pub insert: String,
    /// Whether the mapping is incomplete without this key.
    pub is_required: bool,
    /// Whether a newer form has replaced it.
    pub is_old: bool,
}

/// The kind of a [`CompletionItem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// A key of the mapping.
    Key,
    /// A word that is a possible value.
    Word,
    /// The name of a state or an answer.
    Name,
    /// A snippet of several lines.
    Snippet,
}

/// A private-use character that stands for the word being written, so that the text has a word there in any case.
const MARK: &str = "\u{f8ff}";

/// Snippets for steps of each type.
const STEPS: [(&str, &str); 3] = [
    (
        "a step that asks the model",
        "name: ${1:name}\ntype: llm\nin_state: ${2:state}\nprompt: |\n  ${3:prompt}",
    ),
    ("a step of code", "name: ${1:name}\ntype: code\ncode: |\n  ${2:code}"),
    (
        "a step that chooses where to go",
        "name: ${1:name}\ntype: transition\nin_state: ${2:state}\nprompt: |\n  ${3:prompt}\ntransition_map:\n  ${4:answer}: ${5:state}",
    ),
];

/// The answers of the record of an agent, for a step whose call fails.
const RECORD: [(&str, &str); 3] = [
    ("continue", "The answer of the record where the call fails and nothing else holds."),
    (
        "pivot",
        "The answer of the record where the call fails and the last three actions were on one artifact.",
    ),
    ("ship", "The answer of the record where the call fails after successes without failures."),
];

/// Computes the completions at an offset of a text that may be broken.
pub fn complete(format: Format, text: &str, offset: usize) -> Completion {
    let replace = word(text, offset);
    let (before, behind) = (&text[..replace.start], &text[replace.end..]);
    let marked = [before, MARK, behind].concat();
    let tree = read(&marked);
    let items = match spot(&tree, format.table(), &marked, replace.start) {
        Some(YamlPosition::Key { table, entries, at, is_flow, instead, word }) if word == MARK => {
            let has_colon = entries.iter().any(|entry| entry.at == at && entry.has_colon);
            let others: Vec<&Entry> = entries.iter().filter(|entry| entry.at != at).collect();
            let form = match (has_colon, is_flow) {
                (true, _) => Form::Bare,
                (false, true) => Form::Flow,
                (false, false) => Form::Block,
            };
            let mut items = keys(table, &others, form);
            if let Some(shapes) = instead {
                items.extend(values(shapes, &tree));
            }
            items
        }
        Some(YamlPosition::Name { key, around, there, .. }) => names(key, around, there),
        Some(YamlPosition::Value { shapes, word, .. }) if word == MARK => values(shapes, &tree),
        Some(YamlPosition::Key { .. } | YamlPosition::Value { .. }) => Vec::new(),
        // The file is empty.
        None if before.trim().is_empty() && behind.trim().is_empty() => {
            keys(format.table(), &[], Form::Block)
        }
        None => Vec::new(),
    };
    Completion { replace, items }
}

/// The form in which a key is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The name alone, because a colon follows already.
    Bare,
    /// In a mapping in braces.
    Flow,
    /// On a line of its own.
    Block,
}

/// The range of the word around an offset.
fn word(text: &str, offset: usize) -> Range<usize> {
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..offset].trim_end_matches(|c: char| is_inner(c) || c == '-');
    // The `-` of a list item is not part of the word.
    let start = offset - text[before.len()..offset].trim_start_matches('-').len();
    let behind = text[offset..].trim_start_matches(is_inner);
    start..text.len() - behind.len()
}

/// The keys that a mapping may have in addition to `others`. Required ones come first, old forms last.
fn keys(table: &'static Mapping, others: &[&Entry], form: Form) -> Vec<CompletionItem> {
    let case = case(table, others);
    let there = |key: &str| others.iter().any(|entry| entry.key == key);
    let needs = case.map(|case| case.needs).unwrap_or_default();
    let lacks = !needs.iter().any(|need| there(need.key));
    let ignores = case.map(|case| case.ignores).unwrap_or_default();
    let left = table
        .keys
        .iter()
        .filter(|key| !key.is_prefix() && !there(key.name) && !ignores.contains(&key.name));
    let mut items: Vec<(u8, CompletionItem)> = left
        .map(|key| {
            let nth = needs.iter().position(|need| need.key == key.name);
            let rank = match (key.is_required, nth) {
                (true, _) => 0,
                (false, Some(0)) if lacks => 1,
                (false, Some(_)) if lacks => 2,
                (false, _) if key.instead.is_some() => 4,
                (false, _) => 3,
            };
            let item = CompletionItem {
                label: key.name.to_owned(),
                kind: ItemKind::Key,
                doc: of_key(key),
                insert: opened(key, form),
                is_required: key.is_required,
                is_old: key.instead.is_some(),
            };
            (rank, item)
        })
        .collect();
    items.sort_by_key(|(rank, _)| *rank);
    let mut items: Vec<CompletionItem> = items.into_iter().map(|(_, item)| item).collect();
    if table.name == "step" && others.is_empty() && form == Form::Block {
        items.extend(STEPS.map(|(label, insert)| CompletionItem {
            label: label.to_owned(),
            kind: ItemKind::Snippet,
            doc: String::new(),
            insert: insert.to_owned(),
            is_required: false,
            is_old: false,
        }));
    }
    items
}

/// A key as a snippet, with the beginning of its value.
fn opened(key: &'static Key, form: Form) -> String {
    let name = key.name;
    let first = key.shape.alternatives().first();
    let is_map = matches!(first, Some(Shape::Mapping(_) | Shape::ByName { .. }));
    let items =
        first.and_then(|shape| if let Shape::List { of, .. } = shape { Some(of) } else { None });
    match form {
        Form::Bare => name.to_owned(),
        Form::Flow if is_map => format!("{name}: {{$1\\}}"),
        Form::Flow if items.is_some() => format!("{name}: [$1]"),
        Form::Block if is_map => format!("{name}:\n  "),
        Form::Block if items.is_some_and(|of| of.mapping().is_some()) => format!("{name}:\n  - "),
        Form::Block if items.is_some() => format!("{name}: [$1]"),
        Form::Block if matches!(name, "prompt" | "code" | "prompt_fragment") => {
            format!("{name}: |\n  ")
        }
        Form::Flow | Form::Block => format!("{name}: "),
    }
}

/// The case of the table that applies to a mapping with these entries, if its keys depend on a value.
fn case(table: &'static Mapping, entries: &[&Entry]) -> Option<&'static Case> {
    let key = table.cases.first()?.key;
    let value = entries.iter().find(|entry| entry.key == key)?;
    table.case(value.value.text())
}

/// The possible values of these shapes.
fn values(shapes: &'static [Shape], tree: &YamlNode) -> Vec<CompletionItem> {
    let mut items = Vec::new();
    for shape in shapes {
        match shape {
            Shape::Words(words) => {
                let item = |word: &crate::keys::Word| plain(word.word, ItemKind::Word, word.doc);
                items.extend(words.iter().map(item));
            }
            Shape::Flag | Shape::Switch => {
                items.extend(["true", "false"].map(|word| plain(word, ItemKind::Word, "")));
            }
            Shape::Name(Names::State) => items.extend(states(tree)),
            Shape::Name(Names::StateOrAll) => {
                items.extend(states(tree));
                items.push(CompletionItem {
                    insert: "\"*\"".into(),
                    ..plain("*", ItemKind::Word, "Every state.")
                });
            }
            _ => {}
        }
    }
    // Where only a list is expected, offer a list with each possible first item.
    let of = shapes
        .iter()
        .find_map(|shape| if let Shape::List { of, .. } = shape { Some(of) } else { None });
    if items.is_empty()
        && let Some(of) = of
    {
        for item in values(of.alternatives(), tree) {
            items.push(CompletionItem { insert: format!("[{}$0]", item.insert), ..item });
        }
    }
    items
}

pub(super) fn plain(word: &str, kind: ItemKind, doc: &str) -> CompletionItem {
    let (label, doc) = (word.to_owned(), doc.to_owned());
    let mut insert = String::new();
    for c in word.chars() {
        // These characters have a meaning in snippets.
        if matches!(c, '$' | '}' | '\\') {
            insert.push('\\');
        }
        insert.push(c);
    }
    CompletionItem { label, kind, doc, insert, is_required: false, is_old: false }
}

/// The names of an agent's states.
fn states(tree: &YamlNode) -> Vec<CompletionItem> {
    let machine = tree.get("workflow").and_then(|workflow| workflow.get("state_machine"));
    let list = machine.and_then(|machine| machine.get("states"));
    let names = list.into_iter().flat_map(YamlNode::items).filter_map(YamlNode::text);
    names.filter(|name| !name.contains(MARK)).map(|name| plain(name, ItemKind::Name, "")).collect()
}

/// The answers that a `transition_map` does not have yet: the fallback of its source, and those of the record.
fn names(key: &'static Key, around: &[Entry], there: &[Entry]) -> Vec<CompletionItem> {
    if key.name != "transition_map" {
        return Vec::new();
    }
    let source = around.iter().find(|entry| entry.key == "transition_source");
    let fallback = source.and_then(|entry| entry.value.get("fallback")).and_then(YamlNode::text);
    let decided = "The decision where the source fails.";
    let all = fallback.map(|name| (name, decided)).into_iter().chain(RECORD);
    let mut items: Vec<CompletionItem> = Vec::new();
    for (name, doc) in all {
        let is_there = there.iter().any(|entry| entry.key == name);
        if !is_there && items.iter().all(|item| item.label != name) {
            items.push(plain(name, ItemKind::Name, doc));
        }
    }
    items
}
