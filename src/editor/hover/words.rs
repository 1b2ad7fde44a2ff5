//! The words and functions of the language, from the pages beside this file.

use std::sync::LazyLock;

/// A word of the language.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
    /// How it is used; empty for what the text shows already.
    pub example: &'static str,
}

/// The words of `.chart` files.
pub static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("words.md")));

/// The functions of the language, and what a run knows of itself.
pub static FUNCTIONS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("functions.md")));

/// The entry of a word.
pub fn word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

fn read(markdown: &'static str) -> Vec<Word> {
    markdown.split("\n## ").skip(1).map(entry).collect()
}

fn entry(text: &'static str) -> Word {
    let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (text, example) = rest.split_once("```chart\n").unwrap_or((rest, ""));
    let example = example.split_once("```").map_or(example, |(example, _)| example);
    Word { name: name.trim(), text: text.trim(), example: example.trim_end() }
}
