//! Finds what an offset of a file is in: a key of a mapping or a value, according to the table of the format.

use super::tree::{Entry, YamlKind, YamlNode};
use crate::keys::{Key, Mapping, Shape};
use std::ops::Range;

/// The part of a file at an offset.
#[derive(Debug)]
pub(super) enum YamlPosition<'n> {
    /// A key, or a word that may become one.
    Key {
        table: &'static Mapping,
        /// All entries of the mapping, including the one at the offset.
        entries: &'n [Entry],
        word: &'n str,
        at: Range<usize>,
        /// Whether the mapping is in braces.
        is_flow: bool,
        /// The shapes of values that may stand here instead, if the mapping has not been begun yet.
        instead: Option<&'static [Shape]>,
    },
    /// A name that is a key in a mapping of names.
    Name { key: &'static Key, around: &'n [Entry], there: &'n [Entry] },
    /// A value, or the beginning of one, that must have one of these shapes.
    Value { shapes: &'static [Shape], word: &'n str, at: Range<usize> },
}

/// Finds the part at an offset of a file with this table.
pub(super) fn spot<'n>(
    node: &'n YamlNode,
    table: &'static Mapping,
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    if node.kind == YamlKind::Nothing {
        return None;
    }
    mapping(node, table, text, offset)
}

/// Searches a mapping with this table, or a text that may become one.
fn mapping<'n>(
    node: &'n YamlNode,
    table: &'static Mapping,
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    match &node.kind {
        YamlKind::Map(entries) => {
            let entry = entries.iter().find(|entry| holds(entry, offset))?;
            if touches(&entry.at, offset) {
                let (word, at) = (entry.key.as_str(), entry.at.clone());
                let is_flow = text.get(node.span.start..).is_some_and(|rest| rest.starts_with('{'));
                return Some(YamlPosition::Key {
                    table,
                    entries,
                    word,
                    at,
                    is_flow,
                    instead: None,
                });
            }
            value(&entry.value, table.key(&entry.key)?, entries, text, offset)
        }
        YamlKind::Scalar(word) if touches(&node.span, offset) => {
            let at = node.span.clone();
            Some(YamlPosition::Key { table, entries: &[], word, at, is_flow: false, instead: None })
        }
        _ => None,
    }
}

/// Searches the value of `key`. `around` has the entries of the mapping that contains the key.
fn value<'n>(
    node: &'n YamlNode,
    key: &'static Key,
    around: &'n [Entry],
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    let shapes = key.shape.alternatives();
    if let YamlKind::Map(entries) = &node.kind {
        for shape in shapes {
            if let Shape::Mapping(table) = shape {
                return mapping(node, table, text, offset);
            }
            if let Shape::ByName { of, .. } = shape {
                let entry = entries.iter().find(|entry| holds(entry, offset))?;
                if touches(&entry.at, offset) {
                    return Some(YamlPosition::Name { key, around, there: entries });
                }
                return item(&entry.value, of.alternatives(), text, offset);
            }
        }
        return None;
    }
    item(node, shapes, text, offset)
}

/// Searches a value of one of these shapes.
fn item<'n>(
    node: &'n YamlNode,
    shapes: &'static [Shape],
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    match &node.kind {
        YamlKind::Map(_) => {
            let table = shapes.iter().find_map(Shape::mapping)?;
            mapping(node, table, text, offset)
        }
        YamlKind::List(items) => {
            let of = shapes.iter().find_map(|shape| {
                if let Shape::List { of, .. } = shape { Some(*of) } else { None }
            })?;
            let found = items.iter().find(|item| touches(&item.span, offset))?;
            item(found, of.alternatives(), text, offset)
        }
        YamlKind::Scalar(word) if touches(&node.span, offset) => {
            let at = node.span.clone();
            if let Some(table) = shapes.iter().find_map(Shape::mapping)
                && begins_line(text, at.start)
            {
                let instead = Some(shapes);
                return Some(YamlPosition::Key {
                    table,
                    entries: &[],
                    word,
                    at,
                    is_flow: false,
                    instead,
                });
            }
            Some(YamlPosition::Value { shapes, word, at })
        }
        YamlKind::Scalar(_) | YamlKind::Nothing | YamlKind::Block => None,
    }
}

fn holds(entry: &Entry, offset: usize) -> bool {
    touches(&entry.at, offset) || touches(&entry.value.span, offset)
}

fn touches(span: &Range<usize>, offset: usize) -> bool {
    span.start <= offset && offset <= span.end
}

/// Whether only blanks and `-` precede the offset in its line.
fn begins_line(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().all(|c| matches!(c, ' ' | '\t' | '-'))
}
