//! What a model's words mean. One ladder for all oracles:
//!
//! 1. the whole answer is the JSON or the bare name that was asked for;
//! 2. reasoning taken out, then the same, then one JSON value in prose, read tolerantly;
//! 3. the only option that the prose mentions, unless anything in it negates or doubts.
//!
//! Exactly one thing may be meant. Two, or a negation, is no answer: the machine asks again, and in the end does what the chart
//! declares. Nothing is guessed.

mod clean;
mod json;
mod option;
mod prose;
mod turns;
mod value;

pub use option::{calls, option};
pub use value::value;

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

/// What was meant, and what it took to see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    /// The meaning.
    pub meant: T,
    /// How far down the ladder.
    pub rung: Rung,
    /// What was overlooked or put right, in the order it happened.
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
