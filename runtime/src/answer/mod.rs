//! What the words of a model or a person mean, for all oracles in the same way:
//!
//! 1. the answer is the JSON or the name that was asked for;
//! 2. it is that once reasoning, fences, wrappers and prose are taken away and JSON is repaired;
//! 3. its prose chooses one option, name or number, in a sentence that does nothing but choose.
//!
//! What was read is then made to fit the type that is wanted. Exactly one thing may be meant: two, a negation or a doubt is no answer, and
//! the machine asks again. Nothing is guessed.

mod action;
mod claim;
mod clean;
mod fit;
mod found;
mod json;
mod lines;
mod option;
mod tokens;
mod value;
mod words;
mod written;

pub use option::{calls, option};
pub use value::{cut_text, value};

/// Longer answers are not read.
pub const MAX_BYTES: usize = 1 << 20;

/// How far an answer had to be searched for its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// It was exactly what was asked for.
    Whole,
    /// It was found after reasoning, fences or prose were taken away, or JSON was repaired.
    Cleaned,
    /// It is the one option that the prose mentions.
    Mention,
}

impl Rung {
    /// In one word, for the trace.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cleaned => "cleaned",
            Self::Mention => "mention",
        }
    }
}

/// What was meant, and how it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    /// The meaning.
    pub meant: T,
    /// How far the answer had to be searched.
    pub rung: Rung,
    /// What was left out or put right, in the order it happened.
    pub repairs: Vec<String>,
}

/// No one thing is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Several things may be meant, rather than none.
    pub ambiguous: bool,
    /// For the trace and for the re-ask.
    pub why: String,
}

impl Unusable {
    fn none(why: impl Into<String>) -> Self {
        Self { ambiguous: false, why: why.into() }
    }

    fn ambiguous(why: impl Into<String>) -> Self {
        Self { ambiguous: true, why: why.into() }
    }
}

/// Answers that are longer than any model's are not read at all.
fn bounded(text: &str) -> Result<&str, Unusable> {
    if text.len() > MAX_BYTES {
        return Err(Unusable::none("the answer is longer than a mebibyte"));
    }
    if text.trim().is_empty() {
        return Err(Unusable::none("the answer is empty"));
    }
    Ok(text)
}
