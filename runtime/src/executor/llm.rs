//! `llm`: a model call whose answer is an action or a value of the declared type.

use super::Understood;
use crate::ladder::{self, Unusable};
use crate::oracle::Question;
use chartc_core::machine::Outcome;

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let reading = ladder::value(text, &question.schema)?;
    Ok(Understood {
        outcome: Outcome::Done(vec![reading.meant]),
        rung: reading.rung,
        repairs: reading.repairs,
    })
}

pub(super) fn again(why: &str, question: &Question) -> String {
    let wanted = if question.schema.is_empty() {
        "a JSON object {\"reasoning\": \"…\", \"action\": \"…\"}".to_owned()
    } else {
        format!("JSON that fits this schema: {}", question.schema)
    };
    format!("Your last answer could not be used: {why}. Answer with nothing but {wanted}")
}
