//! `human`: a question to a person, whose answer is a text unless the chart declares another type.

use super::Understood;
use crate::answer::{self, Rung, Unusable};
use crate::oracle::Question;
use chartc_core::expr::Value;
use chartc_core::machine::Outcome;

/// What people write for a Bool.
const WORDS: [(&str, bool); 4] = [("yes", true), ("y", true), ("no", false), ("n", false)];

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let said = text.trim();
    let whole = |value| {
        let outcome = Outcome::Done(vec![value]);
        Ok(Understood { outcome, rung: Rung::Whole, repairs: Vec::new() })
    };
    if question.schema.is_empty() {
        return whole(Value::Text(said.to_owned()));
    }
    if question.schema == r#"{"type":"boolean"}"#
        && let Some((_, yes)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said))
    {
        return whole(Value::Bool(*yes));
    }
    let reading = answer::value(said, &question.schema).map_err(|why| {
        let why = if wanted(question) == question.schema {
            why.why
        } else {
            format!("the answer is {}", wanted(question))
        };
        Unusable { ambiguous: false, why }
    })?;
    let outcome = Outcome::Done(vec![reading.meant]);
    Ok(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

/// The form of the answer, in words where there are any; empty where any text will do.
pub fn wanted(question: &Question) -> String {
    match question.schema.as_str() {
        r#"{"type":"boolean"}"# => "yes or no".to_owned(),
        r#"{"type":"integer"}"# => "a whole number".to_owned(),
        r#"{"type":"number"}"# => "a number".to_owned(),
        schema => schema.to_owned(),
    }
}

pub(super) fn again(why: &str) -> String {
    format!("That could not be used: {why}.")
}
