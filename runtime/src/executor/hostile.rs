//! Answers that nobody means: random bytes, and rows of the table with something done to them. Nothing panics, and huge ones end.

use super::outcome;
use super::table::{question, rows};
use crate::answer::{calls, cut_text};

/// What is put into answers.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ":",
    ",",
    "\\",
    "\\u",
    "\\ud83d",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "<|channel|>final<|message|>",
    "\\boxed{",
    "not ",
    "no ",
    " or ",
    "1,000",
    "-",
    "é",
    "\u{200b}",
    "\u{1f600}",
    "\u{0}",
    "\n",
    "\n- ",
    "1. ",
    "(",
    ")",
    "=",
    "value",
    "choice",
    "n't",
    "’",
    "−5",
    ".8",
    "e.g. ",
];
/// Questions of each kind.
const QUESTIONS: &[&str] = &[
    "opt", "many", "kind", "bool", "int", "float", "text", "texts", "kinds", "grade", "full",
    "act", "pbool", "pint", "ptexts",
];

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % most.max(1)
    }
}

fn read(text: &str) {
    for name in QUESTIONS {
        let _ = outcome(&question(name), text);
    }
    let _ = (calls(text), cut_text(text));
}

#[test]
fn random_bytes_are_read_without_a_panic() {
    let mut dice = Dice(39);
    for _ in 0..1500 {
        let bytes: Vec<u8> = (0..dice.below(60)).map(|_| dice.below(256) as u8).collect();
        read(&String::from_utf8_lossy(&bytes));
        let pieces: Vec<&str> =
            (0..dice.below(14)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        read(&pieces.concat());
    }
}

#[test]
fn rows_with_something_done_to_them_are_read_without_a_panic() {
    let mut dice = Dice(7);
    for row in rows() {
        for _ in 0..3 {
            let mut text: Vec<char> = row.text.chars().collect();
            let at = dice.below(text.len() + 1);
            match dice.below(4) {
                0 => text.truncate(at),
                1 => drop(text.drain(..at)),
                2 => drop(text.splice(at..at, PIECES[dice.below(PIECES.len())].chars())),
                _ => text.extend(row.text.chars()),
            }
            read(&text.into_iter().collect::<String>());
        }
    }
}

#[test]
fn huge_answers_are_read_to_their_end() {
    let counted = |text: fn(usize) -> String| (0..20_000).map(text).collect::<String>();
    let mut texts = vec![
        counted(|nth| format!("{nth} ")),
        counted(|nth| format!("key {nth}: value\n")),
        counted(|nth| format!("- item {nth}\n")),
    ];
    let units = [
        "ship ",
        "not ",
        "not ship, ",
        "rather than ship ",
        "1 ",
        "- a\n",
        "a, ",
        "a: b\n",
        "{\"a\":\"x\" ",
        "{",
        "[",
        "<answer>",
        "\\boxed{",
        "yes. ",
        "it is (",
        "e.g. ",
        "```",
        "good enough ",
    ];
    texts.extend(units.map(|unit| unit.repeat(200_000 / unit.len())));
    for text in texts {
        for name in ["many", "kind", "bool", "int", "text", "texts", "grade", "act"] {
            let _ = outcome(&question(name), &text);
        }
    }
}
