//! The keywords and functions of the language, from the pages beside this file.

use std::sync::LazyLock;

/// A keyword or function of the language.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The keyword or the name of the function.
    pub name: &'static str,
    /// Its meaning, as Markdown.
    pub text: &'static str,
    /// An example; empty if the text contains one.
    pub example: &'static str,
}

/// The keywords of `.chart` files.
pub static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("words.md")));

/// The built-in functions and observables.
pub static FUNCTIONS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("functions.md")));

/// The entry of a keyword.
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
