//! Reads the texts of models and people: the same rules for all oracles.
//!
//! The problem: models rarely answer in exactly the form that was asked for, and a wrong guess moves the chart. The idea: three rungs,
//! from strict to tolerant, and no guesses:
//!
//! 1. `whole`: the text is the JSON or the name that was asked for;
//! 2. `cleaned`: it is, after reasoning, tags, wrappers and prose are removed and JSON is repaired;
//! 3. `mention`: its prose chooses one option, name or number, in a sentence that does nothing but choose.
//!
//! The value is then converted to the wanted type. The answer must have a single meaning: if it names two options, negates or doubts, it
//! is unusable, and the machine asks again. With the options `close` and `stay`:
//!
//! ```text
//! answer             <think>They are happy.</think> I would go with `close`.
//! clean              "I would go with `close`."        repair: "reasoning removed"
//! JSON, name         there is no JSON, and the text is not the name of an option
//! claim              `i would go with` are words of a choosing sentence, and `close` is the only candidate → `close`, rung `mention`
//!
//! answer             close, but maybe later            `but` may take the choice back → unusable
//! ```

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

/// The maximum length of an answer, in bytes (1 MiB). A longer answer is unusable.
pub const MAX_BYTES: usize = 1 << 20;

/// How far the text of an answer had to be searched for its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// The text is exactly what the question asks for, perhaps within a code fence.
    Whole,
    /// The meaning was found after reasoning, tags or prose were removed, or JSON was repaired.
    Cleaned,
    /// The prose chooses one option, name or number, and does nothing but choose it.
    Mention,
}

impl Rung {
    /// The name of the rung in the trace.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cleaned => "cleaned",
            Self::Mention => "mention",
        }
    }
}

/// The meaning of an answer, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    /// The meaning.
    pub meant: T,
    /// How far the text had to be searched.
    pub rung: Rung,
    /// The repairs of the text, in the order in which they were made.
    pub repairs: Vec<String>,
}

/// The reason why an answer has no single meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Whether the answer may mean several things. If not, it means nothing.
    pub ambiguous: bool,
    /// The reason, for the trace and for the prompt that asks again.
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

/// Refuses answers that are empty or longer than [`MAX_BYTES`].
fn bounded(text: &str) -> Result<&str, Unusable> {
    if text.len() > MAX_BYTES {
        return Err(Unusable::none("the answer is longer than a mebibyte"));
    }
    if text.trim().is_empty() {
        return Err(Unusable::none("the answer is empty"));
    }
    Ok(text)
}
