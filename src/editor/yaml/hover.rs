//! Describes the keys and words of YAML files.

use super::Format;
use super::place::{YamlPosition, spot};
use super::tree::read;
use crate::keys::{Key, Shape};
use std::ops::Range;

/// The description of a key or a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The range of the key or word, in bytes.
    pub at: Range<usize>,
    /// The description, as Markdown.
    pub text: String,
}

/// Describes the key or word at an offset; `None` if there is neither.
pub fn hover(format: Format, text: &str, offset: usize) -> Option<Hover> {
    let tree = read(text);
    match spot(&tree, format.table(), text, offset)? {
        YamlPosition::Key { table, word, at, .. } => {
            Some(Hover { at, text: of_key(table.key(word)?) })
        }
        YamlPosition::Value { shapes, word, at } => {
            let word = shapes.iter().find_map(|shape| {
                let Shape::Words(words) = shape else { return None };
                words.iter().find(|known| known.word == word)
            })?;
            Some(Hover { at, text: format!("`{}`: {}", word.word, word.doc) })
        }
        YamlPosition::Name { .. } => None,
    }
}

/// Describes a key, its default, and the words that its value may be.
pub(super) fn of_key(key: &Key) -> String {
    let mut text = format!("`{}`: {}", key.name, key.doc);
    if let Some(default) = key.default {
        text.push_str(&format!("\n\nDefault: `{default}`"));
    }
    if let Some(instead) = key.instead {
        text.push_str(&format!("\n\nAn older form: write `{instead}`."));
    }
    if let Shape::Words(words) = &key.shape {
        text.push('\n');
        for word in *words {
            text.push_str(&format!("\n- `{}`: {}", word.word, word.doc));
        }
    }
    text
}
